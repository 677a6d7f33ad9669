package oidc

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// minRSABits is the length of the shortest RSA modulus that is accepted.
const minRSABits = 2048

// fetchKeys fetches the provider's keys. It skips malformed, weak and private ones.
func (p *Provider) fetchKeys(ctx context.Context) ([]jose.JSONWebKey, time.Duration, error) {
	d, err := p.document.get(ctx, anyDocument)
	if err != nil {
		return nil, 0, err
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	fresh, err := p.read(ctx, d.Keys, &set)
	if err != nil {
		return nil, 0, err
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var k jose.JSONWebKey
		if k.UnmarshalJSON(raw) == nil && usable(k) {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, 0, errors.New("the provider has no usable keys")
	}
	return keys, fresh, nil
}

func usable(k jose.JSONWebKey) bool {
	if !k.Valid() || !k.IsPublic() || k.Use != "" && k.Use != "sig" {
		return false
	}
	r, ok := k.Key.(*rsa.PublicKey)
	return !ok || r.N.BitLen() >= minRSABits
}

// keySet checks the signature of one token. It implements oidc.KeySet.
type keySet struct {
	keys    *cached[[]jose.JSONWebKey]
	signing []jose.SignatureAlgorithm
	// unreachable is the error that made the keys unavailable. It is stored here, because the library keeps only the
	// text of errors.
	unreachable error
}

var errSignature = errors.New("no key of the provider made this signature")

// VerifySignature tries the cached keys. It refetches them only if the key ID is unknown.
func (s *keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	jws, err := jose.ParseSignedCompact(token, s.signing)
	if err != nil || len(jws.Signatures) != 1 {
		return nil, errSignature
	}
	header := jws.Signatures[0].Header
	keys, err := s.keys.get(ctx,
		func(keys []jose.JSONWebKey) bool { return header.KeyID == "" || len(matching(keys, header)) > 0 })
	if err != nil {
		s.unreachable = err
		return nil, err
	}
	for _, k := range matching(keys, header) {
		if payload, err := jws.Verify(k); err == nil {
			return payload, nil
		}
	}
	return nil, errSignature
}

// matching returns the keys that a header may refer to. A header without a key ID may refer to any.
func matching(keys []jose.JSONWebKey, h jose.Header) (out []jose.JSONWebKey) {
	for _, k := range keys {
		if (h.KeyID == "" || k.KeyID == h.KeyID) && (k.Algorithm == "" || k.Algorithm == h.Algorithm) {
			out = append(out, k)
		}
	}
	return out
}
