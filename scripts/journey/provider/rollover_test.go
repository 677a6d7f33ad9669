package provider

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"vitrine/scripts/journey/harness"
	idp "vitrine/scripts/testkit/idp/provider"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/limits"
)

// Load, and how much of it comes before the first change of keys, between two and after the last.
const (
	agents  = 4
	between = 24
	changes = 4
)

// TestKeysRollOverUnderLoad changes an issuer's keys several times while agents register all the time. Each assertion
// is signed with the newest key, and none is refused.
func TestKeysRollOverUnderLoad(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	issuer := p.Identity.Second
	p.Vouched(t, issuer, "ada@example.org")
	var (
		all   sync.WaitGroup
		taken atomic.Int64
		ended atomic.Bool
		steps = make(chan struct{}, 1<<12)
	)
	for range agents {
		all.Go(func() {
			for !ended.Load() {
				token, err := issuer.Assertion(idp.Assertion{Person: person("ada@example.org", "")})
				if err != nil {
					t.Error(err)
					return
				}
				a, err := p.TryPresent(token)
				if err != nil || a.Status != http.StatusOK {
					t.Errorf("after %d assertions one answers %d %s (%v)", taken.Load(), a.Status, a.Body, err)
				}
				taken.Add(1)
				steps <- struct{}{}
			}
		})
	}
	wait := func() {
		for range between {
			<-steps
		}
	}
	for range changes {
		wait()
		p.Clock.Advance(searchAgain)
		if err := issuer.RollOver(); err != nil {
			t.Error(err)
		}
	}
	wait()
	ended.Store(true)
	all.Wait()
	if n := p.Identity.Asked("/second/.well-known/jwks.json"); n != 1+changes {
		t.Errorf("the keys were read %d times for %d changes", n, changes)
	}
}

// TestT20InventedKeysCauseOneReadingAMinute floods the endpoint with tokens that no published key has signed.
func TestT20InventedKeysCauseOneReadingAMinute(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	issuer := p.Identity.Second
	const path = "/second/.well-known/jwks.json"
	p.Vouched(t, issuer, "ada@example.org")
	before := p.Identity.Asked(path)
	flood := func(h idp.Hostile) {
		t.Helper()
		got := atOnce(t, func() (wire.Answer, error) {
			token, err := issuer.Assertion(idp.Assertion{Person: person("ada@example.org", ""), Hostile: h})
			if err != nil {
				return wire.Answer{}, err
			}
			return p.TryPresent(token)
		})
		if got["Bad Request invalid_signature"] != askers {
			t.Errorf("%s: %v", h, got)
		}
	}
	for _, h := range []idp.Hostile{idp.OtherKey, idp.UnknownKey, idp.PathKey, idp.KeyURL, idp.UnknownKey} {
		flood(h)
	}
	if n := p.Identity.Asked(path) - before; n != 1 {
		t.Errorf("the keys were read %d times", n)
	}
	p.Vouched(t, issuer, "ada@example.org")
	p.Clock.Advance(searchAgain)
	flood(idp.UnknownKey)
	if n := p.Identity.Asked(path) - before; n != 2 {
		t.Errorf("a minute later the keys were read %d times", n)
	}
}

// TestAnnouncedKeysRollOverInAFlood changes an issuer's keys while tokens under invented keys use up all readings that
// an unknown key may cause. The new ones were published before, so that the usual reading has found them.
func TestAnnouncedKeysRollOverInAFlood(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	issuer := p.Identity.Second
	p.Vouched(t, issuer, "ada@example.org")
	harness.NoError(t, issuer.Announce())
	p.Clock.Advance(limits.MinKeySetLife)
	p.Vouched(t, issuer, "ada@example.org")
	invented := harness.Must(issuer.Assertion(idp.Assertion{
		Person:  person("ada@example.org", ""),
		Hostile: idp.UnknownKey,
	}))(t)
	wantError(t, "an invented key", p.Present(t, invented), http.StatusBadRequest, "invalid_signature")
	harness.NoError(t, issuer.RollOver())
	asked := p.Identity.Asked("/second/.well-known/jwks.json")
	p.Vouched(t, issuer, "ada@example.org")
	if n := p.Identity.Asked("/second/.well-known/jwks.json"); n != asked {
		t.Errorf("the keys were read %d times more", n-asked)
	}
}

// TestADroppedKeySignsNothingMore drops the old keys at once: what they signed is refused when the keys are read again.
func TestADroppedKeySignsNothingMore(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	issuer := p.Identity.Second
	p.Vouched(t, issuer, "ada@example.org")
	old := harness.Assertion(t, issuer, "ada@example.org")
	if err := issuer.Rotate(); err != nil {
		t.Fatal(err)
	}
	p.Vouched(t, issuer, "ada@example.org") // which has the keys read
	wantError(t, "an assertion under a dropped key", p.Present(t, old), http.StatusBadRequest, "invalid_signature")
}
