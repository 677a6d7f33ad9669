package oauth

import (
	"context"
	"net/netip"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// Refused describes a refused authorization request to the person.
type Refused struct {
	Client       Client
	RedirectHost string
	Code         fault.OAuthCode
	Description  string
	RedirectTo   string // the client's redirect URI, with the error
	// Trusted reports that the member has granted the client access, so that the browser may go to RedirectTo by itself.
	// For other clients that would be an open redirect, because anyone can register a client.
	Trusted bool
}

// Refused validates a refused authorization of a third-party client again, because the query of the error page comes
// from the browser. by is the member of the browser session; its zero value means that there is none.
func (s *Server) Refused(ctx context.Context, by credential.Actor, a Authorization, from netip.Addr) (Refused, error) {
	if err := s.take(ctx, s.Limits.Authorize, from); err != nil {
		return Refused{}, err
	}
	a.From = from
	c, refusal, err := s.validate(ctx, a)
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
		RedirectTo:   s.errorRedirect(a.RedirectURI, a.State, refusal),
		Trusted:      trusted,
	}, err
}

// trusts reports whether a member has a live grant for a client.
func (s *Server) trusts(ctx context.Context, by credential.Actor, c id.Client) (bool, error) {
	if by.Member == "" {
		return false, nil
	}
	now := s.Now()
	live, _, err := s.GrantStore.List(ctx, by.Member, cursor.Query[Grant]{
		Workspace: by.Workspace.ID,
		Limit:     1,
		Live:      func(g Grant) bool { return g.Client == c && g.listed(now, by) },
	})
	return len(live) > 0, err
}
