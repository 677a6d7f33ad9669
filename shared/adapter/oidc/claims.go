package oidc

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"vitrine/shared/identity/member"
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/text"
)

const (
	maxToken   = 16 << 10 // bytes of an ID token
	maxSubject = 255
	maxEmail   = 254
)

// claims is the content of a verified ID token, before its e-mail address is checked.
type claims struct {
	issuer, subject, nonce string
	issuedAt               time.Time
	authenticatedAt        time.Time
	email                  string
	verified               bool
	operator               bool
}

// verify checks signature, issuer, audience, times and subject of an ID token.
func (p *Provider) verify(ctx context.Context, d document, text string) (claims, error) {
	if text == "" || len(text) > maxToken {
		return claims{}, signin.Refused(errors.New("the ID token is missing or too long"))
	}
	now := p.config.Now()
	t := &keySet{keys: p.keys, signing: d.signing()}
	var names []string
	for _, a := range t.signing {
		names = append(names, string(a))
	}
	token, err := oidc.NewVerifier(p.config.Issuer, t, &oidc.Config{
		ClientID:             p.config.ClientID,
		SupportedSigningAlgs: names,
		Now:                  func() time.Time { return now.Add(-limits.AssertionLeeway) },
	}).Verify(ctx, text)
	switch {
	case t.unreachable != nil:
		return claims{}, signin.Unreachable(t.unreachable)
	case err != nil:
		return claims{}, signin.Refused(err)
	}
	// The claims are read into a map, because struct fields would also match members whose names differ in case.
	var all map[string]any
	if err := token.Claims(&all); err != nil {
		return claims{}, signin.Refused(err)
	}
	if err := p.check(token, all, now); err != nil {
		return claims{}, signin.Refused(err)
	}
	c := claims{
		issuer:   p.config.Issuer,
		subject:  token.Subject,
		nonce:    token.Nonce,
		issuedAt: token.IssuedAt,
	}
	c.email, _ = all["email"].(string)
	verified, said := all["email_verified"]
	c.verified = verified == true || !said && p.config.EmailVerified
	c.operator = p.config.OperatorValue != "" && claimContains(all[p.config.OperatorClaim], p.config.OperatorValue)
	if at, ok := all["auth_time"].(float64); ok {
		c.authenticatedAt = time.Unix(int64(at), 0).UTC()
	}
	return c, nil
}

// check verifies what the library does not.
func (p *Provider) check(token *oidc.IDToken, all map[string]any, now time.Time) error {
	party, named := all["azp"]
	switch {
	case token.Subject == "" || len(token.Subject) > maxSubject || !text.Identifier(token.Subject):
		return errors.New("the subject is missing or malformed")
	case token.IssuedAt.IsZero() || token.IssuedAt.After(now.Add(limits.AssertionLeeway)):
		return errors.New("the ID token is not issued yet")
	case len(token.Audience) > 1 && !named, named && party != p.config.ClientID:
		return errors.New("the ID token is for another party")
	}
	return nil
}

// identity returns the person, provided that the provider also vouches for an e-mail address.
func (c claims) identity() (member.Identity, error) {
	local, domain, _ := strings.Cut(c.email, "@")
	if !c.verified || local == "" || domain == "" || len(c.email) > maxEmail || !text.Identifier(c.email) {
		return member.Identity{}, signin.Unverified()
	}
	return member.Identity{
		Issuer:          c.issuer,
		Subject:         c.subject,
		Email:           c.email,
		AuthenticatedAt: c.authenticatedAt,
		Operator:        c.operator,
	}, nil
}

// claimContains reports whether a claim is the string text, or a list that contains it.
func claimContains(claim any, text string) bool {
	if list, ok := claim.([]any); ok {
		return slices.Contains(list, any(text))
	}
	return claim == any(text)
}
