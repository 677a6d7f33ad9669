package app

import (
	"vitrine/functions/app/pages"
	"vitrine/shared/identity/billing"
)

// standings describe subscriptions by their statuses.
var standings = map[billing.Status]pages.Standing{
	billing.Active: {Name: "Active", Badge: "Live", When: "Renewed", Text: "The subscription is paid."},
	billing.Trialing: {
		Name:  "Trial",
		Badge: "Live",
		When:  "Trial ends",
		Text:  "The trial gives the Pro plan. Stripe takes the first payment at its end.",
	},
	billing.PastDue: {
		Name:    "Payment is late",
		Badge:   "Expired",
		When:    "Period ends",
		Trouble: true,
		Text: "The last payment failed. The Pro plan goes on while Stripe tries again; check your payment method before it " +
			"gives up.",
	},
	billing.Unpaid: {
		Name:    "Not paid",
		Badge:   "Revoked",
		Trouble: true,
		Text: "Stripe gave up on the last payment, so the workspace has the limits of the Free plan. What is there stays " +
			"as it is. The Pro plan comes back when the open invoice is paid.",
	},
	billing.Incomplete: {
		Name:    "First payment open",
		Badge:   "Expired",
		Trouble: true,
		Text: "The first payment did not go through, so the Pro plan has not begun. It begins when the payment is made; " +
			"otherwise the subscription lapses within a day, and another one can be started.",
	},
	billing.IncompleteExpired: {
		Name:  "Lapsed",
		Badge: "Ended",
		Text:  "The first payment was never made, so that subscription lapsed. Another one can be started.",
	},
	billing.Paused: {
		Name:    "Paused",
		Badge:   "Expired",
		Trouble: true,
		Text: "The subscription is paused, usually because a trial ended without a payment method. The workspace has the limits " +
			"of the Free plan until it goes on; what is there stays as it is.",
	},
	billing.Canceled: {
		Name:  "Ended",
		Badge: "Ended",
		Text: "The subscription has ended, so the workspace has the limits of the Free plan. What was published before " +
			"keeps its size, its pins and its expiry.",
	},
}

// intervals name how often a subscription is paid.
var intervals = map[billing.Interval]string{billing.Monthly: "monthly", billing.Yearly: "yearly"}

// standing describes the subscription of an account, nil if there is none.
func standing(a billing.Account) *pages.Standing {
	if a.Subscription == "" {
		return nil
	}
	s, known := standings[a.Status]
	if !known {
		s = pages.Standing{
			Name: "Not known",
			Text: "Stripe reports a status that this version of the service does not know. Until then the workspace has the Free plan.",
		}
	}
	s.Paid = intervals[a.Interval]
	if s.When != "" {
		s.At = a.PeriodEnd
	}
	if a.Subscribed() && !a.EndsAt.IsZero() {
		s.Name, s.Badge = "Cancelled", "Expired"
		s.When, s.At = "Ends", a.EndsAt
		s.Text = "The subscription is cancelled. The Pro plan goes on until its end, and nothing is charged after it."
	}
	return &s
}

// outcome describes the checkout that the browser returns from, nil if it returns from none.
func outcome(status string, a billing.Account) *pages.Standing {
	switch {
	case status == "cancelled":
		return &pages.Standing{Name: "Nothing was bought", Text: "You left the checkout before you paid. Nothing was charged."}
	case status != "success":
		return nil
	case a.Subscribed():
		return &pages.Standing{Name: "The Pro plan has begun", Text: "The payment has arrived. The larger limits apply from now on."}
	}
	return &pages.Standing{
		Name: "Waiting for Stripe",
		Text: "If you have paid, Stripe has not told us yet; it usually takes seconds. The plan changes by itself then, " +
			"whether this page is open or not. Do not pay again.",
		Reload: true,
	}
}
