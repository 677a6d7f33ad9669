package provider

import (
	"context"
	"slices"
	"strings"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/text"
)

const (
	maxEmail         = 254              // bytes, of RFC 5321
	maxAssertionLife = 10 * time.Minute // from iat to exp
	maxClockSkew     = 2 * time.Minute  // of identity providers of agents
)

// Assertion verifies an assertion and returns its identity. The caller has to record its id, because an assertion
// counts once. Every error is a *fault.OAuthError. Apart from the issuer, no answer depends on a claim before its
// signature is verified.
func (v *Verifier) Assertion(ctx context.Context, token string) (Identity, error) {
	t, err := parse(token, contract.AssertionType)
	if err != nil {
		return Identity{}, err
	}
	p, err := v.trusted(t)
	if err != nil {
		return Identity{}, err
	}
	if err := v.verify(ctx, p, t); err != nil {
		return Identity{}, recode(err, map[fault.OAuthCode]fault.OAuthCode{
			fault.OAuthInvalidKey: fault.OAuthInvalidSignature,
		})
	}
	now := v.Now()
	if err := t.checkTimes(now, p.MaxAuthAge); err != nil {
		return Identity{}, err
	}
	id := Identity{
		Issuer:    p.Issuer,
		Name:      p.Name,
		Subject:   t.claims.identifier("sub"),
		Audience:  v.Audience,
		ClientID:  t.claims.text("client_id"),
		ID:        t.claims.identifier("jti"),
		KeyID:     t.header.text("kid"),
		AuthTime:  t.claims.instant("auth_time"),
		IssuedAt:  t.claims.instant("iat"),
		Expires:   t.claims.instant("exp"),
		Provision: p.Provision,
	}
	return t.checkPerson(id, p)
}

// checkTimes checks the lifetime of an assertion, its ids and when its person signed in. The age of iat needs no check
// of its own, because exp is in the future and at most maxAssertionLife after iat.
func (j *jwt) checkTimes(now time.Time, maxAuthAge time.Duration) error {
	c := j.claims
	issued := c.instant("iat")
	expires := c.instant("exp")
	signedIn := c.instant("auth_time")
	latest := now.Add(maxClockSkew)
	switch {
	case expires.IsZero() || issued.IsZero() || !issued.Before(expires) || expires.Sub(issued) > maxAssertionLife:
		return j.refuse(fault.OAuthInvalidRequest, "iat and exp must be whole seconds, and at most %s apart",
			maxAssertionLife)
	case !expires.After(now.Add(-maxClockSkew)):
		return j.refuse(fault.OAuthExpired, "the assertion has expired")
	case c.identifier("sub") == "" || c.identifier("jti") == "" || signedIn.IsZero(),
		c.text("client_id") == "" || len(c.text("client_id")) > maxClaim:
		return j.refuse(fault.OAuthInvalidRequest,
			"sub, client_id and jti must be texts of 1 to %d bytes, and auth_time whole seconds", maxClaim)
	case issued.After(latest) || signedIn.After(latest):
		return j.refuse(fault.OAuthInvalidRequest, "iat and auth_time must not be in the future")
	case c.has("nbf") && (c.instant("nbf").IsZero() || c.instant("nbf").After(latest)):
		return j.refuse(fault.OAuthInvalidRequest, "the assertion is not valid yet")
	case now.Sub(signedIn) > maxAuthAge:
		refusal := j.refuse(fault.OAuthLoginRequired, "the person signed in at the provider more than %d seconds ago",
			maxAuthAge/time.Second)
		refusal.MaxAge = maxAuthAge
		return refusal
	}
	return nil
}

// checkPerson checks client, person and rights of an assertion, and completes the identity.
func (j *jwt) checkPerson(id Identity, p *Provider) (Identity, error) {
	if !slices.Contains(p.ClientIDs, id.ClientID) {
		return Identity{}, j.refuse(fault.OAuthInvalidClientID, "no agent of this client is let in")
	}
	id.Email = j.email(p)
	if id.Email == "" {
		return Identity{}, j.refuse(fault.OAuthMissingEmail,
			"the assertion must have an email that its issuer may vouch for, and email_verified true")
	}
	id.Scopes = j.scopes()
	if len(id.Scopes) == 0 {
		return Identity{}, j.refuse(fault.OAuthInvalidRequest, "scope must name read or publish")
	}
	if j.claims.has("resource") && !slices.Contains(j.claims.list("resource"), id.Audience) {
		return Identity{}, j.refuse(fault.OAuthInvalidAudience, "the assertion's resource must be %s", id.Audience)
	}
	if j.claims.has("cnf") {
		return Identity{}, j.refuse(fault.OAuthInvalidRequest, "the assertion is bound to a key, which is not supported")
	}
	return id, nil
}

// email returns the address for which the provider vouches; empty if there is none.
func (j *jwt) email(p *Provider) string {
	email := text.LowerASCII(j.claims.text("email"))
	at := strings.IndexByte(email, '@')
	switch {
	case string(j.claims["email_verified"]) != "true":
		return ""
	case at <= 0 || at == len(email)-1 || strings.Count(email, "@") > 1:
		return ""
	case len(email) > maxEmail || !text.Identifier(email):
		return ""
	case len(p.EmailDomains) > 0 && !slices.Contains(p.EmailDomains, email[at+1:]):
		return ""
	}
	return email
}

// scopes returns the requested scopes that agents may have. It returns all of these if the assertion requests none.
func (j *jwt) scopes() []credential.Scope {
	all := credential.Delegable()
	if !j.claims.has("scope") {
		return all
	}
	asked := strings.Fields(j.claims.text("scope"))
	return slices.DeleteFunc(all, func(s credential.Scope) bool { return !slices.Contains(asked, string(s)) })
}
