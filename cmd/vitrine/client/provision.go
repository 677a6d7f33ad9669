package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/pow"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// maxWorkRounds is how often the client solves a new challenge after its proof of work was refused.
const maxWorkRounds = 2

const provisionPath = "/v1/ephemeral/provision"

// solved is the provisioning request with the solution of the server's challenge. It returns the challenge byte for
// byte, because the server has signed those bytes.
type solved struct {
	Challenge json.RawMessage `json:"challenge"`
	Solution  pow.Solution    `json:"solution"`
}

// Provision creates an ephemeral workspace, with a proof of work if the server asks for one.
func (d *Deployment) Provision(ctx context.Context) (contract.Provisioned, Key, error) {
	var out contract.Provisioned
	var err error
	for range maxWorkRounds {
		if out, err = d.provision(ctx); !failure.IsCode(err, fault.PowInvalid) && !failure.IsCode(err, fault.PowRequired) {
			break
		}
	}
	if err != nil {
		return out, Key{}, err
	}
	key, err := ParseKey(out.APIKeySecret)
	if err != nil || !claimTokenForm.MatchString(out.ClaimToken) {
		return out, Key{}, d.caller.badResponse(d.Hosts.APIURL, "the credentials of the new workspace are malformed")
	}
	return out, key, nil
}

func (d *Deployment) provision(ctx context.Context) (out contract.Provisioned, err error) {
	k := call{
		method: http.MethodPost,
		host:   d.Hosts.APIURL,
		path:   provisionPath,
		body:   struct{}{},
	}
	err = d.caller.do(ctx, k, &out)
	if r, ok := errors.AsType[*refusal](err); ok && r.Code == fault.PowRequired {
		if k.body, err = d.work(ctx, r); err == nil {
			err = d.caller.do(ctx, k, &out)
		}
	}
	return out, err
}

// work solves the challenge of a refusal.
func (d *Deployment) work(ctx context.Context, r *refusal) (any, error) {
	var asked struct {
		Challenge json.RawMessage `json:"challenge"`
	}
	var c pow.Challenge
	if json.Unmarshal(r.body, &asked) != nil || json.Unmarshal(asked.Challenge, &c) != nil || c.Nonce == "" {
		return nil, r // a refusal without a challenge
	}
	var s pow.Solution
	note := fmt.Sprintf("The server is busy and asks for a proof of work (%d bits); computing it", c.Difficulty)
	err := d.caller.notice(note, func() (err error) {
		s, err = pow.Solve(ctx, c)
		return err
	})
	if err == nil {
		return solved{asked.Challenge, s}, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	f := failure.New(failure.Auth, fault.PowRequired, "%v", err).
		Advise(
			"Run the command again in a few minutes, when the server is less busy; check that the clock of this machine " +
				"is right.")
	f.RequestID = r.RequestID
	return nil, f
}

// notice runs work, and shows a note if that takes long.
func (c *Caller) notice(note string, work func() error) error {
	lasts := time.AfterFunc(noteAfter, func() { c.Note("%s", note) })
	defer lasts.Stop()
	return work()
}
