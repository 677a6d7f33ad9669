package abuse

import (
	"context"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
)

// fakeInbox has one report, and records what is handled.
type fakeInbox struct {
	report  Report
	handled []Report
	events  []event.Event
	err     error
	reads   int
}

func (f *fakeInbox) Reports(_ context.Context, _ id.Artifact, after string, _ int) ([]Report, string, error) {
	f.reads++
	if after == "" {
		return []Report{f.report}, "here", nil
	}
	return nil, "", nil
}

func (f *fakeInbox) Report(_ context.Context, a id.Artifact, place string) (*Report, error) {
	f.reads++
	if a != f.report.Artifact || place != f.report.Place() {
		return nil, nil
	}
	r := f.report
	return &r, nil
}

func (f *fakeInbox) Handle(_ context.Context, r Report, e event.Event) error {
	f.handled, f.events = append(f.handled, r), append(f.events, e)
	return f.err
}

func newInbox(t *testing.T) (*Inbox, *fakeInbox, credential.Actor) {
	t.Helper()
	cursors, err := cursor.New(keyring.New().Seal)
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeInbox{report: Report{
		ID:        id.NewReport(),
		Artifact:  id.NewArtifact(),
		Workspace: id.NewWorkspace(),
		Reporter:  "one",
		At:        noon.Add(-time.Hour),
	}}
	by := credential.Actor{Member: "mem", Operator: noon, Workspace: workspace.Workspace{ID: id.NewWorkspace()}}
	return &Inbox{Store: f, Cursors: cursors, Now: func() time.Time { return noon }}, f, by
}

func TestTheInboxGoesOnOnFurtherPagesOfOneList(t *testing.T) {
	s, f, by := newInbox(t)
	rows, next, err := s.List(t.Context(), by, "", cursor.Page{Limit: 1})
	if err != nil || len(rows) != 1 || next == "" {
		t.Fatalf("%+v %+v %v, want one row and a cursor", rows, next, err)
	}
	second := cursor.Page{Cursor: next, Limit: 1}
	if rows, next, err = s.List(t.Context(), by, "", second); err != nil || len(rows) != 0 || next != "" {
		t.Errorf("%+v %+v %v, want no row and no cursor", rows, next, err)
	}
	if _, _, err = s.List(t.Context(), by, f.report.Artifact, second); fault.CodeOf(err) != fault.InvalidCursor {
		t.Errorf("a cursor of another list: %v", err)
	}
	if _, _, err = s.List(t.Context(), by, "art_x", cursor.Page{}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a malformed id: %v", err)
	}
}

func TestAReportIsHandledOnceWithAnEvent(t *testing.T) {
	s, f, by := newInbox(t)
	a, place := f.report.Artifact, f.report.Place()
	if err := s.Handle(t.Context(), by, a, place); err != nil || len(f.handled) != 1 {
		t.Fatalf("%v %+v", err, f.handled)
	}
	r, e := f.handled[0], f.events[0]
	if !r.HandledAt.Equal(noon) || r.HandledBy != "mem" || e.Workspace != r.Workspace || e.Action != event.ReportHandled ||
		e.Detail != string(r.ID) || e.Actor != event.ByOperator("mem") || e.Target.ID != string(a) {
		t.Errorf("%+v %+v: want it handled by the operator", r, e)
	}
	f.err = ErrHandled
	if err := s.Handle(t.Context(), by, a, place); err != nil {
		t.Errorf("another operator was faster: %v", err)
	}
	f.report.HandledAt = noon
	if err := s.Handle(t.Context(), by, a, place); err != nil || len(f.handled) != 2 {
		t.Errorf("again: %v, %d", err, len(f.handled))
	}
	for _, wrong := range []string{"", "20260314#other"} {
		if err := s.Handle(t.Context(), by, a, wrong); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

func TestOnlyOperatorsReadReports(t *testing.T) {
	s, f, by := newInbox(t)
	by.Operator = time.Time{}
	_, _, err := s.List(t.Context(), by, "", cursor.Page{})
	expect.Code(t, err, fault.NotFound)
	expect.Code(t, s.Handle(t.Context(), by, f.report.Artifact, f.report.Place()), fault.NotFound)
	if f.reads > 0 {
		t.Errorf("%d reads", f.reads)
	}
}
