package journey

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// crowded is a deployment at the start of a minute where nobody has to prove work.
func crowded(t *testing.T, change func(*limits.Limits)) *probe {
	t.Helper()
	p := limited(t, func(l *limits.Limits) {
		l.Pow = limits.PowOff
		change(l)
	})
	p.nextMinute()
	return p
}

// nextMinute moves the clock to a minute whose places are free.
func (p *probe) nextMinute() {
	p.clock.pass(p.clock.now.Truncate(time.Minute).Add(time.Minute).Sub(p.clock.now))
}

// provisions asks for workspaces and checks that all are made.
func (p *probe) provisions(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		if a := provisionAgain(t, p, nil); a.Status != http.StatusCreated {
			t.Fatalf("provision %d answers %d %s", i+1, a.Status, a.Code())
		}
	}
}

func TestT66AnAddressMakesTenWorkspacesAMinute(t *testing.T) {
	t.Parallel()
	p := crowded(t, func(*limits.Limits) {})
	p.provisions(t, 10)
	before := p.state(t)
	refused(t, provisionAgain(t, p, nil), 429, fault.ProvisionRateLimited)
	refused(t, do(t, p.anyone, "POST", p.Origins.API+"/v1/ephemeral/provision", "{"), 429, fault.ProvisionRateLimited) // before the body
	p.unchanged(t, before)
	p.spent(t, fault.ProvisionRateLimited, func() wire.Answer { return provisionAgain(t, p, nil) })
}

func TestT66EverybodyTogetherHasALimit(t *testing.T) {
	t.Parallel()
	p := crowded(t, func(l *limits.Limits) { l.ProvisionGlobal.Limit = 5 })
	p.provisions(t, 5)
	p.spent(t, fault.ProvisionRateLimited, func() wire.Answer { return provisionAgain(t, p, nil) })
}

func TestT66TheGateLetsSeventeenThroughInACalendarMinute(t *testing.T) {
	t.Parallel()
	p := crowded(t, func(l *limits.Limits) { l.ProvisionAddress.Limit = 1000 })
	p.clock.pass(20 * time.Second)
	p.provisions(t, 17)
	before := p.state(t)
	a := provisionAgain(t, p, nil)
	if refused(t, a, 429, fault.ProvisionRateLimited); wait(t, a) != 40*time.Second {
		t.Errorf("20 s into the minute Retry-After is %s", wait(t, a))
	}
	refused(t, do(t, p.anyone, "POST", p.Origins.API+"/v1/ephemeral/provision", "{"), 400, fault.InvalidRequest) // a body that is none comes first
	p.clock.pass(wait(t, a) - time.Millisecond)
	if a := provisionAgain(t, p, nil); wait(t, a) != time.Second {
		t.Errorf("at the end of the minute Retry-After is %s", wait(t, a))
	}
	p.unchanged(t, before)
	p.clock.pass(time.Millisecond)
	p.provisions(t, 17)
	refused(t, provisionAgain(t, p, nil), 429, fault.ProvisionRateLimited)
}

func TestF78NobodyPassesAGateThatIsNotSetWell(t *testing.T) {
	t.Parallel()
	p := crowded(t, func(l *limits.Limits) { l.ProvisionAddress.Limit = 1000 })
	p.provisions(t, 1)
	good := must(p.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &p.names.Core, Key: stored{
		"pk": &types.AttributeValueMemberS{Value: "CFG#provision"}, "sk": &types.AttributeValueMemberS{Value: "C"},
	}}))(t).Item
	for name, set := range map[string]map[string]any{
		"missing": nil, "0": {"per_minute": 0}, "below 0": {"per_minute": -1}, "101": {"per_minute": 101}, "a text": {"per_minute": "many"}, "no number": {"per_minute": nil},
		"expired": {"valid_until": p.clock.now.Add(-time.Hour)},
	} {
		p.put(t, good, map[string]any{"per_minute": 17, "valid_until": nil})
		p.nextMinute() // a setting is kept for some seconds
		p.provisions(t, 1)
		p.change(t, "CFG#provision", "C", set)
		p.nextMinute()
		before := p.state(t)
		a := provisionAgain(t, p, nil)
		if refused(t, a, 503, fault.ProvisionUnavailable); wait(t, a) != time.Minute {
			t.Errorf("%s: Retry-After is %s", name, wait(t, a))
		}
		p.unchanged(t, before)
	}
	p.put(t, good, map[string]any{"per_minute": 1, "valid_until": p.clock.now.Add(time.Hour)})
	p.nextMinute()
	p.provisions(t, 1)
	refused(t, provisionAgain(t, p, nil), 429, fault.ProvisionRateLimited)
}

func TestT66F79WithoutItsStoreNoWorkspaceIsMade(t *testing.T) {
	t.Parallel()
	for name, down := range map[string]struct {
		rule func(*chaos.Injector) *chaos.Rule
		code fault.Code
	}{
		"the gate's setting":   {func(i *chaos.Injector) *chaos.Rule { return i.On("GetItem").If(chaos.Key("pk", "CFG#provision")) }, fault.ProvisionUnavailable},
		"the gate's counter":   {func(i *chaos.Injector) *chaos.Rule { return i.On("UpdateItem").If(chaos.Key("pk", "r:gate:")) }, fault.ProvisionUnavailable},
		"the address' counter": {func(i *chaos.Injector) *chaos.Rule { return i.On("UpdateItem").If(chaos.Key("pk", "r:address:")) }, fault.ProvisionUnavailable},
		"everybody's counter":  {func(i *chaos.Injector) *chaos.Rule { return i.On("UpdateItem").If(chaos.Key("pk", "r:provision:")) }, fault.ProvisionUnavailable},
		"the transaction":      {func(i *chaos.Injector) *chaos.Rule { return i.On("TransactWriteItems") }, fault.DatabaseUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := crowded(t, func(*limits.Limits) {})
			before := p.state(t)
			down.rule(p.faults).Before(chaos.Fail(errDown))
			refused(t, provisionAgain(t, p, nil), 503, down.code)
			p.unchanged(t, before)
			p.clock.pass(time.Minute)
			p.provisions(t, 1)
		})
	}
}

func TestT67WhatComesFromElsewhereIsCountedTogether(t *testing.T) {
	t.Parallel()
	p := crowded(t, func(l *limits.Limits) { l.ProvisionAddress.Limit = 2 })
	for range 2 {
		if a := p.raw(t, "api", "POST /v1/ephemeral/provision", ""); a.Status != http.StatusCreated {
			t.Fatal(a.Status, a.Code())
		}
	}
	for _, spoof := range []string{"X-Forwarded-For: ::1", "X-Forwarded-For: 198.51.100.1, 198.51.100.2", "X-Real-IP: 198.51.100.1", "Forwarded: for=198.51.100.1"} {
		refused(t, p.raw(t, "api", "POST /v1/ephemeral/provision", "", spoof), 429, fault.ProvisionRateLimited)
	}
	for _, item := range p.all(t, p.names.Hot) {
		if key := text(item["pk"]); strings.HasPrefix(key, "r:address:") {
			for _, address := range []string{"127.0.0.1", "198.51.100"} {
				if strings.Contains(key, address) {
					t.Errorf("a counter is called %s", key)
				}
			}
		}
	}
}
