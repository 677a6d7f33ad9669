package oauth

import (
	"context"
	"net/netip"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// Refused is a request of a client that the authorization endpoint refused, as a person is told of it.
type Refused struct {
	Client       Client
	RedirectHost string
	Code         fault.OAuthCode
	Description  string
	RedirectTo   string // the client's redirect, with the error
	// Trusted says that the member let the client in, so that the browser may go to RedirectTo by itself. Anybody can
	// register a client: for all others this server would redirect to wherever a stranger likes.
	Trusted bool
}

// Refused judges an authorization once more that was refused and whose client is not ours. by is the member in whose
// browser that happened; its zero value is a browser in which nobody is signed in.
func (s *Server) Refused(ctx context.Context, by credential.Actor, a Authorization, from netip.Addr) (Refused, error) {
	wait, err := s.Limiter.Allow(ctx, "authorize", address.Subject(from, s.Peppers), s.Limits.SignIn)
	if err == nil && wait > 0 {
		err = fault.New(fault.RateLimitedActor, "too many requests from your network").After(wait)
	}
	if err != nil {
		return Refused{}, err
	}
	c, refusal, err := s.judge(ctx, a)
	if err == nil && (refusal == nil || c.FirstParty) {
		err = errSuperseded(ErrGone)
	}
	if err != nil {
		return Refused{}, err
	}
	trusted, err := s.trusts(ctx, by, c.ID)
	return Refused{
		Client:       *c,
		RedirectHost: shownHost(a.RedirectURI),
		Code:         refusal.Code,
		Description:  refusal.Description,
		RedirectTo:   s.back(a.RedirectURI, a.State, refusal),
		Trusted:      trusted,
	}, err
}

// trusts tells whether a member let a client in and has not ended that.
func (s *Server) trusts(ctx context.Context, by credential.Actor, c id.Client) (bool, error) {
	if by.Member == "" {
		return false, nil
	}
	now := s.Now()
	live, _, err := s.GrantStore.List(ctx, GrantQuery{
		Workspace: by.Workspace.ID,
		Member:    by.Member,
		Limit:     1,
		Live:      func(g Grant) bool { return g.Client == c && g.listed(now, by) },
	})
	return len(live) > 0, err
}
