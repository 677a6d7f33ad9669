package oauth

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

// ErrGone says that what a write depends on was used, answered or ended before.
var ErrGone = errors.New("used or ended already")

// GrantStore keeps grants.
type GrantStore interface {
	// Grant reads a grant, strongly; nil if there is none.
	Grant(ctx context.Context, public id.Public) (*Grant, error)
	// AddGrant commits a new grant with its event, unless a grant was made of the same proof before; then ErrGone.
	AddGrant(ctx context.Context, g Grant, p Proof, e event.Event) error
	// Rotate writes the tokens of g if was is still its newest refresh token and it is not revoked. Else it writes nothing
	// and returns the grant as it is now.
	Rotate(ctx context.Context, g Grant, was credential.Hash) (now *Grant, err error)
	// RevokeGrant stamps a live grant, and the API keys that were made by it, as revoked and records the event, in one
	// transaction; one that is revoked already stays as it is.
	RevokeGrant(ctx context.Context, public id.Public, at time.Time, e event.Event) error
	// GrantsOf reads grants of a member that have a refresh token, newest first, and the place of the last one if others
	// follow.
	GrantsOf(ctx context.Context, q GrantQuery) (rows []Grant, next string, err error)
}

// GrantQuery is which grants a list shows.
type GrantQuery struct {
	Workspace id.Workspace
	Member    id.Member
	After     string // a place; empty: from the start
	Limit     int
	Live      func(Grant) bool // tells whether one is listed
}

// Keys ends the access tokens of agents, which are API keys.
type Keys interface {
	// APIKey reads a key, strongly; nil if there is none.
	APIKey(ctx context.Context, public id.Public) (*credential.Key, error)
	credential.Revocations
}

// Members knows members.
type Members interface {
	// Member reads a member with their workspace, strongly; nil for what does not exist.
	Member(ctx context.Context, w id.Workspace, m id.Member) (*member.Member, *workspace.Workspace, error)
}

// Server is the authorization server.
type Server struct {
	GrantStore GrantStore
	Clients    Clients
	Requests   Requests
	Codes      Codes
	Flows      Flows
	Polls      PollStore
	Keys       Keys
	Members    Members
	Failures   rate.FailureCounter
	// Provider vouches for the people behind ID tokens; nil: those are not exchanged.
	Provider  Provider
	Registrar Registrar

	Limiter     *rate.Limiter
	Limits      *limits.Limits
	Peppers     keyring.Derived // hash what is stored
	Chain       keyring.Derived // derive the next refresh token
	Cursors     *cursor.Codec
	Environment credential.Environment
	Origins     address.Origins
	Now         func() time.Time
}

// agreement is what a member agreed to; it becomes a grant once.
type agreement struct {
	client    id.Client
	name      string
	member    id.Member
	workspace id.Workspace
	epoch     int64
	operator  time.Time
	scopes    []credential.Scope
	audience  string
	at        time.Time
}

// grant makes a grant of an agreement with its first access and refresh token, whose answer lacks the scope. The grant
// counts as made when the member agreed, so that signing out everywhere after that ends it.
func (s *Server) grant(a agreement, now time.Time) (Grant, contract.Token) {
	access := credential.Mint(credential.AccessToken, s.Environment, a.workspace, "")
	refresh := credential.MintAs(credential.RefreshToken, s.Environment, a.workspace, access.Public)
	chain, _ := s.Chain.Active()
	g := Grant{
		Public:     access.Public,
		Client:     a.client,
		Name:       a.name,
		Member:     a.member,
		Workspace:  a.workspace,
		Audience:   a.audience,
		Scopes:     a.scopes,
		Epoch:      a.epoch,
		Operator:   a.operator,
		ChainKeyID: chain,
		CreatedAt:  a.at,
		ExpiresAt:  a.at.Add(limits.RefreshMost),
		Refresh:    refresh.Hash(s.Peppers),
	}
	g.Access = []AccessToken{{Hash: access.Hash(s.Peppers), ExpiresAt: g.end(now, limits.AccessTokenLife)}}
	g.IdleAt = g.end(now, limits.RefreshIdle)
	return g, answer(g, access, refresh, now)
}

// end is when something of the grant ends that lives for a time.
func (g Grant) end(now time.Time, life time.Duration) time.Time {
	if at := now.Add(life); at.Before(g.ExpiresAt) {
		return at
	}
	return g.ExpiresAt
}

// answer is what the client gets, but for the scope; access is the newest token of g.
func answer(g Grant, access, refresh credential.Token, now time.Time) contract.Token {
	return contract.Token{
		AccessToken:  access.Reveal(),
		TokenType:    "Bearer",
		ExpiresIn:    contract.Seconds(g.Access[len(g.Access)-1].ExpiresAt.Sub(now)),
		RefreshToken: refresh.Reveal(),
	}
}

// holds refuses a grant whose member is gone or ended what they agreed to, and returns what its tokens may do.
func (s *Server) holds(ctx context.Context, g Grant) ([]credential.Scope, error) {
	m, w, err := s.Members.Member(ctx, g.Workspace, g.Member)
	if err == nil && (m == nil || w == nil || !g.Live(s.Now(), *w, *m)) {
		err = badGrant()
	}
	if err != nil {
		return nil, err
	}
	return rights(g, *m), nil
}

// rights are what tokens of the grant may do where they are accepted: our own clients act with all that the member may.
func rights(g Grant, m member.Member) []credential.Scope {
	_, own := firstParty[g.Client]
	return g.Rights(m, !own)
}

// limit refuses what comes too often from one address, in the form of the token endpoint.
func (s *Server) limit(ctx context.Context, kind string, from netip.Addr, r limits.Rate) error {
	wait, err := s.Limiter.Allow(ctx, kind, address.Subject(from, s.Peppers), r)
	if err == nil && wait > 0 {
		err = tooMany(wait)
	}
	return err
}

func tooMany(wait time.Duration) error {
	return fault.NewOAuth(fault.OAuthSlowDown, "too many requests from your network; wait as long as Retry-After says").AsRateLimited(wait)
}

// MayAsk counts a visit of the authorization endpoint.
func (s *Server) MayAsk(ctx context.Context, from netip.Addr) error {
	return s.limit(ctx, "authorize", from, s.Limits.SignIn)
}

// MayRevoke counts a revocation.
func (s *Server) MayRevoke(ctx context.Context, from netip.Addr) error {
	return s.limit(ctx, "revoke", from, s.Limits.Revocation)
}
