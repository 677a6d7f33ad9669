package billing

import (
	"bytes"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/stripe"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/limits"
)

// visitor is a member in a browser that runs no script of the pages.
type visitor struct {
	*harness.BackendEnv
	Stripe *stripe.Standin
	page   *browser.Page
}

// visit starts a deployment, signs a person in and goes to the page of the plan.
func visit(t *testing.T, email string) *visitor {
	t.Helper()
	standin, sells := newSeller(t)
	s := harness.NewBackendEnv(t, harness.Unlimited, sells)
	p := browser.Open(t)
	p.Go(s.Origins.App + "/api/auth/sign-in?returnPathname=/billing")
	p.SignIn(email)
	p.WaitText("Free plan")
	p.NoScripts()
	return &visitor{s, standin, p}
}

// wants loads the page of the plan and checks its text.
func (v *visitor) wants(t *testing.T, texts ...string) {
	t.Helper()
	v.page.Go(v.Origins.App + "/billing")
	said := v.page.Text("main")
	for _, want := range texts {
		if !strings.Contains(said, want) {
			t.Errorf("the page lacks %q:\n%s", want, said)
		}
	}
}

// key makes an API key on the page of keys, and returns an agent that has it.
func (v *visitor) key(t *testing.T) *wire.Agent {
	t.Helper()
	v.page.Go(v.Origins.App + "/keys")
	v.page.Fill("#name", "Build server")
	v.page.Follow("main button[type=submit]", "Copy it now")
	return &wire.Agent{HTTP: v.Anyone.HTTP, At: v.Anyone.At, Key: v.page.Text("#secret")}
}

const (
	monthly = `form:has([value=month]) button`
	manage  = `form[action="/billing/portal"] button`
)

// TestAPlanIsBoughtAndEndedInABrowser upgrades, uses the larger limits, cancels, and loses nothing at the end.
func TestAPlanIsBoughtAndEndedInABrowser(t *testing.T) {
	t.Parallel()
	v := visit(t, "ada@example.org")
	agent := v.key(t)
	large := wire.File{Path: "large.bin", Body: bytes.Repeat([]byte("large"), 11*limits.MiB/5)}
	if _, err := agent.PublishFiles(ctx, "Large", "", large); err == nil {
		t.Fatal("the smaller plan takes a file of 11 MiB")
	}

	v.wants(t, "No subscription", "Upgrade, paid yearly")
	v.page.Follow(monthly, "This is a stand-in for Stripe")
	v.page.Follow("form button", "The Pro plan has begun")
	if at := browser.Eval[string](&v.page.Document, "location.search"); at != "?status=success" {
		t.Errorf("the address keeps %q, so that loading it again asks Stripe again", at)
	}
	v.wants(t, "Pro plan", "Active", "Renewed", "2000", "12.00 USD", "STANDIN-")
	deliver(t, v.Env, v.Stripe.Events()...)
	made := harness.Must(agent.PublishFiles(ctx, "Large", "", large))(t)

	v.page.Click(manage)
	v.page.WaitText("This is a stand-in for Stripe")
	v.page.Follow("form button", "active until")
	deliver(t, v.Env, v.Stripe.Events()...)
	v.page.Follow("p a", "The subscription is cancelled")
	v.wants(t, "Pro plan", "Cancelled", "Ends")

	v.Stripe.Advance(32 * limits.Day)
	deliver(t, v.Env, v.Stripe.Events()...)
	v.wants(t, "Free plan", "has ended", "Upgrade, paid monthly", "12.00 USD")
	view := harness.Must(agent.AgentView(ctx, made.ArtifactID))(t)
	if got := harness.Do(t, agent, "GET", view.Files[0].URL, nil); !bytes.Equal(got.Body, large.Body) {
		t.Errorf("after the end of the plan the file answers %d with %d bytes", got.Status, len(got.Body))
	}
	if _, err := agent.PublishFiles(ctx, "Larger", "", large); err == nil {
		t.Error("the ended plan takes a file of 11 MiB")
	}
	v.page.Clean()
}

// TestAPaymentIsNotLostWhereTheWayBackFails has Stripe stop answering while the browser is at its page, so that only
// the event tells of the payment.
func TestAPaymentIsNotLostWhereTheWayBackFails(t *testing.T) {
	t.Parallel()
	v := visit(t, "edsger@example.org")
	v.Stripe.Break(true)
	v.page.Follow(monthly, "Stripe does not answer")
	v.wants(t, "Free plan", "No subscription")
	v.Stripe.Break(false)
	v.wants(t, "Upgrade, paid monthly")
	v.page.Follow(monthly, "This is a stand-in for Stripe")
	v.Stripe.Break(true)
	v.page.Follow("form button", "Waiting for Stripe")
	v.Stripe.Break(false)
	deliver(t, v.Env, v.Stripe.Events()...)
	v.page.Follow(`a[href="/billing?status=success"]`, "The Pro plan has begun")
	v.Stripe.Break(true)
	v.wants(t, "Pro plan", "so the invoices cannot be shown")
	v.page.Clean()
}
