// Package pow issues challenges for a proof of work and checks their solutions.
//
// A challenge is signed and not stored; only the nonce of a used one is. A counter solves a challenge if SHA-256 of
// "nonce:counter", the counter in decimal, begins with at least difficulty zero bits. The signature is base64url of
// HMAC-SHA-256 over "nonce.difficulty.expires", with the expiry in Unix milliseconds.
package pow

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"math/bits"
	"strconv"
	"time"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/keyring"
)

// Life is how long a challenge is valid.
const Life = 5 * time.Minute

const nonceBytes = 16 // 22 base64url characters

// Nonces stores used nonces.
type Nonces interface {
	// Burn marks a nonce as used until an instant. It returns false if the nonce was used before.
	Burn(ctx context.Context, nonce string, until time.Time) (bool, error)
}

// Service issues challenges and checks solutions.
type Service struct {
	Keys  keyring.Derived
	Store Nonces
	Now   func() time.Time
}

// Required is the error that carries a challenge.
type Required struct {
	*fault.Fault
	Challenge contract.Challenge
}

// Unwrap returns the fault.
func (r *Required) Unwrap() error { return r.Fault }

// Ask returns the error for a request that needs a proof of work. busy begins its message and says what is too
// frequent.
func (s *Service) Ask(difficulty int, busy string) *Required {
	raw := make([]byte, nonceBytes)
	rand.Read(raw)
	c := contract.Challenge{
		Nonce:      base64.RawURLEncoding.EncodeToString(raw),
		Difficulty: difficulty,
		ExpiresAt:  contract.At(s.Now().Add(Life).Truncate(time.Millisecond)),
	}
	_, key := s.Keys.Active()
	c.Signature = sign(key, c)
	return &Required{
		Fault: fault.New(fault.PowRequired,
			"%s: solve the challenge and send it back with its solution", busy),
		Challenge: c,
	}
}

// Check fails with pow_invalid unless solution solves c, and this deployment issued c, and c is neither expired nor
// used. It burns the nonce of a valid solution. The difficulty is that of the challenge, even if new challenges have
// another one by now.
func (s *Service) Check(ctx context.Context, c contract.Challenge, solution contract.Solution) error {
	now := s.Now()
	switch {
	case !s.ours(c):
		return invalid("the challenge is not one of ours")
	case !now.Before(c.ExpiresAt.Time):
		return invalid("the challenge expired; repeat the request without it to get another one")
	case solution.Nonce != c.Nonce || zeroBits(c.Nonce, solution.Counter) < c.Difficulty:
		return invalid("the solution does not solve the challenge")
	}
	// The nonce is burnt last, so that a wrong solution leaves the challenge usable.
	fresh, err := s.Store.Burn(ctx, c.Nonce, c.ExpiresAt.Time)
	if err != nil {
		return err
	}
	if !fresh {
		return invalid("the challenge was used before; repeat the request without it to get another one")
	}
	return nil
}

// ours reports whether a key of the ring signed the challenge.
func (s *Service) ours(c contract.Challenge) bool {
	for _, key := range s.Keys.All() {
		if hmac.Equal([]byte(sign(key, c)), []byte(c.Signature)) {
			return true
		}
	}
	return false
}

func sign(key []byte, c contract.Challenge) string {
	m := hmac.New(sha256.New, key)
	m.Write([]byte(c.Nonce + "." + strconv.Itoa(c.Difficulty) + "." + strconv.FormatInt(c.ExpiresAt.UnixMilli(), 10)))
	return base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

func zeroBits(nonce string, counter uint64) (zeros int) {
	for _, b := range sha256.Sum256(strconv.AppendUint([]byte(nonce+":"), counter, 10)) {
		zeros += bits.LeadingZeros8(b)
		if b != 0 {
			break
		}
	}
	return zeros
}

func invalid(why string) error { return fault.New(fault.PowInvalid, "%s", why) }
