package provider

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"slices"

	"github.com/go-jose/go-jose/v4"
)

const (
	minRSABits = 2048 // the library refuses more than 4,096, because verifying with them would take too long
	maxKeys    = 100  // of one provider
)

// families maps each algorithm that may sign tokens to the kind of key that it needs. None is symmetric, because a
// published key would then be the secret.
var families = map[string]string{
	"ES256": "P-256",
	"ES384": "P-384",
	"EdDSA": "Ed25519",
	"RS256": "RSA",
	"PS256": "RSA",
}

// publicKey is a key that signs tokens of a provider.
type publicKey struct {
	key       any
	family    string
	algorithm string // the only algorithm of the key; empty: all of its family
}

func (k publicKey) signs(algorithm string) bool {
	return k.family == families[algorithm] && (k.algorithm == "" || k.algorithm == algorithm)
}

// familyOf returns the kind of a public key. It is empty for a key that is not accepted, such as a private one.
func familyOf(key any) string {
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		if k.Curve == elliptic.P256() || k.Curve == elliptic.P384() {
			return k.Curve.Params().Name
		}
	case *rsa.PublicKey:
		if k.N.BitLen() >= minRSABits {
			return "RSA"
		}
	case ed25519.PublicKey:
		return "Ed25519"
	}
	return ""
}

var errKeySet = errors.New("the answer is no JSON Web Key Set of a usual size")

// parseKeys reads the keys of a JWK set (RFC 7517) by key id. It skips keys that are malformed, weak, private, of
// another use or without an id. Of several keys with one id, the first that fits the algorithm of a token counts.
func parseKeys(body []byte) (map[string][]publicKey, error) {
	set, err := object(body)
	var keys []json.RawMessage
	if err != nil || json.Unmarshal(set["keys"], &keys) != nil || keys == nil || len(keys) > maxKeys {
		return nil, errKeySet
	}
	out := map[string][]publicKey{}
	for _, raw := range keys {
		if kid, key, ok := parseKey(raw); ok {
			out[kid] = append(out[kid], key)
		}
	}
	return out, nil
}

func parseKey(raw json.RawMessage) (kid string, key publicKey, ok bool) {
	members, err := object(raw)
	var k jose.JSONWebKey
	if err != nil || k.UnmarshalJSON(raw) != nil {
		return "", publicKey{}, false
	}
	key = publicKey{key: k.Key, family: familyOf(k.Key), algorithm: k.Algorithm}
	other := k.Use != "" && k.Use != "sig" ||
		members.has("key_ops") && !slices.Contains(members.list("key_ops"), "verify")
	return k.KeyID, key, k.KeyID != "" && key.family != "" && !other
}
