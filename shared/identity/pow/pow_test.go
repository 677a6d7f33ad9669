package pow

import (
	"context"
	"errors"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/keyring"
)

// fakeNonces keeps nonces in memory, because these tests are about the arithmetic; the tests of the store burn real
// ones.
type fakeNonces map[string]bool

func (n fakeNonces) Burn(_ context.Context, nonce string, _ time.Time) (bool, error) {
	fresh := !n[nonce]
	n[nonce] = true
	return fresh, nil
}

func newService(t *testing.T, now *time.Time) *Service {
	t.Helper()
	keys, err := keyring.New().Pepper.Derive("pow")
	expect.OK(t, err)
	return &Service{Keys: keys, Store: fakeNonces{}, Now: func() time.Time { return *now }}
}

// solved asks for a challenge and returns it with its solution.
func solved(t *testing.T, d *Service, difficulty int) (contract.Challenge, contract.Solution) {
	t.Helper()
	var required *Required
	err := error(d.Ask(difficulty, "many requests arrive"))
	if !errors.As(err, &required) || fault.CodeOf(err) != fault.PowRequired {
		t.Fatal(err)
	}
	s := contract.Solution{Nonce: required.Challenge.Nonce}
	for zeroBits(s.Nonce, s.Counter) < difficulty {
		s.Counter++
	}
	return required.Challenge, s
}

func TestASolutionIsAcceptedOnce(t *testing.T) {
	now := time.Now()
	d := newService(t, &now)
	c, s := solved(t, d, 8)
	if len(c.Nonce) != 22 {
		t.Errorf("nonce of %d characters", len(c.Nonce))
	}
	expect.OK(t, d.Check(context.Background(), c, s))
	if err := d.Check(context.Background(), c, s); fault.CodeOf(err) != fault.PowInvalid {
		t.Errorf("a used challenge: %v", err)
	}
}

func TestOnlyOurOwnLiveSolvedChallengesPass(t *testing.T) {
	now := time.Now()
	d := newService(t, &now)
	c, s := solved(t, d, 8)
	for name, change := range map[string]func(c *contract.Challenge, s *contract.Solution){
		"easier":   func(c *contract.Challenge, _ *contract.Solution) { c.Difficulty = 1 },
		"longer":   func(c *contract.Challenge, _ *contract.Solution) { c.ExpiresAt = contract.At(now.Add(time.Hour)) },
		"unsigned": func(c *contract.Challenge, _ *contract.Solution) { c.Signature = "" },
		"other nonce": func(c *contract.Challenge, s *contract.Solution) {
			c.Nonce = "AAAAAAAAAAAAAAAAAAAAAA"
			s.Nonce = c.Nonce
		},
		"other's":       func(_ *contract.Challenge, s *contract.Solution) { s.Nonce = "AAAAAAAAAAAAAAAAAAAAAA" },
		"wrong counter": func(_ *contract.Challenge, s *contract.Solution) { s.Counter = wrong(s.Nonce) },
	} {
		bad, answer := c, s
		change(&bad, &answer)
		if err := d.Check(context.Background(), bad, answer); fault.CodeOf(err) != fault.PowInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	now = now.Add(Life)
	if err := d.Check(context.Background(), c, s); fault.CodeOf(err) != fault.PowInvalid {
		t.Errorf("expired: %v", err)
	}
}

// wrong returns a counter that does not solve 8 bits.
func wrong(nonce string) (n uint64) {
	for zeroBits(nonce, n) >= 8 {
		n++
	}
	return n
}
