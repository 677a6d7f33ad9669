package limits

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

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
	p.Clock.Advance(p.Clock.Now.Truncate(time.Minute).Add(time.Minute).Sub(p.Clock.Now))
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

func TestT66AnAddressMakesTenWorkspacesAMinute(t *testing.T) {
	t.Parallel()
	p := newProvisionEnv(t, func(*limits.Limits) {})
	provisionN(t, p, 10)
	before := p.Snapshot(t)
	harness.WantRefused(t, harness.ProvisionAgain(t, p, nil), 429, fault.ProvisionRateLimited)
	// before the body
	harness.WantRefused(
		t, harness.Do(t, p.Anyone, "POST", p.Origins.API+"/v1/ephemeral/provision", "{"), 429, fault.ProvisionRateLimited,
	)
	p.WantUnchanged(t, before)
	spendUntil(t, p, fault.ProvisionRateLimited, func() wire.Answer { return harness.ProvisionAgain(t, p, nil) })
}

func TestT66EverybodyTogetherHasALimit(t *testing.T) {
	t.Parallel()
	p := newProvisionEnv(t, func(l *limits.Limits) { l.ProvisionGlobal.Limit = 5 })
	provisionN(t, p, 5)
	spendUntil(t, p, fault.ProvisionRateLimited, func() wire.Answer { return harness.ProvisionAgain(t, p, nil) })
}

func TestT66TheGateLetsSeventeenThroughInACalendarMinute(t *testing.T) {
	t.Parallel()
	p := newProvisionEnv(t, func(l *limits.Limits) { l.ProvisionAddress.Limit = 1000 })
	p.Clock.Advance(20 * time.Second)
	provisionN(t, p, 17)
	before := p.Snapshot(t)
	a := harness.ProvisionAgain(t, p, nil)
	if harness.WantRefused(t, a, 429, fault.ProvisionRateLimited); harness.RetryAfter(t, a) != 40*time.Second {
		t.Errorf("20 s into the minute Retry-After is %s", harness.RetryAfter(t, a))
	}
	// a body that is none comes first
	harness.WantRefused(
		t, harness.Do(t, p.Anyone, "POST", p.Origins.API+"/v1/ephemeral/provision", "{"), 400, fault.InvalidRequest,
	)
	p.Clock.Advance(harness.RetryAfter(t, a) - time.Millisecond)
	if a := harness.ProvisionAgain(t, p, nil); harness.RetryAfter(t, a) != time.Second {
		t.Errorf("at the end of the minute Retry-After is %s", harness.RetryAfter(t, a))
	}
	p.WantUnchanged(t, before)
	p.Clock.Advance(time.Millisecond)
	provisionN(t, p, 17)
	harness.WantRefused(t, harness.ProvisionAgain(t, p, nil), 429, fault.ProvisionRateLimited)
}

func TestF78NobodyPassesAGateThatIsNotSetWell(t *testing.T) {
	t.Parallel()
	p := newProvisionEnv(t, func(l *limits.Limits) { l.ProvisionAddress.Limit = 1000 })
	provisionN(t, p, 1)
	good := harness.Must(p.DB.GetItem(ctx, &dynamodb.GetItemInput{TableName: &p.Tables.Core, Key: harness.Item{
		"pk": &types.AttributeValueMemberS{Value: "CFG#provision"}, "sk": &types.AttributeValueMemberS{Value: "C"},
	}}))(t).Item
	for name, set := range map[string]map[string]any{
		"missing":   nil,
		"0":         {"per_minute": 0},
		"below 0":   {"per_minute": -1},
		"101":       {"per_minute": 101},
		"a text":    {"per_minute": "many"},
		"no number": {"per_minute": nil},
		"expired":   {"valid_until": p.Clock.Now.Add(-time.Hour)},
	} {
		p.Put(t, good, map[string]any{"per_minute": 17, "valid_until": nil})
		advanceToNextMinute(p) // a setting is kept for some seconds
		provisionN(t, p, 1)
		p.Update(t, "CFG#provision", "C", set)
		advanceToNextMinute(p)
		before := p.Snapshot(t)
		a := harness.ProvisionAgain(t, p, nil)
		if harness.WantRefused(t, a, 503, fault.ProvisionUnavailable); harness.RetryAfter(t, a) != time.Minute {
			t.Errorf("%s: Retry-After is %s", name, harness.RetryAfter(t, a))
		}
		p.WantUnchanged(t, before)
	}
	p.Put(t, good, map[string]any{"per_minute": 1, "valid_until": p.Clock.Now.Add(time.Hour)})
	advanceToNextMinute(p)
	provisionN(t, p, 1)
	harness.WantRefused(t, harness.ProvisionAgain(t, p, nil), 429, fault.ProvisionRateLimited)
}

func TestT66F79WithoutItsStoreNoWorkspaceIsMade(t *testing.T) {
	t.Parallel()
	for name, down := range map[string]struct {
		rule func(*chaos.Injector) *chaos.Rule
		code fault.Code
	}{
		"the gate's setting": {func(i *chaos.Injector) *chaos.Rule {
			return i.On("GetItem").If(chaos.Key("pk", "CFG#provision"))
		}, fault.ProvisionUnavailable},
		"the gate's counter": {func(i *chaos.Injector) *chaos.Rule {
			return i.On("UpdateItem").If(chaos.Key("pk", "r:gate:"))
		}, fault.ProvisionUnavailable},
		"the address' counter": {func(i *chaos.Injector) *chaos.Rule {
			return i.On("UpdateItem").If(chaos.Key("pk", "r:address:"))
		}, fault.ProvisionUnavailable},
		"everybody's counter": {func(i *chaos.Injector) *chaos.Rule {
			return i.On("UpdateItem").If(chaos.Key("pk", "r:provision:"))
		}, fault.ProvisionUnavailable},
		"the transaction": {func(i *chaos.Injector) *chaos.Rule {
			return i.On("TransactWriteItems")
		}, fault.DatabaseUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvisionEnv(t, func(*limits.Limits) {})
			before := p.Snapshot(t)
			down.rule(p.Faults).Before(chaos.Fail(harness.ErrDown))
			harness.WantRefused(t, harness.ProvisionAgain(t, p, nil), 503, down.code)
			p.WantUnchanged(t, before)
			p.Clock.Advance(time.Minute)
			provisionN(t, p, 1)
		})
	}
}

func TestT67WhatComesFromElsewhereIsCountedTogether(t *testing.T) {
	t.Parallel()
	p := newProvisionEnv(t, func(l *limits.Limits) { l.ProvisionAddress.Limit = 2 })
	for range 2 {
		if a := p.SendRaw(t, "api", "POST /v1/ephemeral/provision", ""); a.Status != http.StatusCreated {
			t.Fatal(a.Status, a.Code())
		}
	}
	for _, spoof := range []string{
		"X-Forwarded-For: ::1", "X-Forwarded-For: 198.51.100.1, 198.51.100.2", "X-Real-IP: 198.51.100.1",
		"Forwarded: for=198.51.100.1",
	} {
		harness.WantRefused(
			t, p.SendRaw(t, "api", "POST /v1/ephemeral/provision", "", spoof), 429, fault.ProvisionRateLimited,
		)
	}
	for _, item := range p.Scan(t, p.Tables.Hot) {
		if key := harness.Text(item["pk"]); strings.HasPrefix(key, "r:address:") {
			for _, address := range []string{"127.0.0.1", "198.51.100"} {
				if strings.Contains(key, address) {
					t.Errorf("a counter is called %s", key)
				}
			}
		}
	}
}
