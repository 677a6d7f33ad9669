package oidc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// document is the part of OpenID Connect Discovery 1.0 that this package uses.
type document struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Keys          string   `json:"jwks_uri"`
	EndSession    string   `json:"end_session_endpoint"`
	Algorithms    []string `json:"id_token_signing_alg_values_supported"`
}

// algorithms are the signature algorithms that a provider may use. None is symmetric, even if the provider announces
// one, because then the client secret could sign tokens.
var algorithms = []jose.SignatureAlgorithm{jose.RS256, jose.PS256, jose.ES256, jose.ES384, jose.EdDSA}

// discover fetches the provider's document. It ignores the provider's cache headers, because the document changes very
// rarely.
func (p *Provider) discover(ctx context.Context) (document, time.Duration, error) {
	var d document
	if _, err := p.read(ctx, strings.TrimSuffix(p.config.Issuer, "/")+"/.well-known/openid-configuration",
		&d); err != nil {
		return document{}, 0, err
	}
	if d.Issuer != p.config.Issuer {
		return document{}, 0, fmt.Errorf("the provider calls itself %q", d.Issuer)
	}
	for _, endpoint := range []string{d.Authorization, d.Token, d.Keys} {
		if err := p.config.reachable(endpoint); err != nil {
			return document{}, 0, fmt.Errorf("the provider's endpoint %q %w", endpoint, err)
		}
	}
	if d.EndSession != "" && p.config.reachable(d.EndSession) != nil {
		d.EndSession = ""
	}
	if len(d.signing()) == 0 {
		return document{}, 0, errors.New("the provider signs with nothing that we accept")
	}
	return d, maxFresh, nil
}

// signing returns the algorithms that ID tokens of this provider may be signed with.
func (d document) signing() []jose.SignatureAlgorithm {
	if len(d.Algorithms) == 0 {
		return algorithms
	}
	return slices.DeleteFunc(slices.Clone(algorithms),
		func(a jose.SignatureAlgorithm) bool { return !slices.Contains(d.Algorithms, string(a)) })
}
