package delegation_test

import (
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"vitrine/scripts/testkit/tables"
	"vitrine/shared/identity/delegation"
)

func TestATokenThatRevokesMayBeSentAgain(t *testing.T) {
	s := &delegation.Service{Store: tables.New(t).Stores.Delegations, Now: time.Now}
	p := delegation.Principal{Issuer: "https://idp.example", Subject: "ada", Audience: "a"}
	first := delegation.Proof{
		Kind:     delegation.Event,
		Issuer:   p.Issuer,
		ID:       "jti-1",
		Digest:   sha256.Sum256([]byte("one")),
		IssuedAt: time.Now(),
		Until:    time.Now().Add(time.Hour),
	}
	other := first
	other.Digest = sha256.Sum256([]byte("another with its id"))
	for n, c := range []struct {
		proof delegation.Proof
		want  error
	}{{first, nil}, {first, nil}, {other, delegation.ErrReplayed}} {
		if err := s.Revoke(t.Context(), p, c.proof, "request"); !errors.Is(err, c.want) {
			t.Errorf("Revoke no. %d = %v, want %v", n+1, err, c.want)
		}
	}
}
