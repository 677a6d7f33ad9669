package stripe

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

var opened = sync.OnceValues(func() (*Document, error) { return OpenDocument(context.Background()) })

func document(t *testing.T) *Document {
	t.Helper()
	d, err := opened()
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// env is a stand-in that a test asks as the service does.
type env struct {
	*Standin
	url string
}

func newEnv(t *testing.T) *env {
	t.Helper()
	s := New(time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC), "")
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.At(server.URL)
	return &env{s, server.URL}
}

// ask sends a request of the API and returns the status and the body.
func (e *env) ask(t *testing.T, key, method, path string, form url.Values) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, e.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Idempotency-Key", form.Get("client_reference_id"))
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a.StatusCode, string(body)
}

func checkout(price string) url.Values {
	return url.Values{
		"line_items[0][price]":                      {price},
		"metadata[workspace_id]":                    {"w"},
		"subscription_data[metadata][workspace_id]": {"w"},
		"client_reference_id":                       {"key of " + price},
	}
}

func TestEverythingTheStandInSaysIsValid(t *testing.T) {
	d, e := document(t), newEnv(t)
	for _, price := range []string{Monthly, Yearly, "price_none"} {
		e.ask(t, Key, "POST", "/v1/checkout/sessions", checkout(price))
	}
	changed := checkout(Monthly)
	changed.Set("mode", "setup")
	if status, said := e.ask(t, Key, "POST", "/v1/checkout/sessions", changed); status != 400 {
		t.Errorf("a key of another request: %d %s", status, said)
	}
	var subs []string
	for id := range e.sessions {
		e.ask(t, Key, "GET", "/v1/checkout/sessions/"+id, nil)
		subs = append(subs, e.Pay(id))
		e.ask(t, Key, "GET", "/v1/checkout/sessions/"+id, nil)
	}
	for _, status := range []string{
		"trialing", "past_due", "unpaid", "incomplete", "incomplete_expired", "paused", "canceled", "active",
	} {
		e.Become(subs[0], status)
		e.ask(t, Key, "GET", "/v1/subscriptions/"+subs[0], nil)
	}
	e.Cancel(subs[1])
	e.Other("invoice.paid")
	e.Subscribe("cus_by_hand", "", "active")
	e.Advance(400 * 24 * time.Hour)
	customer := e.Customer(subs[0])
	for _, path := range []string{
		"/v1/subscriptions?status=all&limit=2", "/v1/subscriptions?customer=" + customer, "/v1/subscriptions/sub_none",
		"/v1/invoices?customer=" + customer, "/v1/invoices?customer=cus_none", "/v1/checkout/sessions/cs_none",
	} {
		e.ask(t, Key, "GET", path, nil)
	}
	for _, who := range []string{customer, "cus_none"} {
		e.ask(t, Key, "POST", "/v1/billing_portal/sessions", url.Values{"customer": {who}, "return_url": {"https://app.test"}})
	}
	e.ask(t, "sk_wrong", "GET", "/v1/invoices", nil)
	e.Break(true)
	e.ask(t, Key, "GET", "/v1/invoices", nil)

	routes := map[string]map[int]bool{}
	for _, a := range e.answers {
		if routes[a.Route] == nil {
			routes[a.Route] = map[int]bool{}
		}
		routes[a.Route][a.Status] = true
	}
	if len(routes) != 6 {
		t.Errorf("asked %v", routes)
	}
	for _, wrong := range d.Check(e.Standin) {
		t.Error(wrong)
	}
	t.Logf("%d answers and %d events", len(e.answers), len(e.made))
}

// TestTheDocumentFindsWhatStripeNeverSays takes a member away, invents one and changes one at a time.
func TestTheDocumentFindsWhatStripeNeverSays(t *testing.T) {
	d, e := document(t), newEnv(t)
	e.Subscribe("cus_1", "", "active")
	e.ask(t, Key, "GET", "/v1/subscriptions?status=all", nil)
	answer, made := e.answers[0], e.made[0]
	for was, is := range map[string]string{
		`"status":"active"`:        `"status":"dormant"`,
		`"livemode":false,`:        ``,
		`"cancel_at_period_end":`:  `"cancel_at_end":`,
		`"object":"subscription",`: `"object":"subscription","invented":1,`,
		`"currency":"usd"`:         `"currency":7`,
	} {
		worse := func(body []byte) []byte { return bytes.ReplaceAll(body, []byte(was), []byte(is)) }
		if bytes.Equal(worse(answer.Body), answer.Body) {
			t.Fatalf("%s is in no answer: %s", was, answer.Body)
		}
		if d.checkAnswer(Answer{answer.Route, answer.Status, worse(answer.Body)}) == nil {
			t.Errorf("an answer with %s for %s is valid", is, was)
		}
		if d.checkEvent(Event{Payload: worse(made.Payload)}) == nil {
			t.Errorf("an event with %s for %s is valid", is, was)
		}
	}
	if d.checkAnswer(Answer{"GET /v1/none", 200, answer.Body}) == nil {
		t.Error("an answer of a path that Stripe does not have is valid")
	}
}
