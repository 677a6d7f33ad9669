package oidc

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// rsaLeast is the shortest RSA modulus, in bits.
const rsaLeast = 2048

// fetchKeys reads the provider's keys. One that is malformed, weak or secret does not spoil the others.
func (p *Provider) fetchKeys(ctx context.Context) ([]jose.JSONWebKey, time.Duration, error) {
	d, err := p.document.get(ctx, whatever)
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
	return !ok || r.N.BitLen() >= rsaLeast
}

// trial checks the signature of one token; it implements go-oidc's KeySet.
type trial struct {
	keys    *cached[[]jose.JSONWebKey]
	signing []jose.SignatureAlgorithm
	// unreachable is why the keys could not be had; the library keeps the text of errors only.
	unreachable error
}

var errSignature = errors.New("no key of the provider made this signature")

// VerifySignature tries the keys that we have. Only a key id that none of them has makes it ask for newer ones.
func (t *trial) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	jws, err := jose.ParseSignedCompact(token, t.signing)
	if err != nil || len(jws.Signatures) != 1 {
		return nil, errSignature
	}
	header := jws.Signatures[0].Header
	keys, err := t.keys.get(ctx, func(keys []jose.JSONWebKey) bool { return header.KeyID == "" || len(matching(keys, header)) > 0 })
	if err != nil {
		t.unreachable = err
		return nil, err
	}
	for _, k := range matching(keys, header) {
		if payload, err := jws.Verify(k); err == nil {
			return payload, nil
		}
	}
	return nil, errSignature
}

// matching are the keys that a header may mean; a header without key id means all.
func matching(keys []jose.JSONWebKey, h jose.Header) (out []jose.JSONWebKey) {
	for _, k := range keys {
		if (h.KeyID == "" || k.KeyID == h.KeyID) && (k.Algorithm == "" || k.Algorithm == h.Algorithm) {
			out = append(out, k)
		}
	}
	return out
}
