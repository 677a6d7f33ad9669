package billing

import (
	"strconv"
	"strings"
	"testing"

	"vitrine/functions/assembly/api"
	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
)

// reconcile runs what the schedule of a deployment runs every day.
func (e *env) reconcile(t *testing.T) {
	t.Helper()
	harness.NoError(t, api.Reconcile(e.Scheduled(t), e.Options.Log)(ctx))
}

// TestWhatNoEventToldIsReconciled loses all events of two workspaces, of which one is subscribed by hand.
func TestWhatNoEventToldIsReconciled(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	sub := s.subscribe(t)
	for range 120 { // more than a page, of strangers
		s.Stripe.Subscribe("cus_foreign", "", "active")
	}
	s.Stripe.Subscribe("cus_gone", "0b9a8f5e-6c1d-4e2f-8a3b-5c4d3e2f1a0b", "active")
	s.reconcile(t)
	s.wantPlan(t, "pro", "active")
	s.reconcile(t)
	if !strings.Contains(s.Log.String(), `"msg":"reconcile","read":122,"healed":1,"more":false`) ||
		!strings.Contains(s.Log.String(), `"msg":"reconcile","read":122,"healed":0,"more":false`) {
		t.Errorf("the log does not tell of one healed workspace, then of none")
	}
	s.Stripe.Become(sub, "canceled")
	s.reconcile(t)
	s.wantPlan(t, "free", "canceled")
	s.Stripe.Subscribe(s.Stripe.Customer(sub), "", "active") // an orphan of a known customer
	s.reconcile(t)
	got := harness.CallAs[contract.BillingStatus](t, s.Member, 200, "GET", statusPath, nil)
	if got.Plan != "pro" {
		t.Errorf("an orphan was not adopted: %+v", got)
	}
}

// TestASubscriptionOfAWorkspaceThatIsRemovedIsCancelled marks the account as the jobs do when a removal begins.
func TestASubscriptionOfAWorkspaceThatIsRemovedIsCancelled(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.subscribe(t)
	s.deliver(t, s.Stripe.Events()...)
	s.wantPlan(t, "pro", "active")
	account := s.GetItem(t, "W#"+string(s.Member.Workspace), "BILL")
	version, err := strconv.Atoi(harness.Text(account["version"]))
	harness.NoError(t, err)
	s.Update(t, "W#"+string(s.Member.Workspace), "BILL", map[string]any{"closed": s.Options.Now(), "version": version + 1})
	for range 2 { // the second finds nothing to do
		s.reconcile(t)
		s.wantPlan(t, "free", "canceled")
	}
}
