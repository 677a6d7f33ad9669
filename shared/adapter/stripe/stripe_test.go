package stripe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	stripe "github.com/stripe/stripe-go/v85"

	"vitrine/shared/identity/billing"
	"vitrine/shared/platform/contract"
)

func TestWhatAnInvoiceLacksIsNull(t *testing.T) {
	want := billing.Invoice{Invoice: contract.Invoice{ID: "in_1"}}
	if diff := cmp.Diff(want, invoiceRow(&stripe.Invoice{ID: "in_1"})); diff != "" {
		t.Errorf("invoiceRow of a bare invoice (-want +got)\n%s", diff)
	}
}

func TestTheEndOfACancelledSubscriptionIsRead(t *testing.T) {
	period, chosen := time.Unix(1_800_000_000, 0).UTC(), time.Unix(1_800_500_000, 0).UTC()
	for name, c := range map[string]struct {
		atEnd bool
		at    int64
		want  time.Time
	}{
		"renewed":                 {false, 0, time.Time{}},
		"cancelled with a period": {true, 0, period},
		"cancelled at an instant": {false, chosen.Unix(), chosen},
		"both":                    {true, chosen.Unix(), chosen},
	} {
		got := read(&stripe.Subscription{
			ID:                "sub_1",
			CancelAt:          c.at,
			CancelAtPeriodEnd: c.atEnd,
			Items: &stripe.SubscriptionItemList{
				Data: []*stripe.SubscriptionItem{{CurrentPeriodEnd: period.Unix()}},
			},
		})
		if !got.EndsAt.Equal(c.want) || !got.PeriodEnd.Equal(period) {
			t.Errorf("%s: ends at %v, the period at %v", name, got.EndsAt, got.PeriodEnd)
		}
	}
}
