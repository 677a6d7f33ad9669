package billing

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/stripe"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// TestAPlanIsBoughtAndEndsWithItsPeriod follows a member from the upgrade to the end of the subscription.
func TestAPlanIsBoughtAndEndsWithItsPeriod(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.wantPlan(t, "free", "")
	harness.WantRefused(t, harness.TryAs(t, s.Member, "POST", portalPath, nil), 404, fault.NotFound)
	if none := harness.CallAs[contract.InvoiceList](t, s.Member, 200, "GET", invoicesPath, nil); len(none.Invoices) != 0 {
		t.Errorf("%+v before anything was paid", none)
	}

	session := s.checkout(t, "year")
	s.Stripe.Pay(session)
	back := harness.CallAs[contract.BillingStatus](t, s.Member, 200, "GET", statusPath+"/return?session_id="+session, nil)
	if back.Plan != "pro" || *back.Subscription.PriceInterval != "year" || back.DailyNewArtifactsRemaining == nil {
		t.Errorf("after the checkout: %+v %+v", back, back.Subscription)
	}
	s.wantPlan(t, "pro", "active")
	paid := harness.CallAs[contract.InvoiceList](t, s.Member, 200, "GET", invoicesPath, nil)
	if len(paid.Invoices) != 1 || paid.Invoices[0].AmountDue != 12000 || paid.Invoices[0].Currency != "usd" {
		t.Errorf("%+v, want one invoice of 120 USD", paid)
	}

	kept := s.useTheLargerPlan(t)
	sub := s.Stripe.Events()[0].Subscription
	harness.CallAs[contract.PageURL](t, s.Member, 200, "POST", portalPath, nil)
	s.Stripe.Cancel(sub)
	s.deliver(t, s.Stripe.Events()...)
	s.wantPlan(t, "pro", "active")

	s.Stripe.Advance(366 * limits.Day)
	s.deliver(t, s.Stripe.Events()...)
	s.wantPlan(t, "free", "canceled")
	kept.wantUnchanged(t, s)
	s.CheckInvariants(t)
}

// larger is what a workspace has that the smaller plan would not give.
type larger struct {
	before  contract.WebArtifact
	expires time.Time
}

// useTheLargerPlan pins an artifact, and lets another live for longer than the smaller plan allows.
func (e *env) useTheLargerPlan(t *testing.T) larger {
	t.Helper()
	harness.CallAs[contract.WebArtifact](t, e.Member, 200, "POST", harness.PinPath(e.Published.ArtifactID), nil,
		harness.KeyHeader()...)
	settings := contract.UpdateSettings{WorkspaceName: "Large", AutoDeletionDays: 60}
	harness.CallAs[contract.Settings](t, e.Member, 200, "PATCH", "/v1/web/settings", settings, harness.KeyHeader()...)
	settings.AutoDeletionDays = 91
	harness.WantRefused(t, harness.TryAs(t, e.Member, "PATCH", "/v1/web/settings", settings, harness.KeyHeader()...), 400,
		fault.InvalidRequest)
	long := harness.PublishPage(t, e.Agent, "long")
	row := harness.CallAs[contract.WebArtifact](t, e.Member, 200, "GET", "/v1/web/artifacts/"+string(long.ArtifactID), nil)
	if left := time.Until(row.AutoDeleteAt.Time); left < 59*limits.Day {
		t.Fatalf("the larger plan lets an artifact live for %v", left)
	}
	return larger{row, row.AutoDeleteAt.Time}
}

// wantUnchanged checks that everything is there as it was, and that what is new gets the smaller plan.
func (l larger) wantUnchanged(t *testing.T, s *env) {
	t.Helper()
	row := harness.CallAs[contract.WebArtifact](t, s.Member, 200, "GET", "/v1/web/artifacts/"+string(l.before.ID), nil)
	if !row.AutoDeleteAt.Equal(l.expires) || row.SizeBytes != l.before.SizeBytes || row.Status != "Published" {
		t.Errorf("the artifact was %+v and is %+v", l.before, row)
	}
	pinned := harness.CallAs[contract.WebArtifact](t, s.Member, 200, "GET",
		"/v1/web/artifacts/"+string(s.Published.ArtifactID), nil)
	if !pinned.Pinned || pinned.Status != "Published" {
		t.Errorf("the pinned artifact is %+v", pinned)
	}
	a := s.Get(t, s.Published.RevisionContentURL)
	if a.Status != http.StatusOK || !strings.Contains(string(a.Body), "shared") {
		t.Errorf("the page of the pinned artifact: %d %s", a.Status, a.Body)
	}
	short := harness.PublishPage(t, s.Agent, "short")
	row = harness.CallAs[contract.WebArtifact](t, s.Member, 200, "GET", "/v1/web/artifacts/"+string(short.ArtifactID), nil)
	if left := time.Until(row.AutoDeleteAt.Time); left > 7*limits.Day {
		t.Errorf("the smaller plan lets an artifact live for %v", left)
	}
}

func TestAnOperatorsPlanHoldsUntilItIsCleared(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	op := s.NewOperator(t)
	path := "/v1/web/admin/workspaces/" + string(s.Member.Workspace) + "/plan"
	set := func(plan any) {
		t.Helper()
		body := map[string]any{"plan": plan}
		a := harness.TryAs(t, op, "POST", path, body, harness.KeyHeader()...)
		if a.Status != 200 || strings.Contains(string(a.Body), "remaining") {
			t.Errorf("plan %v: %d %s", plan, a.Status, a.Body)
		}
	}
	set("pro")
	if got := s.wantPlan(t, "pro", ""); !got.OperatorOverride {
		t.Errorf("%+v, want the operator's override", got)
	}
	set("free")
	sub := s.subscribe(t)
	s.deliver(t, s.Stripe.Events()...)
	s.wantPlan(t, "free", "active")
	set(nil)
	s.wantPlan(t, "pro", "active")
	s.Stripe.Become(sub, "canceled")
	s.deliver(t, s.Stripe.Events()...)
	s.wantPlan(t, "free", "canceled")

	a := harness.TryAs(t, s.Member, "POST", path, map[string]any{"plan": "pro"}, harness.KeyHeader()...)
	harness.WantRefused(t, a, 404, fault.NotFound)
	s.CheckInvariants(t)
}

func TestACheckoutIsOpenedOnce(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	key := harness.KeyHeader()
	ask := func(interval string) wire.Answer {
		return harness.TryAs(t, s.Member, "POST", checkoutPath, contract.CreateCheckout{Interval: interval}, key...)
	}
	first, again := ask("month"), ask("month")
	if first.Status != 200 || string(first.Body) != string(again.Body) {
		t.Errorf("%d %s, then %d %s", first.Status, first.Body, again.Status, again.Body)
	}
	harness.WantRefused(t, ask("year"), 400, fault.InvalidIdempotencyKey)
	harness.WantRefused(t, harness.TryAs(t, s.Member, "POST", checkoutPath, contract.CreateCheckout{Interval: "week"},
		harness.KeyHeader()...), 400, fault.InvalidRequest)
	s.subscribe(t)
	s.deliver(t, s.Stripe.Events()...)
	harness.WantRefused(t, harness.TryAs(t, s.Member, "POST", checkoutPath, contract.CreateCheckout{Interval: "month"},
		harness.KeyHeader()...), 400, fault.InvalidRequest)
	reader := s.AddMember(t, s.Member.Workspace, "read")
	harness.WantRefused(t, harness.TryAs(t, reader, "POST", checkoutPath, contract.CreateCheckout{Interval: "month"},
		harness.KeyHeader()...), 403, fault.Forbidden)
	harness.WantRefused(t, harness.TryAs(t, reader, "POST", portalPath, nil), 403, fault.Forbidden)
}

func TestACheckoutOfAnotherWorkspaceChangesNothing(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	session := s.checkout(t, "month")
	s.Stripe.Pay(session)
	mine := s.Member
	s.renew(t)
	other := s.Member
	for _, id := range []string{session, "cs_none", "no/such"} {
		got := harness.CallAs[contract.BillingStatus](t, other, 200, "GET", statusPath+"/return?session_id="+id, nil)
		if got.Plan != "free" || got.Subscription != nil {
			t.Errorf("%s: %+v", id, got)
		}
	}
	harness.WantRefused(t, harness.TryAs(t, other, "GET", statusPath+"/return", nil), 400, fault.InvalidRequest)
	s.Member = mine
	if got := s.status(t); got.Plan != "free" || got.Subscription != nil {
		t.Errorf("the workspace of the checkout has %+v", got)
	}
}

func TestAProviderThatFailsIsToldAsSuch(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	s.subscribe(t)
	events := s.Stripe.Events()
	s.Stripe.Break(true)
	harness.WantRefused(t, s.send(t, events[0]), 503, fault.DatabaseUnavailable)
	harness.WantRefused(t, harness.TryAs(t, s.Member, "POST", checkoutPath, contract.CreateCheckout{Interval: "month"},
		harness.KeyHeader()...), 503, fault.DatabaseUnavailable)
	s.wantPlan(t, "free", "")
	s.Stripe.Break(false)
	s.deliver(t, events...)
	s.wantPlan(t, "pro", "active")
}

func TestWithoutAnAccountAtTheProviderNoRouteExists(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	for path, method := range map[string]string{
		statusPath: "GET", invoicesPath: "GET", statusPath + "/return?session_id=x": "GET", portalPath: "POST",
	} {
		harness.WantRefused(t, harness.TryAs(t, s.Member, method, path, nil), 404, fault.NotFound)
	}
	harness.WantRefused(t, harness.TryAs(t, s.Member, "POST", checkoutPath, contract.CreateCheckout{Interval: "month"},
		harness.KeyHeader()...), 404, fault.NotFound)
	harness.WantRefused(t, harness.TryAs(t, s.Member, "POST", checkoutPath, contract.CreateCheckout{Interval: "month"}), 400,
		fault.InvalidIdempotencyKey)
	payload := []byte(`{"id":"evt_1","object":"event","type":"customer.subscription.updated"}`)
	a := harness.Do(t, s.Anyone, http.MethodPost, s.Origins.API+webhookPath, payload, "Stripe-Signature",
		stripe.Sign(payload, time.Now(), stripe.Secret))
	harness.WantRefused(t, a, 404, fault.NotFound)
}
