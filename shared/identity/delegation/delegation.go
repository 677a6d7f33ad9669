// Package delegation records for which persons an identity provider may let agents in, and in which workspace.
//
// A delegation belongs to a person as one provider identifies them. It ends when its member disconnects it, when the
// provider says so, or when the epoch of its workspace is raised. Credentials name the term of their delegation. The
// workspace, which every request reads, lists the terms that ended lately.
package delegation

import (
	"errors"
	"strings"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
)

// Principal is a person as a provider identifies them to an audience.
type Principal struct {
	Issuer   string
	Subject  string
	Audience string
}

// ID returns the id of the principal's delegation.
func (p Principal) ID() id.Delegation { return id.DelegationOf(p.Issuer, p.Subject, p.Audience) }

// Host returns the host of the issuer.
func (p Principal) Host() string {
	_, host, found := strings.Cut(p.Issuer, "://")
	if !found {
		host = p.Issuer
	}
	host, _, _ = strings.Cut(host, "/")
	return host
}

// Delegation lets the agents of a principal into a workspace.
type Delegation struct {
	Principal  Principal
	Generation int64 // raised when the delegation is made and when it ends
	Workspace  id.Workspace
	Member     id.Member
	Epoch      int64  // of the workspace; another epoch ends the delegation
	Provider   string // the provider's name for people
	Email      string // address of the principal in the newest assertion
	Scopes     []credential.Scope
	CreatedAt  time.Time
	SeenAt     time.Time // when the newest assertion came
	EndedAt    time.Time // zero: it has not ended
	RevokedAt  time.Time // iat of the newest event that ended it; assertions issued by then have no effect
}

// ID returns the id of the delegation.
func (d Delegation) ID() id.Delegation { return d.Principal.ID() }

// Term returns the current term.
func (d Delegation) Term() id.Term { return d.ID().Term(d.Generation) }

// Live reports whether agents may act under the delegation. w is its workspace as it is now.
func (d Delegation) Live(w workspace.Workspace) bool {
	return d.EndedAt.IsZero() && d.Workspace == w.ID && d.Epoch == w.Epoch
}

// Host returns the host of the issuer.
func (d Delegation) Host() string { return d.Principal.Host() }

// Ended returns the delegation as it is once it has ended.
func (d Delegation) Ended(at time.Time) Delegation {
	d.Generation++
	d.EndedAt = at
	return d
}

// Proof identifies a provider's token, so that the token has an effect only once.
type Proof struct {
	Kind     Kind
	Issuer   string
	ID       string    // jti
	Digest   [32]byte  // of the whole token
	IssuedAt time.Time // iat
	Until    time.Time // how long the token is remembered
}

// Kind separates the ids of tokens, so that a token of one kind cannot use up an id of another.
type Kind string

// The kinds of tokens.
const (
	Assertion Kind = "idjag"
	Event     Kind = "set"
)

// Errors of stores.
var (
	// ErrChanged reports that the delegation, or what it depends on, was changed since it was read.
	ErrChanged = errors.New("the delegation has changed meanwhile")
	// ErrReplayed reports that another token with the same id was used.
	ErrReplayed = errors.New("another token with this id was used before")
	// ErrRepeated reports that the same token was used before.
	ErrRepeated = errors.New("this token was used before")
)
