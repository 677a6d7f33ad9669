package billing

import (
	"context"
	"strings"
	"testing"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// fakeStore has one workspace.
type fakeStore struct {
	account Account
	updates []Update
	reads   int
	broken  error // of reading a plan
}

func (f *fakeStore) Account(_ context.Context, w id.Workspace) (Account, error) {
	f.reads++
	if w != f.account.Workspace {
		return Account{Workspace: w}, nil
	}
	return f.account, nil
}

func (f *fakeStore) Plan(_ context.Context, w id.Workspace) (workspace.Plan, error) {
	f.reads++
	if w != f.account.Workspace {
		return "", ErrNoWorkspace
	}
	return f.account.Plan(), f.broken
}

func (f *fakeStore) Holder(context.Context, CustomerID) (id.Workspace, error) { return "", nil }

func (f *fakeStore) Update(_ context.Context, u Update) error {
	if u.Account.Workspace != f.account.Workspace {
		return ErrNoWorkspace
	}
	f.account = u.Account
	f.updates = append(f.updates, u)
	return nil
}

func newEnv() (*Service, *fakeStore, credential.Actor) {
	f := &fakeStore{account: Account{
		Workspace:    id.NewWorkspace(),
		Customer:     "cus_1",
		Subscription: "sub_1",
		Status:       IncompleteExpired,
	}}
	numbers := limits.Default()
	s := &Service{Store: f, Limits: &numbers, Now: func() time.Time { return noon }}
	return s, f, credential.Actor{Member: "mem", Operator: noon.Add(-time.Minute), RequestID: "req"}
}

func TestAPlanIsGivenWithAReasonAndLifted(t *testing.T) {
	s, f, by := newEnv()
	for _, c := range []struct {
		plan, reason *string
		has          workspace.Plan
		detail       string
	}{
		{new("pro"), new(" a school "), "pro", "pro, because an operator chose it: a school"},
		{nil, new("the year is over"), "free", "free, because the subscription is incomplete expired: the year is over"},
		{new("free"), nil, "free", "free, because an operator chose it"},
	} {
		o := Override{Workspace: f.account.Workspace, Plan: c.plan, Reason: c.reason}
		got, err := s.SetPlan(t.Context(), by, idempotency.Command{}, nil, o)
		u := f.updates[len(f.updates)-1]
		if err != nil || got.Plan != string(c.has) || got.OperatorOverride != (c.plan != nil) || u.Plan != c.has {
			t.Errorf("%+v, %v, want the plan that it has now", got, err)
		}
		if e := u.Event; e == nil || e.Action != event.PlanUpdated || e.Detail != c.detail ||
			e.Actor != event.ByOperator("mem") {
			t.Errorf("recorded %+v", e)
		}
		granted, err := s.Granted(t.Context(), by, f.account.Workspace)
		if err != nil || granted.Has != c.has || granted.Status != IncompleteExpired {
			t.Errorf("%+v, %v, want the plan, and the subscription canceled", granted, err)
		}
	}
}

func TestAPlanIsNotGivenWithoutAReasonOrAWorkspace(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Override, *credential.Actor)
		want   fault.Code
	}{
		"no reason":      {func(o *Override, _ *credential.Actor) { o.Reason = new(" ") }, fault.InvalidRequest},
		"a long reason":  {func(o *Override, _ *credential.Actor) { o.Reason = new(strings.Repeat("x", 121)) }, fault.InvalidRequest},
		"another plan":   {func(o *Override, _ *credential.Actor) { o.Plan = new("gold") }, fault.InvalidRequest},
		"no workspace":   {func(o *Override, _ *credential.Actor) { o.Workspace = id.NewWorkspace() }, fault.NotFound},
		"a malformed id": {func(o *Override, _ *credential.Actor) { o.Workspace = "w" }, fault.NotFound},
		"a member":       {func(_ *Override, by *credential.Actor) { by.Operator = time.Time{} }, fault.NotFound},
		"an old sign-in": {func(_ *Override, by *credential.Actor) { by.Operator = noon.Add(-limits.OperatorFresh) }, fault.NotFound},
	} {
		s, f, by := newEnv()
		o := Override{Workspace: f.account.Workspace, Plan: new("pro"), Reason: new("a school")}
		c.change(&o, &by)
		if _, err := s.SetPlan(t.Context(), by, idempotency.Command{}, nil, o); fault.CodeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
		if len(f.updates) > 0 {
			t.Errorf("%s: stored %+v", name, f.updates)
		}
		_, err := s.Granted(t.Context(), by, o.Workspace)
		if c.want == fault.NotFound && fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%s: it is shown, %v", name, err)
		}
	}
}

func TestAPlanThatCannotBeReadIsNotShown(t *testing.T) {
	s, f, by := newEnv()
	f.broken = fault.NewCode(fault.DatabaseUnavailable)
	if granted, err := s.Granted(t.Context(), by, f.account.Workspace); fault.CodeOf(err) != fault.DatabaseUnavailable {
		t.Errorf("%+v, %v, want the database's refusal", granted, err)
	}
}

func TestASubscriptionThatEndsIsFollowed(t *testing.T) {
	end := noon.Add(limits.Day)
	x := Subscription{ID: "a", Status: Active, PeriodEnd: end}
	is := Account{}.follow([]Subscription{x})
	if !is.EndsAt.IsZero() || !is.reflects(x) || !is.Subscribed() || is.Revivable() {
		t.Errorf("%+v, want it subscribed, without an end", is)
	}
	x.EndsAt = end
	if is.reflects(x) {
		t.Error("a cancellation goes unnoticed")
	}
	if is = is.follow([]Subscription{x}); !is.EndsAt.Equal(end) {
		t.Errorf("%+v, want its end", is)
	}
	if is = is.follow(nil); !is.EndsAt.IsZero() {
		t.Errorf("%+v, want no end", is)
	}
}

func TestTheSubscriptionThatIsWorthMostCounts(t *testing.T) {
	early, late := time.Unix(1_800_000_000, 0), time.Unix(1_800_000_001, 0)
	for name, c := range map[string]struct {
		found []Subscription
		want  SubscriptionID
	}{
		"none":               {nil, ""},
		"one that has ended": {[]Subscription{{ID: "a", Status: Canceled}}, "a"},
		"a live one before a later end": {[]Subscription{
			{ID: "a", Status: PastDue, CreatedAt: early},
			{ID: "b", Status: Canceled, CreatedAt: late},
		}, "a"},
		"a live one before a paused one": {[]Subscription{
			{ID: "a", Status: Paused, CreatedAt: late},
			{ID: "b", Status: Active, CreatedAt: early},
		}, "b"},
		"an unpaid one before a later end": {[]Subscription{
			{ID: "a", Status: Unpaid, CreatedAt: early},
			{ID: "b", Status: IncompleteExpired, CreatedAt: late},
		}, "a"},
		"the later one of two that live": {[]Subscription{
			{ID: "a", Status: Active, CreatedAt: late},
			{ID: "b", Status: Active, CreatedAt: early},
		}, "a"},
	} {
		if got := (Account{Subscription: "before", Status: Active}).follow(c.found); got.Subscription != c.want {
			t.Errorf("%s: %q counts, want %q", name, got.Subscription, c.want)
		}
	}
}

func TestAnOperatorsPlanBeatsThatOfTheSubscription(t *testing.T) {
	for _, a := range []Account{
		{Status: Active},
		{Status: Trialing},
		{Status: PastDue},
		{Status: Canceled, Override: "pro"},
		{Override: "pro"},
	} {
		if got := a.Plan(); got != "pro" {
			t.Errorf("%+v has the plan %s", a, got)
		}
	}
	for _, a := range []Account{
		{},
		{Status: Unpaid},
		{Status: Paused},
		{Status: Incomplete},
		{Status: IncompleteExpired},
		{Status: Canceled},
		{Status: "unheard_of"},
		{Status: Active, Override: "free"},
	} {
		if got := a.Plan(); got != "free" {
			t.Errorf("%+v has the plan %s", a, got)
		}
	}
}

// fakeProvider has the subscriptions of all customers, and makes one customer.
type fakeProvider struct {
	Cashier
	Subscriptions
	store     *fakeStore
	found     []Subscription
	cancelled []SubscriptionID
	opened    []Checkout
	refuses   error // the next Cancel
}

func (f *fakeProvider) Customer(context.Context, id.Workspace) (CustomerID, error) {
	return "cus_1", nil
}

func (f *fakeProvider) Checkout(_ context.Context, c Checkout) (string, error) {
	if f.store.account.Customer != c.Customer {
		return "", ErrMoved
	}
	f.opened = append(f.opened, c)
	return "url", nil
}

func (f *fakeProvider) Of(context.Context, CustomerID) ([]Subscription, error) { return f.found, nil }

func (f *fakeProvider) Cancel(_ context.Context, s SubscriptionID) error {
	err := f.refuses
	if f.refuses = nil; err == nil {
		f.cancelled = append(f.cancelled, s)
	}
	return err
}

func TestACustomerIsStoredBeforeACheckoutIsOpened(t *testing.T) {
	s, f, by := newEnv()
	f.account = Account{Workspace: f.account.Workspace}
	p := &fakeProvider{store: f}
	s.Cashier, by.Workspace.ID, by.Scopes = p, f.account.Workspace, []credential.Scope{credential.Admin}
	for range 2 {
		if _, err := s.Checkout(t.Context(), by, idempotency.Command{}, Monthly); err != nil {
			t.Fatal(err)
		}
	}
	if len(f.updates) != 1 || len(p.opened) != 2 || p.opened[0].Customer != "cus_1" || p.opened[1].Customer != "cus_1" {
		t.Errorf("%+v, %+v: want one customer, opened twice", f.updates, p.opened)
	}
}

func TestASecondPaidSubscriptionIsCancelledBeforeTheCommit(t *testing.T) {
	s, f, _ := newEnv()
	w := f.account.Workspace
	p := &fakeProvider{refuses: fault.NewCode(fault.DatabaseUnavailable), found: []Subscription{
		{ID: "a", Workspace: w, Status: Active, CreatedAt: noon},
		{ID: "b", Workspace: w, Status: Active, CreatedAt: noon.Add(time.Minute)},
		{ID: "by hand", Status: Active, CreatedAt: noon},
		{ID: "unpaid", Workspace: w, Status: Unpaid},
	}}
	s.Subscriptions = p
	if _, err := s.sync(t.Context(), change{workspace: w, customer: "cus_1"}); err == nil || len(f.updates) > 0 {
		t.Errorf("%v, stored %+v", err, f.updates)
	}
	a, err := s.sync(t.Context(), change{workspace: w, customer: "cus_1"})
	if err != nil || a.Subscription != "b" || len(p.cancelled) != 1 || p.cancelled[0] != "a" {
		t.Errorf("%+v, %v, cancelled %v: want b, and a cancelled", a, err, p.cancelled)
	}
	want := "pro, because the subscription is active; cancelled as paid twice: a"
	if e := f.updates[0].Event; e == nil || e.Detail != want {
		t.Errorf("recorded %+v", e)
	}
	if a.reflects(p.found[0]) || !a.reflects(p.found[2]) {
		t.Error("a reconciliation sees no double payment, or one of a subscription that was made by hand")
	}
}
