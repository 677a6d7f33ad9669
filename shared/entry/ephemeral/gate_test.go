package ephemeral

import (
	"context"
	"testing"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

// fakeGate keeps a quota, which was never set while it is zero.
type fakeGate struct {
	quota  Quota
	events []event.Event
	window rate.Window
}

func (f *fakeGate) Quota(context.Context) (Quota, error) {
	if f.quota.PerMinute == 0 {
		return Quota{}, fault.NewCode(fault.ProvisionUnavailable)
	}
	return f.quota, nil
}

func (f *fakeGate) ChangeQuota(_ context.Context, from int, to Quota, e event.Event) error {
	if from != f.quota.PerMinute {
		return ErrQuotaChanged
	}
	f.quota, f.events = to, append(f.events, e)
	return nil
}

func (f *fakeGate) CountOf(_ context.Context, w rate.Window) (int, error) {
	f.window = w
	return 3, nil
}

func TestOperatorsSeeTheQuotaAndChangeWhatTheySaw(t *testing.T) {
	noon := time.Date(2026, 3, 14, 12, 0, 30, 0, time.UTC)
	f := &fakeGate{}
	g := &Gate{Store: f, Counters: f, Now: func() time.Time { return noon }}
	by := credential.Actor{Member: "mem", Operator: noon}
	if u, err := g.Quota(t.Context(), by); err != nil || u != (Usage{Made: 3}) {
		t.Errorf("before it is set: %+v, %v", u, err)
	}
	if err := g.SetQuota(t.Context(), by, 0, 17); err != nil {
		t.Fatal(err)
	}
	u, err := g.Quota(t.Context(), by)
	if err != nil || u.PerMinute != 17 || f.window != minute(noon) {
		t.Errorf("%+v, %v, counted in %+v, want 17 in this minute", u, err, f.window)
	}
	for name, c := range map[string]struct{ from, to int }{
		"too few": {17, 0}, "too many": {17, 101}, "from another number": {16, 20},
	} {
		if err := g.SetQuota(t.Context(), by, c.from, c.to); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
	if e := f.events[0]; len(f.events) != 1 || e.Action != event.QuotaUpdated || e.Detail != "from 0 to 17 a minute" ||
		e.Workspace != id.NoWorkspace || e.Actor != event.ByOperator("mem") {
		t.Errorf("%+v, want one event of the operator", f.events)
	}
	by.Operator = noon.Add(-limits.OperatorFresh)
	_, err1 := g.Quota(t.Context(), by)
	err2 := g.SetQuota(t.Context(), by, 17, 20)
	if fault.CodeOf(err1) != fault.NotFound || fault.CodeOf(err2) != fault.NotFound {
		t.Errorf("an old sign-in: %v, %v", err1, err2)
	}
}
