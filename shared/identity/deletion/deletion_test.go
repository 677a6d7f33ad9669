package deletion_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/fake"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/deletion"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

var now = time.Date(2026, 11, 23, 6, 0, 0, 0, time.UTC)

// fakeStore has one workspace.
type fakeStore struct {
	fake.Outcomes // of the next requests and cancellations
	workspace     *workspace.Workspace
	requested     []deletion.Change
	cancelled     []deletion.Change
}

func (f *fakeStore) Workspace(context.Context, id.Workspace) (*workspace.Workspace, error) {
	if f.workspace == nil {
		return nil, nil
	}
	w := *f.workspace
	return &w, nil
}

func (f *fakeStore) Request(_ context.Context, c deletion.Change) error {
	f.requested = append(f.requested, c)
	return f.Next()
}

func (f *fakeStore) Cancel(_ context.Context, c deletion.Change) error {
	f.cancelled = append(f.cancelled, c)
	return f.Next()
}

func newEnv() (*deletion.Service, *fakeStore, credential.Actor) {
	w := workspace.Workspace{ID: id.NewWorkspace(), Name: "Harbour Survey", ClaimedAt: now.Add(-time.Hour)}
	f := &fakeStore{workspace: &w}
	by := credential.Actor{
		Member:          id.NewMember(),
		Scopes:          []credential.Scope{credential.Read, credential.Admin},
		AuthenticatedAt: now.Add(-time.Minute),
		Workspace:       w,
		RequestID:       "request-1",
	}
	return &deletion.Service{Store: f, Now: func() time.Time { return now }}, f, by
}

func TestAWorkspaceIsDeletedWhenItsMemberSaysSoAndCan(t *testing.T) {
	const own = "Harbour Survey"
	nothing := func(*fakeStore, *credential.Actor) {}
	for name, c := range map[string]struct {
		set     func(*fakeStore, *credential.Actor)
		confirm string
		want    fault.Code
	}{
		"its name":             {nothing, own, ""},
		"its name with spaces": {nothing, " " + own + "\n", ""},
		"another name":         {nothing, "harbour survey", fault.InvalidRequest},
		"no name":              {nothing, "", fault.InvalidRequest},
		"without the right to": {func(_ *fakeStore, by *credential.Actor) {
			by.Scopes = []credential.Scope{credential.Publish}
		}, own, fault.Forbidden},
		"with an old sign-in": {func(_ *fakeStore, by *credential.Actor) {
			by.AuthenticatedAt = now.Add(-limits.FreshSignIn)
		}, own, fault.Forbidden},
		"with an unknown sign-in": {func(_ *fakeStore, by *credential.Actor) {
			by.AuthenticatedAt = time.Time{}
		}, own, fault.Forbidden},
		"by a key": {func(_ *fakeStore, by *credential.Actor) { by.Member = "" }, own, fault.Forbidden},
		"that was locked": {func(f *fakeStore, _ *credential.Actor) {
			f.workspace.Lock = "lkd"
		}, own, fault.NotAuthenticated},
		"that is gone": {func(f *fakeStore, _ *credential.Actor) { f.workspace = nil }, own, fault.NotAuthenticated},
	} {
		t.Run(name, func(t *testing.T) {
			s, f, by := newEnv()
			c.set(f, &by)
			out, err := s.Request(t.Context(), by, c.confirm)
			expect.Code(t, err, c.want)
			if (len(f.requested) == 1) != (c.want == "") {
				t.Fatalf("%d requests", len(f.requested))
			}
			if c.want == "" && (out.Status != contract.WorkspaceDeleting ||
				!out.DeletesAt.Equal(now.Add(limits.DeletionGrace))) {
				t.Errorf("%+v, want it deleted after the grace", out)
			}
		})
	}
}

func TestARequestIsRecordedWithItsDay(t *testing.T) {
	s, f, by := newEnv()
	_, err := s.Request(t.Context(), by, "Harbour Survey")
	expect.Code(t, err, "")
	e := f.requested[0].Event
	if e.Action != event.DeletionRequested || e.Actor != event.ByMember(by.Member) || e.Workspace != by.Workspace.ID ||
		!strings.Contains(e.Detail, "2026-12-07") || e.RequestID != "request-1" {
		t.Errorf("%+v, want the request of the member, with its day", e)
	}
}

func TestASecondRequestIsTheFirst(t *testing.T) {
	s, f, by := newEnv()
	at := now.Add(time.Hour)
	f.Fails = []error{deletion.ErrMoved}
	f.OnCall = func() { f.workspace.DeletesAt = at }
	out, err := s.Request(t.Context(), by, "Harbour Survey")
	expect.Code(t, err, "")
	if len(f.requested) != 1 || !out.DeletesAt.Equal(at) {
		t.Errorf("%+v after %d requests, want the day of the first request", out, len(f.requested))
	}
}

func TestALostRaceEndsAfterSomeAttempts(t *testing.T) {
	s, f, by := newEnv()
	for range 10 {
		f.Fails = append(f.Fails, deletion.ErrMoved)
	}
	_, err := s.Request(t.Context(), by, "Harbour Survey")
	expect.Code(t, err, fault.DatabaseUnavailable)
	if len(f.requested) != 4 {
		t.Errorf("%d attempts", len(f.requested))
	}
}

func TestADeletionIsCancelledUntilItBegins(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*fakeStore, *credential.Actor)
		want fault.Code
		done int
	}{
		"in time":            {done: 1},
		"of one that stays":  {set: func(f *fakeStore, _ *credential.Actor) { f.workspace.DeletesAt = time.Time{} }},
		"with an old signin": {set: func(_ *fakeStore, by *credential.Actor) { by.AuthenticatedAt = time.Time{} }, done: 1},
		"after it has begun": {
			set: func(f *fakeStore, _ *credential.Actor) { f.workspace.RemovedAt = now }, want: fault.NotAuthenticated,
		},
		"of a locked one": {
			set:  func(f *fakeStore, _ *credential.Actor) { f.workspace.Lock = id.NewLockdown() },
			want: fault.NotAuthenticated,
		},
		"without the right to": {
			set:  func(_ *fakeStore, by *credential.Actor) { by.Scopes = []credential.Scope{credential.Read} },
			want: fault.Forbidden,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, f, by := newEnv()
			f.workspace.DeletesAt = now.Add(time.Hour)
			if c.set != nil {
				c.set(f, &by)
			}
			out, err := s.Cancel(t.Context(), by)
			expect.Code(t, err, c.want)
			if len(f.cancelled) != c.done {
				t.Errorf("%d cancellations", len(f.cancelled))
			}
			if c.want == "" && (out.Status != contract.WorkspaceActive || out.DeletesAt != nil) {
				t.Errorf("%+v, want it active", out)
			}
		})
	}
}

func TestTheStatusTellsTheDay(t *testing.T) {
	s, _, by := newEnv()
	if d := s.Status(by); d.Status != contract.WorkspaceActive || d.DeletesAt != nil ||
		d.Workspace.Name != "Harbour Survey" {
		t.Errorf("%+v, want it active, with its name", d)
	}
	by.Workspace.DeletesAt = now
	if d := s.Status(by); d.Status != contract.WorkspaceDeleting || !d.DeletesAt.Equal(now) {
		t.Errorf("%+v, want the day", d)
	}
}
