package dynamo

import (
	"errors"
	"testing"
	"time"

	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/abuse"
)

// inboxOf reads a list to its end, in pages of two.
func inboxOf(t *testing.T, s Stores, a id.Artifact) (all []abuse.Report) {
	t.Helper()
	for after := ""; ; {
		rows, next, err := s.Reports.Reports(ctx, a, after, 2)
		if err != nil || len(rows) > 2 || next != "" && len(rows) != 2 {
			t.Fatalf("%d rows, next %q: %v", len(rows), next, err)
		}
		if all = append(all, rows...); next == "" {
			return all
		}
		after = next
	}
}

func TestTheInboxListsReportsInPages(t *testing.T) {
	s, at := newStore(t), now()
	a, b := id.NewArtifact(), id.NewArtifact()
	var all, ofA []abuse.Report // newest first
	for n := range 5 {
		r := reportOf([]id.Artifact{a, b}[n%2], "one", at.Add(-time.Duration(n)*limits.Day))
		noError(t, s.Reports.Add(ctx, r, eventOf(r)))
		if all = append(all, r); r.Artifact == a {
			ofA = append(ofA, r)
		}
	}
	wantSame(t, "all", inboxOf(t, s, ""), all, nil)
	wantSame(t, "those of an artifact", inboxOf(t, s, a), ofA, nil)
	wantSame(t, "those of another", len(inboxOf(t, s, id.NewArtifact())), 0, nil)
}

func TestAReportIsMarkedOnceOfTwenty(t *testing.T) {
	s, r := newStore(t), reportOf(id.NewArtifact(), "one", now())
	noError(t, s.Reports.Add(ctx, r, eventOf(r)))
	r.HandledAt, r.HandledBy = now(), id.NewMember()
	marked := winners(t, parallel.Calls(20, func(int) error { return s.Reports.Handle(ctx, r, eventOf(r)) }),
		func(err error) bool { return errors.Is(err, abuse.ErrHandled) })
	stored, err := s.Reports.Report(ctx, r.Artifact, r.Place())
	wantSame(t, "the report", stored, &r, err)
	if n := recordedIn(t, s, r.Workspace); marked != 1 || n != 2 { // it was reported, and handled
		t.Errorf("marked %d times, %d events", marked, n)
	}
	wantSame(t, "the inbox", inboxOf(t, s, ""), []abuse.Report{r}, nil)
	gone := reportOf(id.NewArtifact(), "one", now())
	if err := s.Reports.Handle(ctx, gone, eventOf(gone)); !errors.Is(err, abuse.ErrHandled) {
		t.Errorf("one that is gone: %v", err)
	}
}

func TestTheQuotaChangesFromWhatWasSeen(t *testing.T) {
	s := newStore(t)
	changed := func() event.Event {
		return event.Event{ID: id.NewEvent(), Workspace: id.NoWorkspace, At: now(), Action: event.QuotaUpdated}
	}
	to := func(n int) ephemeral.Quota { return ephemeral.Quota{PerMinute: n} }
	for n, step := range []struct {
		from, to int
		want     error
	}{
		{1, 17, ephemeral.ErrQuotaChanged}, {0, 17, nil}, {0, 18, ephemeral.ErrQuotaChanged},
		{16, 18, ephemeral.ErrQuotaChanged}, {17, 18, nil},
	} {
		if err := s.Workspaces.ChangeQuota(ctx, step.from, to(step.to), changed()); !errors.Is(err, step.want) {
			t.Errorf("step %d: %v", n, err)
		}
	}
	quota, err := s.Workspaces.Quota(ctx)
	wantSame(t, "the quota", quota, to(18), err)
	if n := recordedIn(t, s, id.NoWorkspace); n != 2 {
		t.Errorf("%d events", n)
	}
}

func TestHotArtifactsAreListedNewestFirstForAWhile(t *testing.T) {
	s, at := newStore(t), now()
	a, b, old := id.NewArtifact(), id.NewArtifact(), id.NewArtifact()
	for _, h := range []rate.Hot{
		{Artifact: old, At: at.Add(-time.Hour)}, {Artifact: b, At: at.Add(-50 * time.Minute)},
		{Artifact: a, At: at.Add(-11 * time.Minute)}, {Artifact: b, At: at.Add(-time.Minute)}, {Artifact: a, At: at},
	} {
		noError(t, s.Counters.Mark(ctx, h))
	}
	got, err := s.Counters.Hot(ctx, at.Add(-time.Hour), at)
	wantSame(t, "what is hot", got, []rate.Hot{{Artifact: a, At: at}, {Artifact: b, At: at.Add(-time.Minute)}}, err)
	got, err = s.Counters.Hot(ctx, at.Add(time.Hour), at.Add(2*time.Hour))
	wantSame(t, "later", len(got), 0, err)
}
