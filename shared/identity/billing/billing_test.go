package billing

import (
	"testing"
	"time"
)

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
		{Status: Canceled, Override: "pro"},
		{Override: "pro"},
	} {
		if got := a.Plan(); got != "pro" {
			t.Errorf("%+v has the plan %s", a, got)
		}
	}
	for _, a := range []Account{{}, {Status: Unpaid}, {Status: "unheard_of"}, {Status: Active, Override: "free"}} {
		if got := a.Plan(); got != "free" {
			t.Errorf("%+v has the plan %s", a, got)
		}
	}
}
