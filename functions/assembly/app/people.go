package app

import (
	"context"
	"errors"

	"vitrine/functions/app"
	"vitrine/functions/assembly"
	"vitrine/shared/entry/agentauth"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/deletion"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/rate"
)

// people adds the services that tell members about themselves, and those that ask for their consent.
func people(s *assembly.Services, h *app.Host, limiter *rate.Limiter) error {
	var err2, err3, err4, err5 error
	err1 := signIns(s, h, limiter)
	h.Account, err2 = s.Account()
	h.Keys, err3 = s.Keys()
	h.Claims, err4 = s.Claims()
	h.Apps, err5 = s.OAuth(limiter)
	registered, err6 := s.Agents(limiter)
	vouched := &delegation.Service{Store: s.Stores.Delegations, Cursors: registered.Cursors, Now: s.Config.Now}
	h.Agents = agents{registered, vouching{vouched}}
	return errors.Join(err1, err2, err3, err4, err5, err6)
}

// signIns adds the services that sign people in, keep them signed in, and delete their workspaces.
func signIns(s *assembly.Services, h *app.Host, limiter *rate.Limiter) error {
	provider, err1 := s.IdentityProvider()
	peppers, err2 := s.Peppers()
	sessions := &session.Service{
		Store:     s.Stores.Sessions,
		Members:   s.Stores.Members,
		Limits:    &s.Config.Limits,
		Allowlist: s.Config.Allowlist(),
		Now:       s.Config.Now,
	}
	takeovers := &signin.Takeovers{Store: s.Stores.Takeovers, Sessions: sessions, Now: s.Config.Now}
	flow := &signin.Service{
		Provider:  provider,
		Issuer:    s.Config.OIDC.Issuer,
		Store:     s.Stores.SignIns,
		Registrar: s.Registrar(),
		Sessions:  sessions,
		Takeovers: takeovers,
		Limiter:   limiter,
		Limits:    &s.Config.Limits,
		Peppers:   peppers,
		Now:       s.Config.Now,
	}
	h.Sessions = sessions
	h.SignIns = signInsAndTakeovers{flow, takeovers}
	h.Deletions = deletions{&deletion.Service{Store: s.Stores.Deletions, Now: s.Config.Now}, sessions}
	return errors.Join(err1, err2)
}

// signInsAndTakeovers signs people in, and asks them which agents they keep.
type signInsAndTakeovers struct {
	*signin.Service
	*signin.Takeovers
}

// agents serves both kinds of agents: those that registered, and those that providers vouch for.
type agents struct {
	*agentauth.Service
	vouching
}

// vouching wraps the delegation service, because two embedded types named Service would collide in agents.
type vouching struct{ *delegation.Service }

// deletions deletes workspaces, and authenticates members of those that are being deleted.
type deletions struct {
	*deletion.Service
	sessions *session.Service
}

// AuthenticateDeleting implements app.Deletions.
func (d deletions) AuthenticateDeleting(
	ctx context.Context, secret, requestID string,
) (session.Authenticated, error) {
	return d.sessions.AuthenticateDeleting(ctx, secret, requestID)
}
