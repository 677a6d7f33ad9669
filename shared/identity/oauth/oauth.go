// Package oauth is the authorization server for people: who may act in a member's name, by which grant, and until when.
//
// One stored Grant stands for one approval. Its access and refresh tokens carry the grant's public id, so that one write
// ends them all, and rotation and reuse are decided on one item.
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

// The first-party clients. They are public, may redirect to any loopback port, and act on the api in the member's name.
const (
	CLI       id.Client = "cli"
	Dashboard id.Client = "dashboard"
)

// Client is an OAuth client.
type Client struct {
	ID         id.Client
	Name       string
	Redirects  []string // exact, but loopback ones at any port
	FirstParty bool
	CreatedAt  time.Time
	UsedAt     time.Time // when it got tokens, at most a day behind; zero: never
}

// until is when a client that registered itself is gone unless it is used.
func (c Client) until() time.Time {
	if c.UsedAt.IsZero() {
		return c.CreatedAt.Add(limits.NewClientLife)
	}
	return c.UsedAt.Add(limits.UnusedClientLife)
}

// Grant is what a member allowed a client.
type Grant struct {
	Public    id.Public
	Client    id.Client
	Name      string // of the client, at the time
	Member    id.Member
	Workspace id.Workspace
	Audience  string // where its access tokens are accepted: the api's or the MCP host's origin
	Scopes    []credential.Scope
	Epoch     int64 // of the workspace when it was made
	// Operator is when the identity provider vouched for the member as an operator, before they agreed; zero: it did not.
	Operator time.Time
	// ChainKeyID is the key that each refresh token and its access token are derived with from the refresh token before.
	ChainKeyID byte
	CreatedAt  time.Time // when the member agreed
	ExpiresAt  time.Time // whatever happens
	RevokedAt  time.Time // zero: live

	Access     []AccessToken   // live access tokens, oldest first; two at most
	Refresh    credential.Hash // the newest refresh token; its zero value: none was issued
	Previous   credential.Hash // the one before
	Generation int             // how often the refresh token was replaced
	RotatedAt  time.Time       // when Previous was replaced
	IdleAt     time.Time       // when the newest refresh token ends unless it is used
}

// Live tells whether tokens of the grant may be used: m is its member and w their workspace as they are now.
func (g Grant) Live(now time.Time, w workspace.Workspace, m member.Member) bool {
	return g.RevokedAt.IsZero() && now.Before(g.ExpiresAt) && w.ID == g.Workspace && w.Open() && w.Epoch == g.Epoch &&
		m.ID == g.Member && m.Live(g.CreatedAt)
}

// Rights are what tokens of the grant may do today in the name of m, its member. A host that serves clients which the
// member need not trust in full is delegated: there a token may do no more than what was granted.
func (g Grant) Rights(m member.Member, delegated bool) []credential.Scope {
	if !delegated {
		return m.Scopes
	}
	return slices.DeleteFunc(slices.Clone(m.Scopes), func(s credential.Scope) bool { return !slices.Contains(g.Scopes, s) })
}

// Holds tells whether t is a live access token of the grant; whether the grant lives is another question.
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

// Consent is what a person sees before they allow a client.
type Consent struct {
	Client       Client
	RedirectHost string
	Loopback     bool // every redirect of the client goes to the person's own machine
	Scopes       []credential.Scope
	Audience     string
	ExpiresAt    time.Time
}

// Device is what a person sees before they allow a device.
type Device struct {
	Client    Client
	Name      string // what the device calls itself, its host name as a rule
	Network   string // address prefix of where it asked from
	CreatedAt time.Time
	ExpiresAt time.Time
}
