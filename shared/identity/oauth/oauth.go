// Package oauth is the authorization server for people's clients and decides who may act in a member's name.
//
// One stored Grant stands for one approval. Its access and refresh tokens carry the grant's public id, so that one
// write ends them all and one item decides rotation and reuse.
package oauth

import (
	"slices"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
)

// The first-party clients. They are public and may redirect to any loopback port. CLI and Dashboard act on the api in
// the member's name. Helper forwards the messages of agents to the MCP host, with no more rights than their own clients
// would have there.
const (
	CLI       id.Client = "cli"
	Dashboard id.Client = "dashboard"
	Helper    id.Client = "helper"
)

// Client is an OAuth client.
type Client struct {
	ID         id.Client
	Name       string
	Redirects  []string // matched exactly, but loopback URIs at any port
	FirstParty bool
	Delegated  bool      // a first-party client that gets tokens as third-party clients do; not stored
	CreatedAt  time.Time // when it registered, or when its metadata document was read
	UsedAt     time.Time // when it last got tokens, at most a day old; zero: never, or it has a metadata document

	FreshUntil time.Time // when its metadata document has to be read again; zero: it registered itself
	Unusable   string    // why its metadata document describes no client; empty: it describes one
}

// actsAsMember reports whether the client acts on the api with all rights of the member.
func (c Client) actsAsMember() bool { return c.FirstParty && !c.Delegated }

// until returns when the client expires. A client that registered itself expires unless it is used, one with a metadata
// document unless the document is read again.
func (c Client) until() time.Time {
	switch {
	case !c.FreshUntil.IsZero():
		return c.CreatedAt.Add(limits.MaxDocumentLife)
	case c.UsedAt.IsZero():
		return c.CreatedAt.Add(limits.NewClientLife)
	}
	return c.UsedAt.Add(limits.UnusedClientLife)
}

// Grant is the access that a member allowed a client.
type Grant struct {
	Public    id.Public
	Client    id.Client
	Name      string // of the client, at the time
	Member    id.Member
	Workspace id.Workspace
	Audience  string // where its access tokens are accepted: the origin of the api or of the MCP host
	Scopes    []credential.Scope
	Epoch     int64 // of the workspace when the grant was made
	// Operator is when the identity provider authenticated the member as an operator before they consented; zero: it did
	// not.
	Operator time.Time
	// AuthenticatedAt is when the identity provider authenticated the member before they consented; zero: not known.
	AuthenticatedAt time.Time
	// ChainKeyID is the key that derives each refresh token and its access token from the previous refresh token.
	ChainKeyID byte
	CreatedAt  time.Time // when the member consented
	ExpiresAt  time.Time // the latest expiry, even if the grant is used
	RevokedAt  time.Time // zero: not revoked

	Access     []AccessToken   // live access tokens, oldest first; at most two
	Refresh    credential.Hash // the newest refresh token; its zero value: none was issued
	Previous   credential.Hash // the previous refresh token
	Generation int             // how often the refresh token was replaced
	RotatedAt  time.Time       // when Refresh replaced Previous
	IdleAt     time.Time       // when the newest refresh token expires unless it is used
}

// Live reports whether tokens of the grant may be used. m is its member and w their workspace as they are now.
func (g Grant) Live(now time.Time, w workspace.Workspace, m member.Member) bool {
	return g.RevokedAt.IsZero() && now.Before(g.ExpiresAt) && w.ID == g.Workspace && w.Open() && w.Epoch == g.Epoch &&
		m.ID == g.Member && m.Live(g.CreatedAt)
}

// issuable reports whether the grant may get tokens. A client that acts as the member gets them even in a workspace that
// is being deleted, so that the member can cancel the deletion. Other routes refuse those tokens there.
func (g Grant) issuable(now time.Time, w workspace.Workspace, m member.Member) bool {
	if firstParty[g.Client].actsAsMember() {
		w = w.Kept()
	}
	return g.Live(now, w, m)
}

// Rights returns the scopes that tokens of the grant have now in the name of m, its member. delegated is set for
// clients that the member need not fully trust. Their tokens have only scopes that were granted and that the member
// still has.
func (g Grant) Rights(m member.Member, delegated bool) []credential.Scope {
	if !delegated {
		return m.Scopes
	}
	return slices.DeleteFunc(slices.Clone(m.Scopes), func(s credential.Scope) bool {
		return !slices.Contains(g.Scopes, s)
	})
}

// Holds reports whether t is a live access token of the grant. It does not check whether the grant is live.
func (g Grant) Holds(t credential.Token, peppers keyring.Derived, now time.Time) bool {
	return slices.ContainsFunc(g.Access, func(i AccessToken) bool {
		return t.Kind == credential.AccessToken && now.Before(i.ExpiresAt) && t.Matches(i.Hash, peppers)
	})
}

// AccessToken is an access token of a grant.
type AccessToken struct {
	Hash      credential.Hash
	ExpiresAt time.Time
}

// Consent is what the consent page shows.
type Consent struct {
	Client       Client
	RedirectHost string
	Loopback     bool // the answer goes to a program on the person's own machine
	Scopes       []credential.Scope
	Audience     string
	ExpiresAt    time.Time
}

// Device is what the page that approves a device shows.
type Device struct {
	Client    Client
	Name      string // the name that the device gives itself, usually its host name
	Network   string // address prefix of the device
	CreatedAt time.Time
	ExpiresAt time.Time
}
