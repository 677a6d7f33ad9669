package provider

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// statement is a token before it is signed. It is encoded here and not by a library, because no library signs what is
// malformed.
type statement struct {
	issuer *Issuer
	secret []byte // of the client, for ID tokens
	header map[string]any
	claims map[string]any
	key    any // nil: there is no signature
}

// defects change a statement, by the name of what is wrong with it.
type defects map[Hostile]func(*statement)

// names lists the defects in order.
func (d defects) names() []Hostile { return slices.Sorted(maps.Keys(d)) }

func (s *statement) signed(all defects, h Hostile) (string, error) {
	if h != Honest {
		spoil, ok := all[h]
		if !ok {
			return "", fmt.Errorf("nothing can be wrong like %q, only like one of %v", h, all.names())
		}
		spoil(s)
	}
	header, _ := json.Marshal(s.header) // texts, numbers and keys always marshal
	claims, _ := json.Marshal(s.claims)
	encode := base64.RawURLEncoding.EncodeToString
	input := encode(header) + "." + encode(claims)
	signature, err := signature(s.key, []byte(input))
	return input + "." + encode(signature), err
}

// signature signs as the kind of the key says: RS256, ES256, HS256 or none.
func signature(key any, input []byte) ([]byte, error) {
	sum := sha256.Sum256(input)
	switch key := key.(type) {
	case *rsa.PrivateKey:
		return rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:])
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, key, sum[:])
		if err != nil {
			return nil, err
		}
		size := (key.Curve.Params().BitSize + 7) / 8
		return append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...), nil
	case []byte:
		mac := hmac.New(sha256.New, key)
		mac.Write(input)
		return mac.Sum(nil), nil
	case nil:
		return nil, nil
	}
	return nil, fmt.Errorf("%T is no key", key)
}

// claim returns the defect of a claim; nil removes it.
func claim(name string, value any) func(*statement) {
	return func(s *statement) {
		if s.claims[name] = value; value == nil {
			delete(s.claims, name)
		}
	}
}

// member returns the defect of a header's member.
func member(name string, value any) func(*statement) {
	return func(s *statement) { s.header[name] = value }
}

// moment returns the defect of a time that is this far from now.
func moment(name string, from time.Duration) func(*statement) {
	return func(s *statement) { s.claims[name] = s.issuer.now().Add(from).Unix() }
}

// both joins defects.
func both(all ...func(*statement)) func(*statement) {
	return func(s *statement) {
		for _, one := range all {
			one(s)
		}
	}
}
