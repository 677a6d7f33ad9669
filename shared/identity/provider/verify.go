package provider

import (
	"context"
	"errors"
	"slices"

	"github.com/go-jose/go-jose/v4"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// trusted returns the provider that a token names as its issuer. It compares issuers byte for byte.
func (v *Verifier) trusted(t *jwt) (*Provider, error) {
	issuer := t.claims.text("iss")
	for i := range v.Providers {
		p := &v.Providers[i]
		if p.is(issuer) {
			t.issuer = p.Issuer
			return p, nil
		}
	}
	return nil, t.refuse(fault.OAuthInvalidIssuer, "no identity provider with this issuer is trusted here")
}

// verify checks the signature of a token with a key that the provider publishes, and its audience. It ignores keys in
// the header and their addresses. It fails with OAuthInvalidKey if there is no such key, with OAuthInvalidSignature if
// the key did not sign the token, and with OAuthInvalidAudience for another audience.
func (v *Verifier) verify(ctx context.Context, p *Provider, t *jwt) error {
	algorithm := t.header.text("alg")
	if !slices.Contains(p.Algorithms, algorithm) {
		return t.refuse(fault.OAuthInvalidKey, "the token is not signed with an algorithm that is agreed with its issuer")
	}
	kid := t.header.text("kid")
	if kid == "" || len(kid) > maxClaim {
		return t.refuse(fault.OAuthInvalidKey, "the token's header kid must name the key that signed it")
	}
	keys, err := v.keys(ctx, p, kid)
	if err != nil {
		return t.logged(fault.NewOAuth(fault.OAuthTemporarilyUnavailable,
			"the keys of the token's issuer cannot be read; try again in a moment").After(limits.KeySetRetry), err)
	}
	i := slices.IndexFunc(keys, func(k publicKey) bool { return k.signs(algorithm) })
	if i < 0 {
		return t.refuse(fault.OAuthInvalidKey, "the token's issuer publishes no key that can have signed it")
	}
	signed, err := jose.ParseSignedCompact(t.text, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(algorithm)})
	if err == nil {
		_, err = signed.Verify(keys[i].key)
	}
	if err != nil {
		return t.refuse(fault.OAuthInvalidSignature, "the token's signature is wrong")
	}
	// The audience is a claim, so it is judged after the signature.
	if !t.claims.only("aud", v.Audience) {
		return t.refuse(fault.OAuthInvalidAudience, "the token's audience must be %s alone", v.Audience)
	}
	return nil
}

// is reports whether a text is the issuer of the provider or one of its aliases.
func (p *Provider) is(issuer string) bool {
	return issuer != "" && (p.Issuer == issuer || slices.Contains(p.Aliases, issuer))
}

// recode returns a refusal with its code replaced as codes says.
func recode(err error, codes map[fault.OAuthCode]fault.OAuthCode) error {
	refusal, ok := errors.AsType[*fault.OAuthError](err)
	if !ok {
		return err
	}
	if code, other := codes[refusal.Code]; other {
		s := *refusal
		s.Code = code
		return &s
	}
	return err
}

// Trusts reports whether the provider with an issuer is trusted.
func (v *Verifier) Trusts(issuer string) bool {
	return slices.ContainsFunc(v.Providers, func(p Provider) bool { return p.Issuer == issuer })
}
