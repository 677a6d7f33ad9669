package deletion_test

import (
	"context"
	"strings"
	"testing"
	"time"

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

// fakeStore has one workspace. Each call of Request and Cancel takes the next error of fails, and runs onCall first.
type fakeStore struct {
	workspace *workspace.Workspace
	fails     []error
	onCall    func()
	requested []deletion.Change
	cancelled []deletion.Change
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
	return f.next()
}

func (f *fakeStore) Cancel(_ context.Context, c deletion.Change) error {
	f.cancelled = append(f.cancelled, c)
	return f.next()
}

func (f *fakeStore) next() (err error) {
	if f.onCall != nil {
		f.onCall()
	}
	if len(f.fails) > 0 {
		err, f.fails = f.fails[0], f.fails[1:]
	}
	return err
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

func wantCode(t *testing.T, err error, want fault.Code) {
	t.Helper()
	if got := fault.CodeOf(err); err == nil && want != "" || err != nil && got != want {
		t.Fatalf("refused with %v, want %q", err, want)
	}
}

func TestAWorkspaceIsDeletedWhenItsMemberSaysSoAndCan(t *testing.T) {
	for name, c := range map[string]struct {
		set     func(*fakeStore, *credential.Actor)
		confirm string
		want    fault.Code
	}{
		"its name":             {confirm: "Harbour Survey"},
		"its name with spaces": {confirm: " Harbour Survey\n"},
		"another name":         {confirm: "harbour survey", want: fault.InvalidRequest},
		"no name":              {want: fault.InvalidRequest},
		"without the right to": {
			set:     func(_ *fakeStore, by *credential.Actor) { by.Scopes = []credential.Scope{credential.Publish} },
			confirm: "Harbour Survey", want: fault.Forbidden,
		},
		"with an old sign-in": {
			set:     func(_ *fakeStore, by *credential.Actor) { by.AuthenticatedAt = now.Add(-limits.FreshSignIn) },
			confirm: "Harbour Survey", want: fault.Forbidden,
		},
		"with an unknown sign-in": {
			set:     func(_ *fakeStore, by *credential.Actor) { by.AuthenticatedAt = time.Time{} },
			confirm: "Harbour Survey", want: fault.Forbidden,
		},
		"by a key": {
			set:     func(_ *fakeStore, by *credential.Actor) { by.Member = "" },
			confirm: "Harbour Survey", want: fault.Forbidden,
		},
		"that was locked": {
			set:     func(f *fakeStore, _ *credential.Actor) { f.workspace.Lock = id.NewLockdown() },
			confirm: "Harbour Survey", want: fault.NotAuthenticated,
		},
		"that is gone": {
			set:     func(f *fakeStore, _ *credential.Actor) { f.workspace = nil },
			confirm: "Harbour Survey", want: fault.NotAuthenticated,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, f, by := newEnv()
			if c.set != nil {
				c.set(f, &by)
			}
			out, err := s.Request(t.Context(), by, c.confirm)
			wantCode(t, err, c.want)
			if (len(f.requested) == 1) != (c.want == "") {
				t.Fatalf("%d requests", len(f.requested))
			}
			if c.want == "" && (out.Status != contract.WorkspaceDeleting ||
				!out.DeletesAt.Equal(now.Add(limits.DeletionGrace))) {
				t.Errorf("%+v", out)
			}
		})
	}
}

func TestARequestIsRecordedWithItsDay(t *testing.T) {
	s, f, by := newEnv()
	_, err := s.Request(t.Context(), by, "Harbour Survey")
	wantCode(t, err, "")
	e := f.requested[0].Event
	if e.Action != event.DeletionRequested || e.Actor != event.ByMember(by.Member) || e.Workspace != by.Workspace.ID ||
		!strings.Contains(e.Detail, "2026-12-07") || e.RequestID != "request-1" {
		t.Errorf("%+v", e)
	}
}

func TestASecondRequestIsTheFirst(t *testing.T) {
	s, f, by := newEnv()
	at := now.Add(time.Hour)
	f.fails = []error{deletion.ErrMoved}
	f.onCall = func() { f.workspace.DeletesAt = at }
	out, err := s.Request(t.Context(), by, "Harbour Survey")
	wantCode(t, err, "")
	if len(f.requested) != 1 || !out.DeletesAt.Equal(at) {
		t.Errorf("%+v after %d requests", out, len(f.requested))
	}
}

func TestALostRaceEndsAfterSomeAttempts(t *testing.T) {
	s, f, by := newEnv()
	for range 10 {
		f.fails = append(f.fails, deletion.ErrMoved)
	}
	_, err := s.Request(t.Context(), by, "Harbour Survey")
	wantCode(t, err, fault.DatabaseUnavailable)
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
			wantCode(t, err, c.want)
			if len(f.cancelled) != c.done {
				t.Errorf("%d cancellations", len(f.cancelled))
			}
			if c.want == "" && (out.Status != contract.WorkspaceActive || out.DeletesAt != nil) {
				t.Errorf("%+v", out)
			}
		})
	}
}

func TestTheStatusTellsTheDay(t *testing.T) {
	s, _, by := newEnv()
	if d := s.Status(by); d.Status != contract.WorkspaceActive || d.DeletesAt != nil ||
		d.Workspace.Name != "Harbour Survey" {
		t.Errorf("%+v", d)
	}
	by.Workspace.DeletesAt = now
	if d := s.Status(by); d.Status != contract.WorkspaceDeleting || !d.DeletesAt.Equal(now) {
		t.Errorf("%+v", d)
	}
}
