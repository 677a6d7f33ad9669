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
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

// ErrGone reports that the item on which a write depends was used, answered or ended before.
var ErrGone = errors.New("used or ended already")

// GrantStore stores grants.
type GrantStore interface {
	// Grant reads a grant with strong consistency. It returns nil if there is none.
	Grant(ctx context.Context, public id.Public) (*Grant, error)
	// Add commits a new grant and its event. It returns ErrGone if a grant was made from the same proof before.
	Add(ctx context.Context, g Grant, p Proof, e event.Event) error
	// Rotate writes the tokens of g if was is still its newest refresh token and g is not revoked. Otherwise it writes no
	// item and returns the grant as it is now.
	Rotate(ctx context.Context, g Grant, was credential.Hash) (now *Grant, err error)
	// Revoke revokes a live grant and the API keys that it created, and records the event, in one transaction. It changes
	// no item if the grant is revoked already.
	Revoke(ctx context.Context, public id.Public, at time.Time, e event.Event) error
	// List reads grants of a member that have a refresh token, newest first. next is the position of the last row if
	// others follow.
	List(ctx context.Context, m id.Member, q cursor.Query[Grant]) (rows []Grant, next string, err error)
}

// Keys reads the access tokens of agents, which are API keys.
type Keys interface {
	// Key reads a key with strong consistency. It returns nil if there is none.
	Key(ctx context.Context, public id.Public) (*credential.Key, error)
	credential.Revocations
}

// Members reads members.
type Members interface {
	// Member reads a member and the workspace with strong consistency. It returns nil for what does not exist.
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
	// Fetcher reads the metadata documents of clients; nil: only documents that another host has stored count.
	Fetcher Fetcher
	// NoDocuments refuses clients that name themselves by a document, also those whose document is stored.
	NoDocuments bool
	// Provider verifies ID tokens; nil: token exchange is disabled.
	Provider  Provider
	Registrar Registrar

	Name        string // of the deployment, which no client may have; empty: Vitrine alone
	Limiter     *rate.Limiter
	Limits      *limits.Limits
	Allowlist   workspace.Allowlist // Members has to read what it judges by
	Peppers     keyring.Derived     // hash stored secrets
	Chain       keyring.Derived     // derive the next refresh and access tokens
	Cursors     *cursor.Codec
	Environment credential.Environment
	Origins     address.Origins
	Now         func() time.Time
}

// approval is the access that a member approved. It becomes a grant once.
type approval struct {
	client          id.Client
	name            string
	member          id.Member
	workspace       id.Workspace
	epoch           int64
	operator        time.Time
	authenticatedAt time.Time
	scopes          []credential.Scope
	audience        string
	at              time.Time
}

// grant makes the grant of an approval with its first access and refresh tokens. The returned answer lacks the scope.
// The grant has the time of the approval, so that signing out everywhere after the approval ends it.
func (s *Server) grant(a approval, now time.Time) (Grant, contract.Token) {
	access := credential.Mint(credential.AccessToken, s.Environment, a.workspace, "")
	refresh := credential.MintAs(credential.RefreshToken, s.Environment, a.workspace, access.Public)
	chain, _ := s.Chain.Active()
	g := Grant{
		Public:          access.Public,
		Client:          a.client,
		Name:            a.name,
		Member:          a.member,
		Workspace:       a.workspace,
		Audience:        a.audience,
		Scopes:          a.scopes,
		Epoch:           a.epoch,
		Operator:        a.operator,
		AuthenticatedAt: a.authenticatedAt,
		ChainKeyID:      chain,
		CreatedAt:       a.at,
		ExpiresAt:       a.at.Add(limits.MaxRefreshLife),
		Refresh:         refresh.Hash(s.Peppers),
	}
	g.Access = []AccessToken{{Hash: access.Hash(s.Peppers), ExpiresAt: g.end(now, limits.AccessTokenLife)}}
	g.IdleAt = g.end(now, limits.RefreshIdle)
	return g, answer(g, access, refresh, now)
}

// end returns when a token of the grant expires: after life, but not later than the grant.
func (g Grant) end(now time.Time, life time.Duration) time.Time {
	if at := now.Add(life); at.Before(g.ExpiresAt) {
		return at
	}
	return g.ExpiresAt
}

// answer returns the token response without its scope. access is the newest token of g.
func answer(g Grant, access, refresh credential.Token, now time.Time) contract.Token {
	return contract.Token{
		AccessToken:  access.Reveal(),
		TokenType:    "Bearer",
		ExpiresIn:    contract.Seconds(g.Access[len(g.Access)-1].ExpiresAt.Sub(now)),
		RefreshToken: refresh.Reveal(),
	}
}

// holds returns the scopes of the grant's tokens. It refuses a grant that is not issuable, as when its member is gone
// or has signed out everywhere since, and one whose member the deployment does not let in.
func (s *Server) holds(ctx context.Context, g Grant) ([]credential.Scope, error) {
	m, w, err := s.Members.Member(ctx, g.Workspace, g.Member)
	switch {
	case err != nil:
	case m == nil || w == nil || !g.issuable(s.Now(), *w, *m):
		err = errInvalidGrant()
	case !s.Allowlist.Admits(*w, m.ID):
		err = errInvalidGrant().WithCause(s.Allowlist.Refuse())
	}
	if err != nil {
		return nil, err
	}
	return rights(g, *m), nil
}

// rights returns the scopes of the grant's tokens where they are accepted. Clients that act as the member have all of
// the member's.
func rights(g Grant, m member.Member) []credential.Scope {
	return g.Rights(m, !firstParty[g.Client].actsAsMember())
}

// take counts an event of a client address.
func (s *Server) take(ctx context.Context, r limits.Rate, from netip.Addr) error {
	return s.Limiter.Take(ctx, r, address.Subject(from, s.Peppers))
}

// MayAsk counts a request at the authorization endpoint.
func (s *Server) MayAsk(ctx context.Context, from netip.Addr) error {
	return s.take(ctx, s.Limits.Authorize, from)
}

// MayRevoke counts a request at the revocation endpoint.
func (s *Server) MayRevoke(ctx context.Context, from netip.Addr) error {
	return s.take(ctx, s.Limits.Revocation, from)
}
