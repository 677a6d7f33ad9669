package dynamo

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Consents stores consent pages that are open, and the authorization codes that they end in.
type Consents struct{ *db }

var (
	_ oauth.Codes    = Consents{}
	_ oauth.Requests = Consents{}
)

// Add implements oauth.Requests.
func (s Consents) Add(ctx context.Context, r oauth.Request) error {
	t := s.begin()
	t.create(newItem(consentKey(r.Secret)).
		str("client", string(r.Client.ID)).str("name", r.Client.Name).flag("ours", r.Client.FirstParty).str("uri", r.Redirect).str("state", r.State).
		str("pkce", r.Challenge).str("scopes", joinScopes(r.Scopes)).str("aud", r.Audience).flag("loopback", r.Loopback).
		time("created", r.CreatedAt).time("exp", r.ExpiresAt).ttl(ttlAfter(r.ExpiresAt)))
	return s.commit(ctx, t)
}

// Request implements oauth.Requests.
func (s Consents) Request(ctx context.Context, secret string) (*oauth.Request, error) {
	i, err := s.get(ctx, consentKey(secret))
	if err != nil || i == nil {
		return nil, err
	}
	return &oauth.Request{
		Secret:    secret,
		Client:    oauth.Client{ID: id.Client(i.getStr("client")), Name: i.getStr("name"), FirstParty: i.getFlag("ours")},
		Redirect:  i.getStr("uri"),
		State:     i.getStr("state"),
		Challenge: i.getStr("pkce"),
		Scopes:    splitScopes(i.getStr("scopes")),
		Audience:  i.getStr("aud"),
		Loopback:  i.getFlag("loopback"),
		CreatedAt: i.getTime("created"),
		ExpiresAt: i.getTime("exp"),
	}, nil
}

// Grant implements oauth.Requests.
func (s Consents) Grant(ctx context.Context, r oauth.Request, c oauth.Code, e event.Event) error {
	t := s.begin()
	t.remove(consentKey(r.Secret), "attribute_exists(#pk)", nil, grantGone)
	t.create(newItem(codeKey(c.Public)).
		bin("mac", c.Hash.MAC).num("pepper", int64(c.Hash.Pepper)).str("client", string(c.Client)).str("name", c.Name).str("uri", c.Redirect).
		str("pkce", c.Challenge).str("scopes", joinScopes(c.Scopes)).str("aud", c.Audience).str("mem", string(c.Member)).str("ws", string(c.Workspace)).
		num("epoch", c.Epoch).time("op_at", c.Operator).time("created", c.CreatedAt).time("exp", c.ExpiresAt).ttl(ttlAfter(c.ExpiresAt)))
	t.record(e)
	return s.commit(ctx, t)
}

// Drop implements oauth.Requests.
func (s Consents) Drop(ctx context.Context, r oauth.Request) error {
	t := s.begin()
	t.remove(consentKey(r.Secret), "attribute_exists(#pk)", nil, grantGone)
	return s.commit(ctx, t)
}

// Code implements oauth.Codes.
func (s Consents) Code(ctx context.Context, public id.Public) (*oauth.Code, error) {
	i, err := s.get(ctx, codeKey(public))
	if err != nil || i == nil {
		return nil, err
	}
	return &oauth.Code{
		Public:    public,
		Hash:      credential.Hash{Pepper: byte(i.getNum("pepper")), MAC: i.getBin("mac")},
		Client:    id.Client(i.getStr("client")),
		Name:      i.getStr("name"),
		Redirect:  i.getStr("uri"),
		Challenge: i.getStr("pkce"),
		Scopes:    splitScopes(i.getStr("scopes")),
		Audience:  i.getStr("aud"),
		Member:    id.Member(i.getStr("mem")),
		Workspace: id.Workspace(i.getStr("ws")),
		Epoch:     i.getNum("epoch"),
		Operator:  i.getTime("op_at"),
		CreatedAt: i.getTime("created"),
		ExpiresAt: i.getTime("exp"),
		Grant:     id.Public(i.getStr("became")),
	}, nil
}

// Redeem implements oauth.Codes.
func (s Consents) Redeem(ctx context.Context, c oauth.Code, g oauth.Grant) (made id.Public, err error) {
	t := s.begin()
	t.update(codeKey(c.Public), "SET #became = :grant", "attribute_exists(#pk) AND attribute_not_exists(#became)",
		values{"grant": string(g.Public)}, func(old item) error {
			made = id.Public(old.getStr("became"))
			return oauth.ErrGone
		})
	t.create(grantItem(g))
	if err := s.commit(ctx, t); err != nil {
		return made, err
	}
	return g.Public, nil
}

// ttlAfter is when an item that ended at an instant may leave the table; what was used twice is recognised until then.
func ttlAfter(end time.Time) time.Time { return end.Add(limits.Day) }
