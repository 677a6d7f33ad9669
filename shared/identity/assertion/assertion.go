// Package assertion signs and verifies the identity assertions that registered agents present at the token endpoint.
//
// The service is both their issuer and their audience. The tokens are JWTs signed with ES256, in compact form, with the
// header typ oauth-id-jag+jwt. Each key of the ring gives one P-256 key. All of them are published, so that verifiers
// know a key before it signs.
package assertion

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
)

const (
	maxToken   = 16 << 10 // in characters; a longer text is not parsed
	thumbChars = 12
	scalarSeed = 48 // bytes; 128 bits more than the order of the curve, so that the remainder has no bias
)

// ErrInvalid reports that a text is not a valid assertion of this service.
var ErrInvalid = errors.New("the assertion is not one of ours, or it does not hold now")

// Phase tells whether an assertion of an anonymous registration was made before or after its claim.
type Phase string

// Phases of anonymous registrations; other registrations have none.
const (
	PreClaim  Phase = "pre_claim"
	PostClaim Phase = "post_claim"
)

// Claims are the claims of an assertion. Instants have whole seconds.
type Claims struct {
	Registration id.Registration
	Type         string // how the agent registered: contract.AnonymousType or contract.AssertionIdentity
	Phase        Phase
	Scopes       []string
	Generation   int64        // of the registration
	Workspace    id.Workspace // where its access tokens work
	Epoch        int64        // of Workspace
	IssuedAt     time.Time
	ExpiresAt    time.Time
}

// payload is the wire form of the claims. An audience that is a list does not parse, because each member has one type.
type payload struct {
	Issuer         string          `json:"iss"`
	Audience       string          `json:"aud"`
	Subject        id.Registration `json:"sub"`
	RegistrationID id.Registration `json:"registration_id"`
	Type           string          `json:"registration_type"`
	Phase          Phase           `json:"anonymous_claim_state,omitempty"`
	Scopes         []string        `json:"scopes"`
	Generation     int64           `json:"gen"`
	Workspace      id.Workspace    `json:"workspace_id"`
	Epoch          int64           `json:"epoch"`
	ID             string          `json:"jti"`
	IssuedAt       int64           `json:"iat"`
	ExpiresAt      int64           `json:"exp"`
}

// Signer signs and verifies assertions of one issuer.
type Signer struct {
	issuer string
	active jose.Signer
	public map[string]*ecdsa.PublicKey
	jwks   []byte
}

// New returns a signer. It fails if the ring cannot sign.
func New(ring keyring.Ring, issuer string) (*Signer, error) {
	s := &Signer{issuer: issuer, public: map[string]*ecdsa.PublicKey{}}
	var set jose.JSONWebKeySet
	for _, k := range ring.Keys {
		private, err := derive(k.Secret)
		if err != nil {
			return nil, fmt.Errorf("derive assertion key %d: %w", k.ID, err)
		}
		jwk := jose.JSONWebKey{Key: &private.PublicKey, Algorithm: string(jose.ES256), Use: "sig"}
		thumb, err := jwk.Thumbprint(crypto.SHA256)
		if err != nil {
			return nil, fmt.Errorf("name assertion key %d: %w", k.ID, err)
		}
		jwk.KeyID = fmt.Sprintf("as%d-%s", k.ID, base64.RawURLEncoding.EncodeToString(thumb)[:thumbChars])
		set.Keys = append(set.Keys, jwk)
		s.public[jwk.KeyID] = &private.PublicKey
		if k.ID == ring.ActiveID {
			if s.active, err = signer(private, jwk.KeyID); err != nil {
				return nil, err
			}
		}
	}
	if s.active == nil {
		return nil, errors.New("the key ring for assertions has no active key")
	}
	var err error
	s.jwks, err = json.Marshal(set)
	return s, err
}

// derive maps a secret of the ring to a private key. The same secret always gives the same key.
func derive(secret keyring.Secret) (*ecdsa.PrivateKey, error) {
	seed, err := hkdf.Key(sha256.New, secret, nil, "vitrine/v1/assertion/p-256", scalarSeed)
	if err != nil {
		return nil, err
	}
	curve := elliptic.P256()
	most := new(big.Int).Sub(curve.Params().N, big.NewInt(1))
	scalar := new(big.Int).Mod(new(big.Int).SetBytes(seed), most)
	scalar.Add(scalar, big.NewInt(1)) // 1 to N-1
	return ecdsa.ParseRawPrivateKey(curve, scalar.FillBytes(make([]byte, curve.Params().BitSize/8)))
}

func signer(private *ecdsa.PrivateKey, kid string) (jose.Signer, error) {
	options := (&jose.SignerOptions{}).WithType(contract.AssertionType)
	return jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: private, KeyID: kid}}, options)
}

// JWKS returns all public keys of the ring as a JWK set (RFC 7517).
func (s *Signer) JWKS() []byte { return s.jwks }

// Sign returns an assertion.
func (s *Signer) Sign(c Claims) (string, error) {
	body, err := json.Marshal(payload{
		Issuer:         s.issuer,
		Audience:       s.issuer,
		Subject:        c.Registration,
		RegistrationID: c.Registration,
		Type:           c.Type,
		Phase:          c.Phase,
		Scopes:         c.Scopes,
		Generation:     c.Generation,
		Workspace:      c.Workspace,
		Epoch:          c.Epoch,
		ID:             rand.Text(),
		IssuedAt:       c.IssuedAt.Unix(),
		ExpiresAt:      c.ExpiresAt.Unix(),
	})
	if err != nil {
		return "", err
	}
	signed, err := s.active.Sign(body)
	if err != nil {
		return "", fmt.Errorf("sign an assertion: %w", err)
	}
	return signed.CompactSerialize()
}

// Verify returns the claims of an assertion that this service signed for itself and that is valid at now, give or take
// limits.AssertionLeeway. It returns ErrInvalid for every other text. Keys come from the ring only: Verify ignores a
// key in the header, or the address of one.
func (s *Signer) Verify(text string, now time.Time) (Claims, error) {
	if len(text) > maxToken || !canonical(text) {
		return Claims{}, ErrInvalid
	}
	// The algorithm is fixed, because a header that chooses HS256 would make the public key the secret.
	signed, err := jose.ParseSignedCompact(text, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil || len(signed.Signatures) != 1 {
		return Claims{}, ErrInvalid
	}
	header := signed.Signatures[0].Protected
	key, known := s.public[header.KeyID]
	if typ, _ := header.ExtraHeaders[jose.HeaderType].(string); !known || typ != contract.AssertionType {
		return Claims{}, ErrInvalid
	}
	body, err := signed.Verify(key)
	var p payload
	if err != nil || json.Unmarshal(body, &p) != nil || !s.holds(p, now) {
		return Claims{}, ErrInvalid
	}
	return Claims{
		Registration: p.Subject,
		Type:         p.Type,
		Phase:        p.Phase,
		Scopes:       p.Scopes,
		Generation:   p.Generation,
		Workspace:    p.Workspace,
		Epoch:        p.Epoch,
		IssuedAt:     time.Unix(p.IssuedAt, 0).UTC(),
		ExpiresAt:    time.Unix(p.ExpiresAt, 0).UTC(),
	}, nil
}

// canonical reports whether a text is three parts in the canonical spelling of their bytes. Decoders accept line ends
// and stray bits, but an assertion must have one spelling only.
func canonical(text string) bool {
	parts := strings.Split(text, ".")
	for _, part := range parts {
		raw, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil || base64.RawURLEncoding.EncodeToString(raw) != part {
			return false
		}
	}
	return len(parts) == 3
}

// holds checks issuer, audience and times.
func (s *Signer) holds(p payload, now time.Time) bool {
	leeway := limits.AssertionLeeway
	return p.Issuer == s.issuer && p.Audience == s.issuer && p.Subject.Valid() && p.ID != "" &&
		p.IssuedAt > 0 && !now.Add(leeway).Before(time.Unix(p.IssuedAt, 0)) &&
		now.Add(-leeway).Before(time.Unix(p.ExpiresAt, 0))
}
