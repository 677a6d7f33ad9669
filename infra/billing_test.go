package main

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"vitrine/functions/assembly"
	"vitrine/scripts/testkit/stripe"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// seller is a stand-in for Stripe.
type seller struct {
	*stripe.Standin
	url string
}

func newSeller(t *testing.T) *seller {
	t.Helper()
	s := &seller{Standin: stripe.New(time.Now(), "")}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	s.At(server.URL)
	return s
}

// account is what the api host is told of it.
func (s *seller) account() assembly.Billing {
	return assembly.Billing{
		Key:           stripe.Key,
		WebhookSecret: stripe.Secret,
		Monthly:       stripe.Monthly,
		Yearly:        stripe.Yearly,
		URL:           s.url,
	}
}

// buys subscribes the workspace of a member, and has the provider fail and repeat an event.
func (h *harness) buys(t *testing.T, m *wire.Agent) {
	t.Helper()
	const path = "/v1/web/billing"
	page := ask[contract.PageURL](t, m, "POST", path+"/checkout", contract.CreateCheckout{Interval: "month"},
		"Idempotency-Key", wire.NewKey())
	session := page.URL[strings.LastIndexByte(page.URL, '/')+1:]
	sub := h.sells.Pay(session)
	events := h.sells.Events()
	h.sells.Break(true)
	if a := h.notify(t, events[0]); a.Status != 503 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	h.sells.Break(false)
	h.sells.Subscribe("cus_foreign", "", "active")
	for _, e := range append(events, h.sells.Events()...) {
		if a := h.notify(t, e); a.Status != 200 {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	if got := ask[contract.BillingStatus](t, m, "GET", path+"/return?session_id="+session, nil); got.Plan != "pro" {
		t.Errorf("%+v, want the plan pro", got)
	}
	for _, read := range []string{path, path + "/invoices"} {
		ask[any](t, m, "GET", read, nil)
	}
	ask[any](t, m, "POST", path+"/portal", nil)
	h.sells.Become(sub, "canceled")
}

// subscribes buys a plan on the pages, and comes back from the checkout before any event does.
func (h *harness) subscribes(b *browser) {
	b.t.Helper()
	b.visit("/billing")
	b.submit("/billing/checkout", nil)
	session := regexp.MustCompile(`/pay/(cs_test_[0-9]+)`).FindStringSubmatch(b.page)[1]
	h.sells.Pay(session)
	b.visit("/billing?status=success&session_id=" + session)
	if !strings.Contains(b.page, "The Pro plan has begun") {
		b.t.Errorf("after the checkout: %s", b.page)
	}
	b.submit("/billing/portal", nil)
}

// notify delivers an event.
func (h *harness) notify(t *testing.T, e stripe.Event) wire.Answer {
	t.Helper()
	a, err := h.anyone.Do(t.Context(), "POST", h.anyone.At.APIURL+"/v1/billing/webhook", e.Payload, "Stripe-Signature",
		stripe.Sign(e.Payload, time.Now(), stripe.Secret))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestSubscriptionsAreReconciledEveryDay(t *testing.T) {
	eachHost(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		rules := tpl.of("AWS::Events::Rule")
		if host != "api" || !d.Billing.on() {
			if len(rules) > 0 {
				t.Errorf("%d rules wake it", len(rules))
			}
			return
		}
		same(t, "schedule", tpl.only(t, "AWS::Events::Rule").Properties["ScheduleExpression"], "cron(0 6 * * ? *)")
	})
}
