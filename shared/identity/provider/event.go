package provider

import (
	"context"
	"crypto/sha256"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// Event verifies a security event token and returns its event. The caller has to record its id and digest. Every error
// is a *fault.OAuthError whose code is a value of err in RFC 8935.
// maxEventAge is how old a security event of a provider may be.
const maxEventAge = limits.Day

func (v *Verifier) Event(ctx context.Context, token string) (Event, error) {
	t, err := parse(token, contract.EventType)
	if err != nil {
		return Event{}, err
	}
	events, err := object(t.claims["events"])
	id := t.claims.identifier("jti")
	if err != nil || id == "" {
		return Event{}, t.refuse(fault.OAuthInvalidRequest,
			"events must be an object, and jti a text of 1 to %d bytes", maxClaim)
	}
	p, err := v.trusted(t)
	if err != nil {
		return Event{}, err
	}
	if err := v.verify(ctx, p, t); err != nil {
		return Event{}, recode(err, map[fault.OAuthCode]fault.OAuthCode{
			fault.OAuthInvalidSignature: fault.OAuthAuthenticationFailed,
		})
	}
	e := Event{
		Issuer:   p.Issuer,
		Audience: v.Audience,
		ID:       id,
		KeyID:    t.header.text("kid"),
		Digest:   sha256.Sum256([]byte(token)),
		Revoked: events.has(contract.EventRevoked) || events.has(contract.EventRevokedAlias) ||
			events.has(contract.EventRevokedOldAlias),
		IssuedAt: t.claims.instant("iat"),
	}
	return v.date(t, e, p)
}

// date checks the age and the subject of an event and completes the event.
func (v *Verifier) date(t *jwt, e Event, p *Provider) (Event, error) {
	now := v.Now()
	expires := t.claims.instant("exp")
	e.Expires = e.IssuedAt.Add(maxEventAge)
	if t.claims.has("exp") && expires.Before(e.Expires) {
		e.Expires = expires
	}
	subject, ok := t.subject(p)
	switch {
	case e.IssuedAt.IsZero() || t.claims.has("exp") && expires.IsZero():
		return Event{}, t.refuse(fault.OAuthInvalidRequest, "iat must be whole seconds, and exp if it is there")
	case e.IssuedAt.After(now.Add(maxClockSkew)):
		return Event{}, t.refuse(fault.OAuthInvalidRequest, "the event is of the future")
	case !e.Expires.After(now.Add(-maxClockSkew)):
		return Event{}, t.refuse(fault.OAuthInvalidRequest, "the event is too old, or has expired")
	case !ok || e.Revoked && subject == "":
		return Event{}, t.refuse(fault.OAuthInvalidRequest,
			"sub_id must be a subject of the issuer in the format iss_sub, or sub a text of 1 to %d bytes", maxClaim)
	}
	e.Subject = subject
	return e, nil
}

// subject returns the person of an event: sub_id in the format iss_sub (RFC 9493), or sub. It is empty if the event
// names no person in this way. ok is false if sub_id is malformed, or names a person of another issuer or another
// person than sub.
func (j *jwt) subject(p *Provider) (subject string, ok bool) {
	subject = j.claims.identifier("sub")
	id, err := object(j.claims["sub_id"])
	if err != nil || id.text("format") != "iss_sub" {
		return subject, !j.claims.has("sub_id") || err == nil
	}
	named := id.identifier("sub")
	if named == "" || !p.is(id.text("iss")) || subject != "" && subject != named {
		return "", false
	}
	return named, true
}
