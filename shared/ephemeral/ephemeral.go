// Package ephemeral makes workspaces for agents that have no account.
package ephemeral

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"time"

	"vitrine/shared/contract"
	"vitrine/shared/credential"
	"vitrine/shared/event"
	"vitrine/shared/fault"
	"vitrine/shared/id"
	"vitrine/shared/keyring"
	"vitrine/shared/limits"
	"vitrine/shared/rate"
	"vitrine/shared/workspace"
)

// Store is what Provisioner needs.
type Store interface {
	// Gate reads how many workspaces may be made in a minute. A missing or malformed setting is
	// ephemeral_provision_unavailable: nobody passes a gate that nobody set.
	Gate(ctx context.Context) (Gate, error)
	// Provision commits workspace, key, claim token and event in one transaction.
	Provision(ctx context.Context, p Provision) error
}

// Gate is the run-time setting of the provision gate.
type Gate struct {
	PerMinute  int       // 1 to 100
	ValidUntil time.Time // zero: for good
}

// Provision is everything that provisioning makes.
type Provision struct {
	Workspace workspace.Workspace
	Key       credential.Key
	Claim     Claim
	Event     event.Event
}

// Claim is a stored claim token.
type Claim struct {
	ID        id.ClaimToken
	Public    id.Public
	Workspace id.Workspace
	Hash      credential.Hash
	ClaimCode string
	CreatedAt time.Time
	ExpiresAt time.Time
}

// Provisioner makes ephemeral workspaces.
type Provisioner struct {
	Store       Store
	Limiter     *rate.Limiter
	Counters    rate.Counters
	Limits      *limits.Limits
	Peppers     keyring.Derived
	Environment credential.Environment
	Now         func() time.Time

	mu     sync.Mutex
	gate   Gate
	gateAt time.Time
}

const (
	gateFresh  = 15 * time.Second // how old a cached gate setting may be
	unknownFor = time.Hour        // what a caller without an address is told to wait
)

// Admit counts a request before its body is read: first everybody together with this address, address refusals last.
// address is the client's, from a source that the client cannot set; the zero value is refused.
func (p *Provisioner) Admit(ctx context.Context, address netip.Addr) error {
	if !address.IsValid() {
		return fault.New(fault.ProvisionUnavailable, "the client's address is unknown").After(unknownFor)
	}
	all := make(chan error, 1)
	go func() { all <- p.Limiter.Provision(ctx) }()
	err := p.Limiter.Address(ctx, p.subject(address))
	if global := <-all; global != nil {
		return global
	}
	return err
}

// subject hides an address: counters must not tell who came. IPv6 clients own whole /64 networks.
func (p *Provisioner) subject(address netip.Addr) string {
	address = address.Unmap()
	if address.Is6() {
		prefix, _ := address.Prefix(64)
		address = prefix.Addr()
	}
	_, key := p.Peppers.Active()
	m := hmac.New(sha256.New, key)
	m.Write([]byte("address\x00" + address.String()))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil)[:12])
}

// Provision makes a workspace with a key and a claim token, whose secrets it answers this once. claimCode is
// attribution; anything that is not one is ignored.
func (p *Provisioner) Provision(ctx context.Context, claimCode any, requestID string) (contract.Provisioned, error) {
	now := p.Now()
	if err := p.pass(ctx, now); err != nil {
		return contract.Provisioned{}, err
	}
	ws := id.NewWorkspace()
	key := credential.Mint(credential.APIKey, p.Environment, ws, "")
	claim := credential.Mint(credential.ClaimToken, p.Environment, ws, codeOf(claimCode))
	made := Provision{
		Workspace: workspace.Workspace{ID: ws, Name: workspace.EphemeralName, Plan: workspace.FreePlan, CreatedAt: now},
		Key: credential.Key{
			ID: id.NewKey(), Public: key.Public, Workspace: ws, Hash: key.Hash(p.Peppers), Name: workspace.EphemeralKeyName,
			Scopes: []credential.Scope{credential.Publish, credential.Read}, CreatedAt: now, ExpiresAt: now.Add(limits.EphemeralKey),
		},
		Claim: Claim{
			ID: id.NewClaimToken(), Public: claim.Public, Workspace: ws, Hash: claim.Hash(p.Peppers), ClaimCode: claim.ClaimCode,
			CreatedAt: now, ExpiresAt: now.Add(limits.ClaimTokenLife),
		},
		Event: event.Event{
			ID: id.NewEvent(), Workspace: ws, At: now, Action: event.WorkspaceProvisioned, Actor: event.BySystem(),
			Target: event.Target{Type: "workspace", ID: string(ws)}, RequestID: requestID,
		},
	}
	if err := p.Store.Provision(ctx, made); err != nil {
		return contract.Provisioned{}, err
	}
	return contract.Provisioned{
		APIKeySecret: key.Reveal(), ClaimToken: claim.Reveal(), WorkspaceID: ws, APIKeyID: made.Key.ID, ClaimTokenID: made.Claim.ID,
	}, nil
}

// pass takes one place of the minute's gate.
func (p *Provisioner) pass(ctx context.Context, now time.Time) error {
	if p.Limits.Off {
		return nil
	}
	gate, err := p.setting(ctx, now)
	if err != nil {
		return fault.Wrap(fault.ProvisionUnavailable, err, "no new workspaces can be made now; try again later").After(time.Minute)
	}
	start := now.Truncate(time.Minute)
	w := rate.Window{Kind: "gate", Subject: "provision", Start: start, End: start.Add(time.Minute)}
	ok, err := p.Counters.Count(ctx, w, gate.PerMinute)
	switch {
	case err != nil:
		return fault.Wrap(fault.ProvisionUnavailable, err, "no new workspaces can be made now; try again later").After(time.Minute)
	case !ok:
		return fault.New(fault.ProvisionRateLimited, "many workspaces are being made; wait as long as Retry-After says").After(w.End.Sub(now))
	}
	return nil
}

func (p *Provisioner) setting(ctx context.Context, now time.Time) (Gate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gateAt.IsZero() || now.Sub(p.gateAt) >= gateFresh {
		gate, err := p.Store.Gate(ctx)
		if err != nil {
			return Gate{}, err
		}
		p.gate, p.gateAt = gate, now
	}
	if g := p.gate; g.PerMinute < 1 || g.PerMinute > 100 || (!g.ValidUntil.IsZero() && !now.Before(g.ValidUntil)) {
		return Gate{}, fault.New(fault.ProvisionUnavailable, "the provision gate is not set")
	}
	return p.gate, nil
}

var claimCodes = regexp.MustCompile(`^clm_[0-9A-HJKMNP-TV-Z]{26}$`)

func codeOf(v any) string {
	s, _ := v.(string)
	if s = strings.TrimSpace(s); claimCodes.MatchString(s) {
		return s
	}
	return ""
}
