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

// Delegable returns the scopes that agents and third-party apps may have.
func Delegable() []Scope { return []Scope{Read, Publish} }

// ScopeStrings returns the wire form of scopes.
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
	FromAgent bool  // minted for an unclaimed agent registration
	// Registration is the agent registration for which the key was minted; empty: none.
	Registration id.Registration
	// Term is the term of the delegation under which the key acts; empty: none.
	Term id.Term
	// Member made the key in the dashboard or by the CLI's login; empty: no member did.
	Member id.Member
	// CLIGrant is how Member was signed in. A sign-out everywhere that ends it ends the key too.
	CLIGrant   CLIGrant
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	RevokedAt  time.Time // zero: live
	LastUsedAt time.Time // zero: never; at most limits.TouchEvery behind
}

// CLIGrant is how the member who makes API keys is signed in. Its zero value means unknown, as for keys that are older
// than the field.
type CLIGrant struct {
	Grant id.Public // the grant of the CLI, whose end ends its API keys; empty: a browser or another client
	At    time.Time // when the member signed in or let the client in
}

// Has reports whether the key holds a scope.
func (k Key) Has(s Scope) bool { return slices.Contains(k.Scopes, s) }

// Live reports whether the key may be used at now. w is its workspace as it is now.
func (k Key) Live(now time.Time, w workspace.Workspace) bool {
	return !k.Over(now, w) && k.Epoch == w.Epoch
}

// Over reports whether the key has ended for good. w is its workspace as it is now. Unlike Live it ignores the epoch.
func (k Key) Over(now time.Time, w workspace.Workspace) bool {
	return !k.endedAt(w).IsZero() || k.Term != "" && w.Ended(k.Term) || !k.ExpiresAt.IsZero() && !now.Before(k.ExpiresAt)
}

// Counts reports whether the key counts against limits.LiveKeys of its workspace while it lives. Keys of agents do not,
// because they have a limit of their own and end within the hour.
func (k Key) Counts() bool { return k.Member != "" }

// endedAt returns when the key was revoked or its member signed out everywhere; zero: neither. A key is as old as the
// sign-in that made it, so that a key that is being created while the member signs out ends as well.
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
