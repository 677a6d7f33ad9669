package credential

import (
	"context"
	"slices"
	"time"

	"vitrine/shared/event"
	"vitrine/shared/fault"
	"vitrine/shared/id"
	"vitrine/shared/workspace"
)

// Scope is a right that a credential holds.
type Scope string

// The scopes.
const (
	Publish Scope = "publish"
	Read    Scope = "read"
	Admin   Scope = "admin"
)

// Words are scopes on the wire.
func Words(scopes []Scope) []string {
	out := make([]string, len(scopes))
	for i, s := range scopes {
		out[i] = string(s)
	}
	return out
}

// Key is a stored API key.
type Key struct {
	ID        id.Key
	Public    id.Public
	Workspace id.Workspace
	Hash      Hash
	Name      string
	Scopes    []Scope
	Epoch     int64 // of the workspace when the key was made
	FromAgent bool  // minted for an agent registration that nobody has claimed
	// Registration is the agent's that the key was minted for; empty: none.
	Registration id.Registration
	// Member made the key in the dashboard or by the CLI's login; empty: nobody did.
	Member id.Member
	// Login is the login of the CLI that the key belongs to, and ends with.
	Login      Login
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	RevokedAt  time.Time // zero: live
	LastUsedAt time.Time // zero: never; at most limits.TouchEvery behind
}

// Login is a grant of the CLI, by which it makes API keys. Its zero value: none.
type Login struct {
	Grant id.Public
	At    time.Time // when the member agreed
}

// Has tells whether the key holds a scope.
func (k Key) Has(s Scope) bool { return slices.Contains(k.Scopes, s) }

// Live tells whether the key may be used at an instant; w is its workspace as it is now.
func (k Key) Live(now time.Time, w workspace.Workspace) bool {
	return k.endedAt(w).IsZero() && (k.ExpiresAt.IsZero() || now.Before(k.ExpiresAt)) && k.Epoch == w.Epoch
}

// endedAt is when the key was revoked, or its login ended with all others; zero: neither.
func (k Key) endedAt(w workspace.Workspace) time.Time {
	if k.RevokedAt.IsZero() && !k.Login.At.IsZero() && !k.Login.At.After(w.LoginsEndedAt) {
		return w.LoginsEndedAt
	}
	return k.RevokedAt
}

// Revocations is what Revoker needs of the store.
type Revocations interface {
	// RevokeKey stamps a live key as revoked and records the event in one transaction; a key that is revoked already
	// keeps its first stamp, which is returned.
	RevokeKey(ctx context.Context, k Key, at time.Time, e event.Event) (time.Time, error)
}

// Revoker ends API keys.
type Revoker struct {
	Store Revocations
	Now   func() time.Time
}

// Revoke ends a key, at its own request, from this commit on and returns it with the time of its revocation.
func (r *Revoker) Revoke(ctx context.Context, k Key, requestID string) (Key, error) {
	now := r.Now()
	at, err := r.Store.RevokeKey(ctx, k, now, event.Event{
		ID: id.NewEvent(), Workspace: k.Workspace, At: now, Action: event.KeyRevoked,
		Actor: event.ByKey(k.ID), Target: event.Target{Type: event.OnKey, ID: string(k.ID)}, RequestID: requestID,
	})
	if err != nil {
		return Key{}, err
	}
	if at.IsZero() {
		return Key{}, fault.Bare(fault.NotAuthenticated)
	}
	k.RevokedAt = at
	return k, nil
}
