// Package ephemeral makes workspaces for agents that have no account.
package ephemeral

import (
	"context"
	"regexp"
	"strings"
	"sync"
	"time"

	"vitrine/shared/entry/claim"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/pow"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

// Store is the storage that Provisioner uses.
type Store interface {
	// Quota reads how many workspaces may be made in a minute. It fails with ephemeral_provision_unavailable for a
	// missing quota, because a quota that was never set allows no workspace. Provisioner refuses one out of range.
	Quota(ctx context.Context) (Quota, error)
	// Provision commits workspace, key, claim token and event in one transaction.
	Provision(ctx context.Context, p Provision) error
}

// Counters counts new workspaces.
type Counters interface {
	rate.Counters
	// CountOf returns how many workspaces were counted in a window. An eventually consistent read is enough.
	CountOf(ctx context.Context, w rate.Window) (int, error)
}

// Quota is the provision quota, which operators change at run time.
type Quota struct {
	PerMinute  int       // from LeastQuota to MostQuota
	ValidUntil time.Time // zero: for good
}

// Provision is everything that provisioning writes.
type Provision struct {
	Workspace workspace.Workspace
	Key       credential.Key
	Claim     claim.Token
	Event     event.Event
}

// Provisioner makes ephemeral workspaces.
type Provisioner struct {
	Store       Store
	Limiter     *rate.Limiter
	Counters    Counters
	Limits      *limits.Limits
	Pow         *pow.Service
	Peppers     keyring.Derived
	Environment credential.Environment
	// AccountsOnly makes Admit refuse everybody, because nobody publishes without an account. Workspaces that exist stay
	// as they are.
	AccountsOnly bool
	// App is the origin of the app, where people sign in.
	App string
	Now func() time.Time

	mu      sync.Mutex
	quota   Quota
	quotaAt time.Time
}

// Provision makes a workspace with a key and a claim token. Their secrets are in its answer only. A claim code
// attributes the workspace to a campaign; any other value is ignored. Refusals are, in this order, pow_required,
// pow_invalid and those of the quota.
func (p *Provisioner) Provision(ctx context.Context, a Admission, r contract.ProvisionRequest, requestID string) (contract.Provisioned, error) {
	now := p.Now()
	if err := p.work(ctx, a, r); err != nil {
		return contract.Provisioned{}, err
	}
	if err := p.pass(ctx, now); err != nil {
		return contract.Provisioned{}, err
	}
	ws := id.NewWorkspace()
	key := credential.Mint(credential.APIKey, p.Environment, ws, "")
	token := credential.Mint(credential.ClaimToken, p.Environment, ws, codeOf(r.ClaimCode))
	made := Provision{
		Workspace: workspace.Workspace{
			ID:        ws,
			Name:      workspace.EphemeralName,
			Plan:      workspace.FreePlan,
			CreatedAt: now,
		},
		Key: credential.Key{
			ID:        id.NewKey(key.Public),
			Public:    key.Public,
			Workspace: ws,
			Hash:      key.Hash(p.Peppers),
			Name:      workspace.EphemeralKeyName,
			Scopes:    []credential.Scope{credential.Publish, credential.Read},
			CreatedAt: now,
			ExpiresAt: now.Add(limits.EphemeralKey),
		},
		Claim: claim.Token{
			ID:        id.NewClaimToken(),
			Public:    token.Public,
			Workspace: ws,
			Hash:      token.Hash(p.Peppers),
			ClaimCode: token.ClaimCode,
			CreatedAt: now,
			ExpiresAt: now.Add(limits.ClaimTokenLife),
		},
		Event: event.Event{
			ID:        id.NewEvent(),
			Workspace: ws,
			At:        now,
			Action:    event.WorkspaceProvisioned,
			Actor:     event.BySystem(),
			Target:    event.Target{Type: event.OnWorkspace, ID: string(ws)},
			RequestID: requestID,
		},
	}
	if err := p.Store.Provision(ctx, made); err != nil {
		return contract.Provisioned{}, err
	}
	return contract.Provisioned{
		APIKeySecret: key.Reveal(),
		ClaimToken:   token.Reveal(),
		WorkspaceID:  ws,
		APIKeyID:     made.Key.ID,
		ClaimTokenID: made.Claim.ID,
	}, nil
}

var claimCodes = regexp.MustCompile(`^clm_[0-9A-HJKMNP-TV-Z]{26}$`)

func codeOf(v any) string {
	s, _ := v.(string)
	if s = strings.TrimSpace(s); claimCodes.MatchString(s) {
		return s
	}
	return ""
}
