package limits

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
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
		"101":       {"per_minute": 101},
		"a text":    {"per_minute": "many"},
		"no number": {"per_minute": nil},
		"expired":   {"valid_until": p.Clock.Now().Add(-time.Hour)},
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
	p.Put(t, good, map[string]any{"per_minute": 1, "valid_until": p.Clock.Now().Add(time.Hour)})
	advanceToNextMinute(p)
	provisionN(t, p, 1)
	harness.WantRefused(t, harness.ProvisionAgain(t, p, nil), 429, fault.ProvisionRateLimited)
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

func TestT67WhatAHeaderClaimsIsNoAddress(t *testing.T) {
	t.Parallel()
	p := newProvisionEnv(t, func(*limits.Limits) {})
	most := p.Options.Limits.ProvisionAddress.Limit
	var last wire.Answer
	for n := range most + 1 {
		ip := fmt.Sprintf("203.0.113.%d", n)
		last = p.SendRaw(t, "api", "POST "+provisionRoute, "", "X-Forwarded-For: ::1, "+ip, "Forwarded: for="+ip,
			"X-Real-IP: "+ip, "True-Client-IP: "+ip, "CF-Connecting-IP: "+ip, "CloudFront-Viewer-Address: "+ip+":443",
			"X-Client-IP: "+ip)
		if n < most && last.Status != http.StatusCreated {
			t.Fatalf("provision %d answers %d %s", n+1, last.Status, last.Code())
		}
	}
	harness.WantRefused(t, last, 429, fault.ProvisionRateLimited)
	counters := 0
	for _, item := range p.Scan(t, p.Tables.Hot) {
		key := harness.Text(item["pk"])
		if strings.HasPrefix(key, "r:address:") {
			counters++
		}
		if strings.Contains(key, "127.0.0.1") || strings.Contains(key, "203.0.113") {
			t.Errorf("a counter is called %s", key)
		}
	}
	if counters != 1 {
		t.Errorf("one address has %d counters", counters)
	}
}

func TestAnAddressProvesWorkFromItsFourthWorkspaceInAMinute(t *testing.T) {
	d := harness.NewEnv(t)
	provision := func(body any, status int, code fault.Code) wire.Answer {
		t.Helper()
		a := harness.Do(t, d.Anyone, "POST", d.Origins.API+provisionRoute, body)
		if a.Status != status || a.Code() != code {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
		return a
	}
	for range limits.PowFree {
		provision(nil, 201, "")
	}
	proof := harness.Must(wire.Prove(ctx, provision(nil, 401, fault.PowRequired)))(t)
	if proof.Challenge.Difficulty != limits.PowBits {
		t.Errorf("%d bits", proof.Challenge.Difficulty)
	}
	wrong := proof
	wrong.Solution = &contract.Solution{Nonce: proof.Solution.Nonce, Counter: proof.Solution.Counter + 1}
	provision(wrong, 400, fault.PowInvalid)
	provision(proof, 201, "")
	provision(proof, 400, fault.PowInvalid)
}
