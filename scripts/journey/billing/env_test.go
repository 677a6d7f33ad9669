package billing

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/stripe"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

// mockURL is where stripe-mock answers.
var mockURL string

// document says what Stripe answers.
var document *stripe.Document

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	url, stop, err := stripe.StartMock(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "stripe-mock:", err)
		return 1
	}
	defer stop()
	mockURL = url
	if document, err = stripe.OpenDocument(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "Stripe's OpenAPI document:", err)
		return 1
	}
	return browser.Main(m)
}

// env is a deployment whose plans are bought at a stand-in. A member of a claimed workspace has published a page.
type env struct {
	*harness.LinkEnv
	Stripe *stripe.Standin
}

// newEnv starts a deployment.
func newEnv(t *testing.T, change ...func(*stack.Options)) *env {
	t.Helper()
	standin, sells := newSeller(t)
	return &env{harness.NewLinkEnv(t, append([]func(*stack.Options){sells}, change...)...), standin}
}

// newSeller starts a stand-in and the option for it. At the end stripe-mock must have taken every request to it, and
// everything that it said must be what Stripe says.
func newSeller(t *testing.T) (*stripe.Standin, func(*stack.Options)) {
	t.Helper()
	standin, sells := harness.NewSeller(t, mockURL)
	t.Cleanup(func() {
		refused, validated := standin.Refused()
		for _, r := range refused {
			t.Errorf("stripe-mock refuses %s", r)
		}
		for _, wrong := range document.Check(standin) {
			t.Error(wrong)
		}
		t.Logf("stripe-mock validated %d requests", validated)
	})
	return standin, sells
}

const (
	statusPath   = "/v1/web/billing"
	checkoutPath = statusPath + "/checkout"
	portalPath   = statusPath + "/portal"
	invoicesPath = statusPath + "/invoices"
	webhookPath  = "/v1/billing/webhook"
)

// renew gives the deployment another member, of a workspace that never paid.
func (e *env) renew(t *testing.T) {
	t.Helper()
	e.Agent = e.NewAgent(t)
	w := harness.TokenOf(t, e.Agent).Workspace
	e.Update(t, "W#"+string(w), "META", map[string]any{"claimed_at": e.Options.Now()})
	e.Member = e.AddMember(t, w)
}

// status returns what the member sees of the plan.
func (e *env) status(t *testing.T) contract.BillingStatus {
	t.Helper()
	return harness.CallAs[contract.BillingStatus](t, e.Member, 200, "GET", statusPath, nil)
}

// wantPlan checks the plan and the status of the subscription; empty: there is none.
func (e *env) wantPlan(t *testing.T, plan, subscription string) contract.BillingStatus {
	t.Helper()
	got, said := e.status(t), ""
	if got.Subscription != nil {
		said = got.Subscription.Status
	}
	if got.Plan != plan || said != subscription {
		t.Errorf("the plan is %s with a subscription that is %q, want %s and %q", got.Plan, said, plan, subscription)
	}
	policy := harness.Call[contract.UsagePolicy](t, e.Agent, 200, "GET", "/v1/usage-policy", nil)
	if want := map[string]int{"free": 100, "pro": 2000}[plan]; policy.DailyNewArtifactAllowance != want ||
		got.DailyNewArtifactAllowance != want {
		t.Errorf("the allowance is %d and is said to be %d, want %d", policy.DailyNewArtifactAllowance,
			got.DailyNewArtifactAllowance, want)
	}
	return got
}

// checkout opens a checkout and returns its session.
func (e *env) checkout(t *testing.T, interval string) string {
	t.Helper()
	page := harness.CallAs[contract.PageURL](t, e.Member, 200, "POST", checkoutPath,
		contract.CreateCheckout{Interval: interval}, harness.KeyHeader()...)
	return page.URL[strings.LastIndexByte(page.URL, '/')+1:]
}

// subscribe pays a checkout and returns the subscription, of which the service knows nothing yet.
func (e *env) subscribe(t *testing.T) string {
	t.Helper()
	return e.Stripe.Pay(e.checkout(t, "month"))
}

// send delivers an event as Stripe does.
func (e *env) send(t *testing.T, sent stripe.Event) wire.Answer {
	t.Helper()
	return send(t, e.Env, sent)
}

func send(t *testing.T, d *harness.Env, e stripe.Event) wire.Answer {
	t.Helper()
	return sendSigned(t, d, e.Payload, stripe.Sign(e.Payload, time.Now(), stripe.Secret))
}

// sendSigned delivers a payload with a header.
func (e *env) sendSigned(t *testing.T, payload []byte, signature string) wire.Answer {
	t.Helper()
	return sendSigned(t, e.Env, payload, signature)
}

func sendSigned(t *testing.T, d *harness.Env, payload []byte, signature string) wire.Answer {
	t.Helper()
	headers := []string{"Content-Type", "application/json"}
	if signature != "" {
		headers = append(headers, "Stripe-Signature", signature)
	}
	return harness.Do(t, d.Anyone, "POST", d.Origins.API+webhookPath, payload, headers...)
}

// deliver sends events and wants each to be received.
func (e *env) deliver(t *testing.T, events ...stripe.Event) {
	t.Helper()
	deliver(t, e.Env, events...)
}

func deliver(t *testing.T, d *harness.Env, events ...stripe.Event) {
	t.Helper()
	for _, e := range events {
		if a := send(t, d, e); a.Status != http.StatusOK || strings.TrimSpace(string(a.Body)) != `{"received":true}` {
			t.Errorf("%s: %d %s", e.Type, a.Status, a.Body)
		}
	}
}
