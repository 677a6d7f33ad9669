package limits

import (
	"net/http"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

const provisionRoute = "/v1/ephemeral/provision"

// newProvisionEnv starts a deployment at the start of a minute, without proof of work.
func newProvisionEnv(t *testing.T, change func(*limits.Limits)) *harness.BackendEnv {
	t.Helper()
	p := newLimitEnv(t, func(l *limits.Limits) {
		l.Pow = limits.PowOff
		change(l)
	})
	advanceToNextMinute(p)
	return p
}

// advanceToNextMinute moves the clock to a minute in which all places are free.
func advanceToNextMinute(p *harness.BackendEnv) {
	p.Clock.Advance(p.Clock.Now().Truncate(time.Minute).Add(time.Minute).Sub(p.Clock.Now()))
}

// provisionN asks for workspaces and checks that all are made.
func provisionN(t *testing.T, p *harness.BackendEnv, n int) {
	t.Helper()
	for i := range n {
		if a := harness.ProvisionAgain(t, p, nil); a.Status != http.StatusCreated {
			t.Fatalf("provision %d answers %d %s", i+1, a.Status, a.Code())
		}
	}
}

func TestT66WorkspacesHaveLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		most   int
		change func(*limits.Limits)
		broken fault.Code // what a body is answered that is none
	}{
		"of an address":           {10, func(*limits.Limits) {}, fault.ProvisionRateLimited},
		"of everybody":            {5, func(l *limits.Limits) { l.ProvisionGlobal.Limit = 5 }, fault.ProvisionRateLimited},
		"of a minute of the gate": {17, func(l *limits.Limits) { l.ProvisionAddress.Limit = 1000 }, fault.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvisionEnv(t, c.change)
			provisionN(t, p, c.most)
			before := p.Snapshot(t)
			harness.WantRefused(t, harness.ProvisionAgain(t, p, nil), 429, fault.ProvisionRateLimited)
			if a := harness.Do(t, p.Anyone, "POST", p.Origins.API+provisionRoute, "{"); a.Code() != c.broken {
				t.Errorf("a body that is none answers %d %s", a.Status, a.Code())
			}
			p.WantUnchanged(t, before)
			spendUntil(t, p, fault.ProvisionRateLimited, func() wire.Answer { return harness.ProvisionAgain(t, p, nil) })
		})
	}
}

func TestF46T66F79WithoutItsStoreNoWorkspaceIsMade(t *testing.T) {
	t.Parallel()
	p := newProvisionEnv(t, func(*limits.Limits) {})
	for name, down := range map[string]struct {
		operation, key string
		code           fault.Code
	}{
		"the gate's setting":   {"GetItem", "CFG#provision", fault.ProvisionUnavailable},
		"the gate's counter":   {"UpdateItem", "r:gate:", fault.ProvisionUnavailable},
		"the address' counter": {"UpdateItem", "r:address:", fault.ProvisionUnavailable},
		"everybody's counter":  {"UpdateItem", "r:provision:", fault.ProvisionUnavailable},
		"the transaction":      {"TransactWriteItems", "", fault.DatabaseUnavailable},
	} {
		before := p.Snapshot(t)
		rule := p.Faults.On(down.operation)
		if down.key != "" {
			rule.If(chaos.Key("pk", down.key))
		}
		rule.Before(chaos.Fail(harness.ErrDown))
		a := harness.ProvisionAgain(t, p, nil)
		if harness.WantRefused(t, a, 503, down.code); t.Failed() {
			t.Fatal(name)
		}
		p.WantUnchanged(t, before)
		advanceToNextMinute(p)
		provisionN(t, p, 1)
		advanceToNextMinute(p)
	}
}
