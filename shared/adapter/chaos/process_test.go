package chaos_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"vitrine/shared/adapter/chaos"
)

// serve is a typical request for crash tests: two steps, and clean-up if the second fails.
func serve(ctx context.Context, d database) error {
	if err := d.put(ctx, "first"); err != nil {
		return err
	}
	if err := d.add(ctx, "second"); err != nil {
		return errors.Join(err, d.put(ctx, "clean-up"))
	}
	return nil
}

func TestADeadProcessHasNoEffectAnyMore(t *testing.T) {
	for name, c := range map[string]struct {
		rule func(*chaos.Rule) *chaos.Rule
		hits string
	}{
		"before the second step": {func(r *chaos.Rule) *chaos.Rule { return r.Before(chaos.Crash) }, "none"},
		"after the second step":  {func(r *chaos.Rule) *chaos.Rule { return r.After(chaos.Crash) }, "1"},
	} {
		t.Run(name, func(t *testing.T) {
			inj := chaos.For(t)
			d := newDatabase(t, inj)
			c.rule(inj.On("TransactWriteItems"))
			if err := serve(t.Context(), d); !errors.Is(err, chaos.ErrCrashed) {
				t.Errorf("error %v", err)
			}
			d.wantItem(t, "first", true)
			d.wantHits(t, "second", c.hits)
			d.wantItem(t, "clean-up", false)

			inj.Revive()
			if err := serve(t.Context(), d); err != nil {
				t.Errorf("after the restart: %v", err)
			}
		})
	}
}

func TestACallUnderWayDiesWithItsProcess(t *testing.T) {
	for name, c := range map[string]struct {
		hold   func(*chaos.Rule, ...chaos.Action) *chaos.Rule
		stored bool
	}{
		"before it is sent":    {(*chaos.Rule).Before, false},
		"after it took effect": {(*chaos.Rule).After, true},
	} {
		t.Run(name, func(t *testing.T) {
			inj := chaos.For(t)
			d := newDatabase(t, inj)
			release, done := make(chan struct{}), make(chan error)
			held := c.hold(inj.On("PutItem").If(chaos.Key("PK", "held")), chaos.Hold(release))
			inj.On("PutItem").If(chaos.Key("PK", "fatal")).Before(chaos.Crash)
			go func() { done <- d.put(t.Context(), "held") }()
			<-held.Reached()
			if err := d.put(t.Context(), "fatal"); !errors.Is(err, chaos.ErrCrashed) {
				t.Errorf("error %v", err)
			}
			inj.Revive()
			close(release)
			if err := <-done; !errors.Is(err, chaos.ErrCrashed) {
				t.Errorf("the held call: %v", err)
			}
			d.wantItem(t, "held", c.stored)
		})
	}
}

func TestAProcessDiesAlone(t *testing.T) {
	inj := chaos.For(t)
	d := newDatabase(t, inj)
	inj.On("TransactWriteItems").After(chaos.Crash)
	one, other := chaos.Process(t.Context()), chaos.Process(t.Context())
	if err := serve(one, d); !errors.Is(err, chaos.ErrCrashed) {
		t.Errorf("error %v", err)
	}
	if err := serve(other, d); err != nil {
		t.Errorf("the other process: %v", err)
	}
	if !chaos.Died(one) || chaos.Died(other) || chaos.Died(t.Context()) {
		t.Error("the wrong one died")
	}
	if inj.Revive(); !errors.Is(d.put(one, "again"), chaos.ErrCrashed) {
		t.Error("the dead one lives")
	}
}

func TestARequestWhoseProcessDiedGetsNoAnswer(t *testing.T) {
	inj := chaos.For(t)
	d := newDatabase(t, inj)
	server := httptest.NewServer(chaos.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := serve(r.Context(), d); err != nil {
			http.Error(w, "unavailable", http.StatusServiceUnavailable)
		}
	})))
	defer server.Close()
	inj.On("TransactWriteItems").After(chaos.Crash)
	if response, err := http.Post(server.URL, "", nil); err == nil {
		t.Errorf("answered %s", response.Status)
	}
	d.wantHits(t, "second", "1")
	response, err := http.Post(server.URL, "", nil)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("the next request: %v, %v", response, err)
	}
}
