// Package keyring holds the rings of secret keys that sign URLs and hash credentials, and derives one key for each use.
//
// The JSON form of a set is {"content": ring, "links": ring, "pepper": ring, "seal": ring, "assertion": ring}. A ring
// is {"active": kid, "keys": [{"kid": 1..255, "k": base64url of at least 32 bytes, "state": "next|active|verify",
// "since": instant, "verify_until": instant}]}. Rotation (rotate.go) writes the two instants; a first key has neither.
package keyring

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

const (
	keyBytes  = 32
	seedChars = 43 // characters of an alphabet of 64 that hold 256 bits
)

// The states of a key. A key in state Next is distributed but does not sign yet. Active signs. Verify does not sign any
// more. Keys in all three states check.
const (
	Next   = "next"
	Active = "active"
	Verify = "verify"
)

// Set is the rings of one deployment.
type Set struct {
	Content Ring `json:"content"` // content and agent-view tokens
	Links   Ring `json:"links"`   // access-link blobs
	Pepper  Ring `json:"pepper"`  // hashes of credentials
	Seal    Ring `json:"seal"`    // cursors and stored secrets
	// Assertion signs the assertions of agent registrations with ES256; its private keys are derived from the secrets.
	Assertion Ring `json:"assertion"`
}

// Ring is the versions of one key.
type Ring struct {
	ActiveID byte  `json:"active"`
	Keys     []Key `json:"keys"`
}

// Key is one version.
type Key struct {
	ID     byte      `json:"kid"`
	Secret Secret    `json:"k"`
	State  string    `json:"state"`
	Since  time.Time `json:"since,omitzero"` // start of its state; zero: not recorded
	// VerifyUntil is when everything that a key in state Verify signed has expired; zero: only the operator can know.
	VerifyUntil time.Time `json:"verify_until,omitzero"`
}

// Secret is key material; it never prints its value.
type Secret []byte

// String hides the secret.
func (Secret) String() string { return "[secret]" }

// LogValue hides the secret from structured logs.
func (Secret) LogValue() slog.Value { return slog.StringValue("[secret]") }

// MarshalText writes base64url without padding.
func (s Secret) MarshalText() ([]byte, error) {
	return base64.RawURLEncoding.AppendEncode(nil, s), nil
}

// UnmarshalText reads base64url without padding.
func (s *Secret) UnmarshalText(text []byte) (err error) {
	*s, err = base64.RawURLEncoding.DecodeString(string(text))
	return err
}

// New makes a set with one fresh key in every ring.
func New() Set {
	return Set{
		Content:   newRing(),
		Links:     newRing(),
		Pepper:    newRing(),
		Seal:      newRing(),
		Assertion: newRing(),
	}
}

func newRing() Ring {
	return Ring{ActiveID: 1, Keys: []Key{{ID: 1, Secret: newSecret(), State: Active}}}
}

func newSecret() Secret {
	secret := make(Secret, keyBytes)
	rand.Read(secret)
	return secret
}

// Parse reads a set and refuses it unless every ring can sign, because a deployment with a bad ring must not start.
func Parse(data []byte) (Set, error) {
	var s Set
	if err := json.Unmarshal(data, &s); err != nil {
		return Set{}, errors.New("the key rings are not valid JSON")
	}
	for _, name := range Names() {
		if err := s.Ring(name).check(); err != nil {
			return Set{}, fmt.Errorf("key ring %q: %w", name, err)
		}
	}
	return s, nil
}

// ParseRing reads one ring. A new deployment has the generated form {"seed": text of at least 43 characters}. ParseRing
// reads it as a ring with one key until the first rotation writes the full form.
func ParseRing(data []byte) (Ring, error) {
	var born struct{ Seed string }
	if err := json.Unmarshal(data, &born); err != nil {
		return Ring{}, errors.New("the key ring is not valid JSON")
	}
	if born.Seed != "" {
		if len(born.Seed) < seedChars {
			return Ring{}, fmt.Errorf("the seed of the key ring is shorter than %d characters", seedChars)
		}
		secret := sha256.Sum256([]byte(born.Seed))
		return Ring{ActiveID: 1, Keys: []Key{{ID: 1, Secret: secret[:], State: Active}}}, nil
	}
	var r Ring
	if err := json.Unmarshal(data, &r); err != nil {
		return Ring{}, errors.New("the key ring is not valid JSON")
	}
	return r, r.check()
}

func (r Ring) check() error {
	seen := map[byte]bool{}
	for _, k := range r.Keys {
		switch {
		case k.ID == 0 || seen[k.ID]:
			return fmt.Errorf("key id %d is zero or named twice", k.ID)
		case len(k.Secret) < keyBytes:
			return fmt.Errorf("key %d is shorter than %d bytes", k.ID, keyBytes)
		case k.State != Next && k.State != Active && k.State != Verify:
			return fmt.Errorf("key %d has the unknown state %q", k.ID, k.State)
		case (k.State == Active) != (k.ID == r.ActiveID):
			return fmt.Errorf("the active key is %d but key %d says %q", r.ActiveID, k.ID, k.State)
		}
		seen[k.ID] = true
	}
	if !seen[r.ActiveID] {
		return fmt.Errorf("the active key %d is missing", r.ActiveID)
	}
	return nil
}

// Derived holds the keys of a ring for one use.
type Derived struct {
	active byte
	keys   map[byte][]byte
}

// Derive derives the keys of one use by HKDF-SHA-256 with info "vitrine/v1/<use>".
func (r Ring) Derive(use string) (Derived, error) {
	if len(r.Keys) == 0 {
		return Derived{}, fmt.Errorf("the key ring for %s is not configured", use)
	}
	d := Derived{active: r.ActiveID, keys: make(map[byte][]byte, len(r.Keys))}
	for _, k := range r.Keys {
		derived, err := hkdf.Key(sha256.New, k.Secret, nil, "vitrine/v1/"+use, keyBytes)
		if err != nil {
			return Derived{}, fmt.Errorf("derive the key for %s: %w", use, err)
		}
		d.keys[k.ID] = derived
	}
	return d, nil
}

// Active returns the key to sign with and its id.
func (d Derived) Active() (byte, []byte) { return d.active, d.keys[d.active] }

// Key returns the key with an id, or nil if the ring does not hold it.
func (d Derived) Key(kid byte) []byte { return d.keys[kid] }

// All returns every key of the ring, for hashes that do not name their key.
func (d Derived) All() [][]byte {
	all := make([][]byte, 0, len(d.keys))
	for _, k := range d.keys {
		all = append(all, k)
	}
	return all
}
