package oauth

import (
	"context"
	"slices"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// Revoke ends the grant of an access or refresh token, or an agent's access token (RFC 7009). The whole secret has to
// be right, because public ids are not secret. Any other text, and an API key of a person, has no effect and no error.
func (s *Server) Revoke(ctx context.Context, token, requestID string) error {
	for kind, end := range map[credential.Kind]func(context.Context, credential.Token, string) error{
		credential.AccessToken: s.revokeGrant, credential.RefreshToken: s.revokeGrant, credential.APIKey: s.revokeAgent,
	} {
		if t, err := credential.Parse(token, kind, s.Environment); err == nil {
			return end(ctx, t, requestID)
		}
	}
	return nil
}

func (s *Server) revokeGrant(ctx context.Context, t credential.Token, requestID string) error {
	g, err := s.GrantStore.Grant(ctx, t.Public)
	if err != nil || g == nil || !s.belongs(*g, t) {
		return err
	}
	return s.endGrant(ctx, *g, requestID)
}

// belongs reports whether t is a token of the grant, even a used one.
func (s *Server) belongs(g Grant, t credential.Token) bool {
	if t.Kind == credential.RefreshToken {
		return s.age(g, t, s.Now()) != unknown
	}
	return slices.ContainsFunc(g.Access, func(i AccessToken) bool { return t.Matches(i.Hash, s.Peppers) })
}

func (s *Server) endGrant(ctx context.Context, g Grant, requestID string) error {
	e := s.record(g.Workspace, event.ByMember(g.Member), event.GrantRevoked, target(g.Client), requestID)
	return s.GrantStore.Revoke(ctx, g.Public, e.At, e)
}

func (s *Server) revokeAgent(ctx context.Context, t credential.Token, requestID string) error {
	k, err := s.Keys.Key(ctx, t.Public)
	if err != nil || k == nil || k.Registration == "" || k.Workspace != t.Workspace || !t.Matches(k.Hash, s.Peppers) {
		return err
	}
	e := s.record(k.Workspace, event.ByKey(k.ID), event.TokenRevoked,
		event.Target{Type: event.OnKey, ID: string(k.ID)}, requestID)
	_, err = s.Keys.Revoke(ctx, *k, e.At, e)
	return err
}

// Grants lists one page of the member's grants that have a refresh token, newest first.
func (s *Server) Grants(ctx context.Context, by credential.Actor, p cursor.Page) (_ []Grant, next string, _ error) {
	if err := requireMember(by); err != nil {
		return nil, "", err
	}
	now := s.Now()
	of := cursor.List{Workspace: by.Workspace.ID, Name: "grants." + string(by.Member), Now: now}
	return cursor.Read(s.Cursors, of, p, func(after string, limit int) ([]Grant, string, error) {
		return s.GrantStore.List(ctx, by.Member, cursor.Query[Grant]{
			Workspace: by.Workspace.ID,
			After:     after,
			Limit:     limit,
			Live:      func(g Grant) bool { return g.listed(now, by) },
		})
	})
}

// listed reports whether the member's list shows the grant.
func (g Grant) listed(now time.Time, by credential.Actor) bool {
	return g.RevokedAt.IsZero() && now.Before(g.ExpiresAt) && now.Before(g.IdleAt) && g.Epoch == by.Workspace.Epoch
}

// Allowed returns one grant of the member. It fails with not_found if the grant has ended.
func (s *Server) Allowed(ctx context.Context, by credential.Actor, public id.Public) (Grant, error) {
	g, err := s.ownGrant(ctx, by, public)
	if err == nil && !g.listed(s.Now(), by) {
		err = errGrantEnded()
	}
	return g, err
}

// EndGrant ends one grant of the member.
func (s *Server) EndGrant(ctx context.Context, by credential.Actor, public id.Public) error {
	g, err := s.ownGrant(ctx, by, public)
	if err != nil {
		return err
	}
	return s.endGrant(ctx, g, by.RequestID)
}

// ownGrant reads a grant of the member.
func (s *Server) ownGrant(ctx context.Context, by credential.Actor, public id.Public) (Grant, error) {
	if err := requireMember(by); err != nil {
		return Grant{}, err
	}
	if _, err := public.Bits(); err != nil {
		return Grant{}, errGrantEnded()
	}
	g, err := s.GrantStore.Grant(ctx, public)
	if err != nil {
		return Grant{}, err
	}
	if g == nil || g.Member != by.Member || g.Workspace != by.Workspace.ID {
		return Grant{}, errGrantEnded()
	}
	return *g, nil
}

func errGrantEnded() error { return fault.New(fault.NotFound, "this connection is not there any more") }
