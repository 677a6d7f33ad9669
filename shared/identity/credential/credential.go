package credential

import (
	"slices"
	"time"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
)

// Scope is a right that a credential holds.
type Scope string

// The scopes.
const (
	Publish Scope = "publish"
	Read    Scope = "read"
	Admin   Scope = "admin"
)

// Delegable are the scopes that agents and third-party apps may have.
func Delegable() []Scope { return []Scope{Read, Publish} }

// ScopeStrings are scopes on the wire.
func ScopeStrings(scopes []Scope) []string {
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
	FromAgent bool  // minted for an agent registration that is not claimed
	// Registration is the agent's that the key was minted for; empty: none.
	Registration id.Registration
	// Term is that of the delegation that it acts under; empty: none.
	Term id.Term
	// Member made the key in the dashboard or by the CLI's login; empty: no member did.
	Member id.Member
	// CLIGrant is how Member was signed in. The key ends with it when the member signs out everywhere.
	CLIGrant   CLIGrant
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	RevokedAt  time.Time // zero: live
	LastUsedAt time.Time // zero: never; at most limits.TouchEvery behind
}

// CLIGrant is how the member who makes API keys is signed in. Its zero value: unknown, as of keys from before it
// was recorded.
type CLIGrant struct {
	Grant id.Public // of the CLI, which ends with its API keys; empty: of a browser, or of another client
	At    time.Time // when the member signed in, or let the client in
}

// Has reports whether the key holds a scope.
func (k Key) Has(s Scope) bool { return slices.Contains(k.Scopes, s) }

// Live reports whether the key may be used at an instant; w is its workspace as it is now.
func (k Key) Live(now time.Time, w workspace.Workspace) bool {
	return !k.Over(now, w) && k.Epoch == w.Epoch
}

// Over reports whether the key has ended for good; w is its workspace as it is now. It is Live without the epoch.
func (k Key) Over(now time.Time, w workspace.Workspace) bool {
	return !k.endedAt(w).IsZero() || k.Term != "" && w.Ended(k.Term) || !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt)
}

// Counts reports whether the key is one of the limits.LiveKeys of its workspace while it lives. Those of agents are
// limited by themselves, and end within the hour.
func (k Key) Counts() bool { return k.Member != "" }

// endedAt is when the key was revoked, or its member signed out everywhere; zero: neither. A key is as old as the
// sign-in that made it, so that one that is under way while the member signs out ends as well.
func (k Key) endedAt(w workspace.Workspace) time.Time {
	made, out := k.CLIGrant.At, w.LoginsEndedAt
	if made.IsZero() && k.Member != "" {
		made, out = k.CreatedAt, w.KeysEndedAt
	}
	if !k.RevokedAt.IsZero() || made.IsZero() || made.After(out) {
		return k.RevokedAt
	}
	return out
}
