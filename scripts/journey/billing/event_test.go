package billing

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/stripe"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// orders are all orders of n things.
func orders(n int) (all [][]int) {
	var add func(chosen []int)
	add = func(chosen []int) {
		if len(chosen) == n {
			all = append(all, append([]int(nil), chosen...))
			return
		}
		for i := range n {
			if !strings.Contains(fmt.Sprint(chosen), fmt.Sprint(i)) {
				add(append(chosen, i))
			}
		}
	}
	add(nil)
	return all
}

// TestEventsInEveryOrderEndInTheRightState delivers what four changes of a subscription made, in each of 24 orders,
// each event twice, long after all of it happened.
func TestEventsInEveryOrderEndInTheRightState(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	for n, order := range orders(4) {
		last, plan := "canceled", "free"
		if n%2 == 1 {
			last, plan = "active", "pro"
		}
		s.renew(t)
		sub := s.subscribe(t)
		for _, status := range []string{"past_due", "unpaid", last} {
			s.Stripe.Become(sub, status)
		}
		events := s.Stripe.Events()
		for _, i := range order {
			s.deliver(t, events[i], events[i])
		}
		if got := s.status(t); got.Plan != plan || got.Subscription.Status != last {
			t.Errorf("in the order %v: %+v %+v, want %s", order, got, got.Subscription, last)
		}
	}
}

func TestAForgedEventChangesNothing(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.subscribe(t)
	payload := s.Stripe.Events()[0].Payload
	now := time.Now()
	old := now.Add(-limits.BillingTolerance - 2*time.Second)
	good := stripe.Sign(payload, now, stripe.Secret)
	for name, c := range map[string]struct {
		payload   string
		signature string
	}{
		"no signature":          {string(payload), ""},
		"another secret":        {string(payload), stripe.Sign(payload, now, "whsec_other")},
		"too old":               {string(payload), stripe.Sign(payload, old, stripe.Secret)},
		"another body":          {strings.Replace(string(payload), "active", "paused", 1), good},
		"a space more":          {string(payload) + " ", good},
		"another time":          {string(payload), "t=1" + strings.TrimPrefix(good, "t=")},
		"only an older version": {string(payload), strings.Replace(good, "v1=", "v0=", 1)},
		"words":                 {string(payload), "nonsense"},
	} {
		t.Run(name, func(t *testing.T) {
			harness.WantRefused(t, s.sendSigned(t, []byte(c.payload), c.signature), 400, fault.InvalidRequest)
		})
	}
	const begin = `{"id":"evt_1","object":"event","type":"customer.subscription.updated"`
	for name, text := range map[string]string{
		"no event":               `[]`,
		"no id":                  `{"object":"event","type":"customer.subscription.updated"}`,
		"an id that is no id":    `{"id":"evt/1","object":"event","type":"customer.subscription.updated"}`,
		"no subscription":        begin + `,"data":{"object":{}}}`,
		"a subscription with /.": begin + `,"data":{"object":{"object":"subscription","id":"../x"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			a := s.sendSigned(t, []byte(text), stripe.Sign([]byte(text), now, stripe.Secret))
			harness.WantRefused(t, a, 400, fault.InvalidRequest)
		})
	}
	s.wantPlan(t, "free", "")
	if n := s.CountItems(t, s.Tables.Core, "BE#"); n != 0 {
		t.Errorf("%d events are known", n)
	}
	if a := s.sendSigned(t, payload, good+",v1="+strings.Repeat("0", 64)); a.Status != http.StatusOK {
		t.Errorf("two signatures, of which one is good: %d %s", a.Status, a.Body)
	}
	s.wantPlan(t, "pro", "active")
}

func TestAnEventOfSomethingElseIsReceived(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.Stripe.Other("invoice.paid")
	s.Stripe.Subscribe("cus_foreign", "", "active")
	s.Stripe.Subscribe("cus_gone", "0b9a8f5e-6c1d-4e2f-8a3b-5c4d3e2f1a0b", "active")
	s.Stripe.Subscribe("cus_odd", "not a workspace", "active")
	s.deliver(t, s.Stripe.Events()...)
	s.wantPlan(t, "free", "")
	if n := s.CountItems(t, s.Tables.Core, "BC#"); n != 0 {
		t.Errorf("%d customers are known", n)
	}
}

// TestTwoCheckoutsLeaveOneSubscription has a workspace pay two checkouts that were opened before the first was paid. An
// event may tell of them, or no event does.
func TestTwoCheckoutsLeaveOneSubscription(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	one, two := s.checkout(t, "month"), s.checkout(t, "month")
	first := s.Stripe.Pay(one)
	s.deliver(t, s.Stripe.Events()...)
	s.Stripe.Advance(time.Minute)
	second := s.Stripe.Pay(two)
	if of := s.Stripe.Customer(first); of != s.Stripe.Customer(second) {
		t.Errorf("%s and %s are two customers", of, s.Stripe.Customer(second))
	}
	s.Stripe.Events() // are lost
	s.Clock.Advance(time.Second)
	s.reconcile(t)
	if was, is := s.Stripe.Status(first), s.Stripe.Status(second); was != "canceled" || is != "active" {
		t.Errorf("the first is %s, the second %s", was, is)
	}
	s.deliver(t, s.Stripe.Events()...)
	s.wantPlan(t, "pro", "active")
	rows := harness.CallAs[contract.OperatorEventList](t, s.NewOperator(t), 200, "GET",
		harness.RecordPath+"?action=workspace.plan.updated&focus=security", nil)
	if said := rows.Items[0].ChangeSummary; !strings.HasSuffix(said, "; cancelled as paid twice: "+first) {
		t.Errorf("operators read %q", said)
	}
	s.Stripe.Become(second, "canceled")
	s.deliver(t, s.Stripe.Events()...)
	s.wantPlan(t, "free", "canceled")
}

// TestDeliveriesAtOnceMakeOneChange sends one event many times at once. Those that meet the one at work are told to
// come again.
func TestDeliveriesAtOnceMakeOneChange(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.subscribe(t)
	e := s.Stripe.Events()[0]
	answers := make(chan int, 8)
	for range cap(answers) {
		go func() { answers <- s.send(t, e).Status }()
	}
	received := 0
	for range cap(answers) {
		switch status := <-answers; status {
		case http.StatusOK:
			received++
		case http.StatusServiceUnavailable:
		default:
			t.Errorf("status %d", status)
		}
	}
	if received == 0 {
		t.Error("no delivery was received")
	}
	s.deliver(t, e)
	s.wantPlan(t, "pro", "active")
	changes := 0
	for _, i := range s.Scan(t, s.Tables.Events) {
		if harness.Text(i["action"]) == "workspace.plan.updated" {
			changes++
		}
	}
	if changes != 1 {
		t.Errorf("%d changes of the plan", changes)
	}
}
