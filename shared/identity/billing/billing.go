// Package billing keeps the plan of a workspace in step with its subscription at a payment provider.
//
// The plan follows the status that the provider reports and never a clock of this service, because only the provider
// knows what a subscription is worth. Every change reads the stored account, then asks the provider, and commits only
// if the account has not changed since. Therefore the order in which events arrive does not matter.
package billing

import (
	"cmp"
	"slices"
	"time"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// The ids of the payment provider.
type (
	CustomerID     string
	SubscriptionID string
	SessionID      string // of a checkout
	EventID        string
)

// Status is the status of a subscription, as Stripe names it.
type Status string

// The statuses.
const (
	Active            Status = "active"
	Trialing          Status = "trialing"
	PastDue           Status = "past_due"
	Canceled          Status = "canceled"
	Unpaid            Status = "unpaid"
	Incomplete        Status = "incomplete"
	IncompleteExpired Status = "incomplete_expired"
	Paused            Status = "paused"
)

// Plan returns the plan that a subscription of this status gives.
func (s Status) Plan() workspace.Plan {
	switch s {
	case Active, Trialing, PastDue:
		return workspace.ProPlan
	default:
		return workspace.FreePlan
	}
}

// rank orders statuses by worth: 2 gives the larger plan, 1 would after a payment, and 0 has ended.
func (s Status) rank() int {
	switch {
	case s.Plan() == workspace.ProPlan:
		return 2
	case s == Unpaid || s == Incomplete || s == Paused:
		return 1
	default:
		return 0
	}
}

// Payable reports whether a subscription of this status may charge its customer.
func (s Status) Payable() bool { return s.rank() > 0 }

// Interval is how often a subscription is paid.
type Interval string

// The intervals.
const (
	Monthly Interval = "month"
	Yearly  Interval = "year"
)

// Subscription is a subscription as the provider reports it.
type Subscription struct {
	ID        SubscriptionID
	Customer  CustomerID
	Workspace id.Workspace // the workspace of its checkout; empty: it was made elsewhere
	Status    Status
	PeriodEnd time.Time // zero: unknown
	EndsAt    time.Time // when a cancelled subscription ends; zero: it renews
	Interval  Interval  // empty: neither month nor year
	CreatedAt time.Time
}

// Account is the stored billing state of a workspace. A zero Account with a workspace is that of a workspace that never
// paid.
type Account struct {
	Workspace    id.Workspace
	Customer     CustomerID
	Subscription SubscriptionID
	Status       Status
	PeriodEnd    time.Time
	EndsAt       time.Time
	Interval     Interval
	Override     workspace.Plan // the plan that an operator set; empty: none
	Version      int64          // counts the changes
	ClosedAt     time.Time      // when the removal of the workspace began; zero: it has not
}

// Plan returns the plan of the workspace: the operator's choice, or else that of the subscription.
func (a Account) Plan() workspace.Plan { return cmp.Or(a.Override, a.Status.Plan()) }

// Subscribed reports whether a subscription gives the larger plan, so that the workspace would pay twice for another.
func (a Account) Subscribed() bool { return a.Status.rank() == Active.rank() }

// Revivable reports whether a subscription does not give the larger plan now, but would after a payment.
func (a Account) Revivable() bool { return a.Status.rank() == Unpaid.rank() }

// follow returns the account with the subscription that counts: the one of highest rank, and of several the newest. An
// ended subscription therefore never replaces one that gives a plan.
func (a Account) follow(found []Subscription) Account {
	if len(found) == 0 {
		a.Subscription = ""
		a.Status = ""
		a.Interval = ""
		a.PeriodEnd = time.Time{}
		a.EndsAt = time.Time{}
		return a
	}
	s := slices.MaxFunc(found, func(x, y Subscription) int {
		worth := cmp.Compare(x.Status.rank(), y.Status.rank())
		return cmp.Or(worth, x.CreatedAt.Compare(y.CreatedAt), cmp.Compare(x.ID, y.ID))
	})
	a.Customer, a.Subscription = s.Customer, s.ID
	a.Status, a.Interval = s.Status, s.Interval
	a.PeriodEnd, a.EndsAt = s.PeriodEnd, s.EndsAt
	return a
}

// doubled reports whether the workspace pays for x, from a checkout of its own, in addition to the subscription that
// counts.
func (a Account) doubled(x Subscription) bool {
	return a.Subscribed() && x.ID != a.Subscription && x.Workspace == a.Workspace && x.Status.Plan() == workspace.ProPlan
}

// reflects reports whether the account needs no change because of a subscription.
func (a Account) reflects(s Subscription) bool {
	if a.Subscription != s.ID {
		return !a.doubled(s) && a.Subscription != "" && a.Status.rank() >= s.Status.rank()
	}
	return a.Customer == s.Customer && a.Status == s.Status && a.Interval == s.Interval &&
		a.PeriodEnd.Equal(s.PeriodEnd) && a.EndsAt.Equal(s.EndsAt)
}

// status returns the wire form. used counts today's first publications; nil: it is not shown.
func (a Account) status(l *limits.Limits, used *int) contract.BillingStatus {
	plan := a.Plan()
	allowance := l.Tiers[workspace.TierOf(plan)].NewArtifactsPerDay
	out := contract.BillingStatus{
		Plan:                      string(plan),
		OperatorOverride:          a.Override != "",
		DailyNewArtifactAllowance: allowance,
	}
	if a.Subscription != "" {
		out.Subscription = &contract.BillingSubscription{
			Status:           string(a.Status),
			CurrentPeriodEnd: contract.AtOrNull(a.PeriodEnd),
			PriceInterval:    textOrNull(string(a.Interval)),
		}
	}
	if used != nil {
		left := max(0, allowance-*used)
		out.DailyNewArtifactsRemaining = &left
	}
	return out
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
