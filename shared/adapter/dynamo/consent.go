package dynamo

import (
	"context"
	"time"

	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Consents stores open consent pages, and the authorization codes that result from them.
type Consents struct{ *db }

var (
	_ oauth.Codes    = Consents{}
	_ oauth.Requests = Consents{}
)

func requestFields(f fields, r *oauth.Request) {
	text(f, "client", &r.Client.ID)
	text(f, "name", &r.Client.Name)
	f.flag("ours", &r.Client.FirstParty)
	text(f, "uri", &r.Redirect)
	text(f, "state", &r.State)
	text(f, "pkce", &r.Challenge)
	words(f, "scopes", &r.Scopes)
	text(f, "aud", &r.Audience)
	f.flag("loopback", &r.Loopback)
	f.life(&r.CreatedAt, &r.ExpiresAt)
}

func codeFields(f fields, c *oauth.Code) {
	f.hash("mac", "pepper", &c.Hash)
	text(f, "client", &c.Client)
	text(f, "name", &c.Name)
	text(f, "uri", &c.Redirect)
	text(f, "pkce", &c.Challenge)
	words(f, "scopes", &c.Scopes)
	text(f, "aud", &c.Audience)
	f.member(&c.Member, &c.Workspace, &c.Epoch)
	f.signIns(&c.Operator, &c.AuthenticatedAt)
	f.life(&c.CreatedAt, &c.ExpiresAt)
	text(f, "became", &c.Grant)
}

// Add implements oauth.Requests.
func (s Consents) Add(ctx context.Context, r oauth.Request) error {
	t := s.begin()
	t.create(encode(consentKey(r.Secret), &r, requestFields).ttl(ttlAfter(r.ExpiresAt)))
	return s.commit(ctx, t)
}

// Request implements oauth.Requests.
func (s Consents) Request(ctx context.Context, secret string) (*oauth.Request, error) {
	i, err := s.get(ctx, consentKey(secret))
	return decode(i, &oauth.Request{Secret: secret}, requestFields), err
}

// Grant implements oauth.Requests.
func (s Consents) Grant(ctx context.Context, r oauth.Request, c oauth.Code, e event.Event) error {
	t := s.begin()
	t.remove(consentKey(r.Secret), "attribute_exists(#pk)", nil, grantGone)
	t.create(encode(codeKey(c.Public), &c, codeFields).ttl(ttlAfter(c.ExpiresAt)))
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
	return decode(i, &oauth.Code{Public: public}, codeFields), err
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

// ttlAfter returns when an item that ended at an instant may be deleted. Until then a second use is recognised.
func ttlAfter(end time.Time) time.Time { return end.Add(limits.Day) }
