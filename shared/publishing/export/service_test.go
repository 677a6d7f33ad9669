package export

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/addresses"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/tree"
)

var now = time.Date(2026, 11, 22, 18, 0, 0, 0, time.UTC)

// fakeStore has the export of one workspace.
type fakeStore struct {
	export  *Export
	created []Creation
	noops   []Creation
	races   []*Export // what others store before the next writes
	err     error
}

func (f *fakeStore) Export(context.Context, id.Workspace) (*Export, error) {
	if f.export == nil {
		return nil, f.err
	}
	e := *f.export
	return &e, f.err
}

// overtaken stores what another request wrote in between.
func (f *fakeStore) overtaken() bool {
	if len(f.races) == 0 {
		return false
	}
	f.export, f.races = f.races[0], f.races[1:]
	return true
}

func (f *fakeStore) Create(_ context.Context, c Creation) error {
	if f.overtaken() {
		return ErrMoved
	}
	f.created = append(f.created, c)
	f.export = &c.Export
	return nil
}

func (f *fakeStore) RecordNoop(_ context.Context, c Creation) error {
	if f.overtaken() {
		return ErrMoved
	}
	f.noops = append(f.noops, c)
	return nil
}

// counters count in memory.
type counters map[string]int

func (c counters) Count(_ context.Context, w rate.Window, add, limit int) (int, bool, error) {
	name := w.Kind + w.Subject + w.Start.String()
	if c[name]+add > limit {
		return c[name], false, nil
	}
	c[name] += add
	return c[name], true, nil
}

// env is a service with a member who has just signed in.
type env struct {
	*Service
	store *fakeStore
	by    credential.Actor
}

func newEnv(t *testing.T) *env {
	t.Helper()
	l := limits.Default()
	store := &fakeStore{}
	clock := func() time.Time { return now }
	return &env{
		store: store,
		Service: &Service{
			Store:   store,
			Limiter: &rate.Limiter{Counters: counters{}, Limits: &l, Now: clock},
			URLs:    addresses.New(t),
			Limits:  &l,
			Now:     clock,
		},
		by: credential.Actor{
			Member:          id.NewMember(),
			Scopes:          []credential.Scope{credential.Admin},
			AuthenticatedAt: now.Add(-time.Minute),
			Workspace:       workspace.Workspace{ID: id.NewWorkspace(), ClaimedAt: now},
		},
	}
}

func (e *env) request() (Export, error) {
	return e.Request(context.Background(), e.by, idempotency.Command{}, nil)
}

// in returns an export of the env's workspace in a state.
func (e *env) in(s Status) *Export {
	return &Export{
		ID:        id.NewExport(),
		Workspace: e.by.Workspace.ID,
		Status:    s,
		CreatedAt: now.Add(-time.Hour),
		EndedAt:   now.Add(-time.Minute),
		ExpiresAt: now.Add(time.Minute),
		Volumes:   []Volume{{Size: 5, SHA256: tree.DigestOf("one")}, {Size: 7, SHA256: tree.DigestOf("two")}},
	}
}

func TestAMemberAsksForAnExport(t *testing.T) {
	e := newEnv(t)
	got, err := e.request()
	if err != nil || got.Status != Pending || got.Member != e.by.Member || !got.CreatedAt.Equal(now) {
		t.Fatalf("%+v, %v, want it pending, of the member", got, err)
	}
	c := e.store.created[0]
	if c.Replaces != nil || c.Export.ID != got.ID || c.Event.Action != event.ExportCreated ||
		c.Event.Target.ID != string(got.ID) || !strings.Contains(string(c.Result), string(got.ID)) {
		t.Errorf("%+v, want the export, its event and its result", c)
	}
	again, err := e.request()
	if err != nil || again.ID != got.ID || len(e.store.created) != 1 || len(e.store.noops) != 1 {
		t.Errorf("asked again: %+v, %v", again, err)
	}
}

func TestANewExportReplacesOneThatEnded(t *testing.T) {
	for _, status := range []Status{Ready, Failed, Expired} {
		e := newEnv(t)
		was := e.in(status)
		e.store.export = was
		got, err := e.request()
		if err != nil || got.ID == was.ID || e.store.created[0].Replaces.ID != was.ID {
			t.Errorf("%s: %+v, %v", status, got, err)
		}
	}
}

func TestOfRequestsAtOnceOneIsAnExport(t *testing.T) {
	e := newEnv(t)
	other := e.in(Pending)
	e.store.races = []*Export{other}
	if got, err := e.request(); err != nil || got.ID != other.ID || len(e.store.created) > 0 {
		t.Errorf("%+v, %v, want the other one", got, err)
	}
	done := e.in(Ready)
	e.store.races = []*Export{done} // it became ready before the repetition was recorded
	if got, err := e.request(); err != nil || got.ID == other.ID || e.store.created[0].Replaces.ID != done.ID {
		t.Errorf("%+v, %v, want one in place of the ready one", got, err)
	}
	e.store.races = []*Export{e.in(Ready), e.in(Pending), e.in(Ready), e.in(Pending), e.in(Ready)}
	if _, err := e.request(); fault.CodeOf(err) != fault.DatabaseUnavailable {
		t.Errorf("lost every race: %v", err)
	}
}

func TestT47WhoMayNotExportIsRefused(t *testing.T) {
	for name, change := range map[string]func(*credential.Actor){
		"without the scope":      func(a *credential.Actor) { a.Scopes = []credential.Scope{credential.Read, credential.Publish} },
		"with an old sign-in":    func(a *credential.Actor) { a.AuthenticatedAt = now.Add(-limits.FreshSignIn) },
		"with an unknown one":    func(a *credential.Actor) { a.AuthenticatedAt = time.Time{} },
		"who is no member":       func(a *credential.Actor) { a.Member = "" },
		"with a sign-in to come": func(a *credential.Actor) { a.AuthenticatedAt = now.Add(time.Hour) },
	} {
		e := newEnv(t)
		change(&e.by)
		if _, err := e.request(); fault.CodeOf(err) != fault.Forbidden || len(e.store.created) > 0 {
			t.Errorf("one %s: %v", name, err)
		}
	}
	e := newEnv(t)
	e.by.Scopes = nil
	if _, err := e.Find(t.Context(), e.by); fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("one without scopes looks: %v", err)
	}
}

func TestADayHasFewExports(t *testing.T) {
	e := newEnv(t)
	for range e.Limits.Exports.Limit {
		if _, err := e.request(); err != nil {
			t.Fatal(err)
		}
		if _, err := e.request(); err != nil { // of one that is made, which is not counted
			t.Fatal(err)
		}
		e.store.export.Status = Failed
	}
	if _, err := e.request(); fault.CodeOf(err) != fault.RateLimitedActor {
		t.Errorf("one more: %v", err)
	}
}

func TestARepetitionIsAnsweredWithItsExport(t *testing.T) {
	e := newEnv(t)
	first, err := e.request()
	expect.OK(t, err)
	record := &idempotency.Record{Done: true, Result: e.store.created[0].Result, Expires: now.Add(time.Hour)}
	repeat := func() Export {
		got, err := e.Request(t.Context(), e.by, idempotency.Command{}, record)
		expect.OK(t, err)
		return got
	}
	e.store.export.Status, e.store.export.ExpiresAt = Ready, now.Add(time.Minute)
	if got := repeat(); got.ID != first.ID || got.Status != Ready {
		t.Errorf("%+v, want the first one, ready", got)
	}
	e.store.export = e.in(Pending)
	if got := repeat(); got.ID != first.ID || got.Status != Expired || !got.CreatedAt.Equal(now) ||
		len(e.store.created) != 1 {
		t.Errorf("replaced: %+v", got)
	}
}

func TestOnlyAFreshSignInGetsTheArchives(t *testing.T) {
	e := newEnv(t)
	e.store.export = e.in(Ready)
	found, err := e.Find(t.Context(), e.by)
	expect.OK(t, err)
	view, err := e.View(e.by, found)
	if err != nil || view.Export.Status != "ready" || len(view.Export.Volumes) != 2 || view.Export.FailureReason != nil {
		t.Fatalf("%+v, %v, want it ready, with two volumes", view.Export, err)
	}
	v := view.Export.Volumes[1]
	if v.URL == nil || v.FileName != "vitrine-export-2026-11-22-2-of-2.zip" || v.SizeBytes != 7 ||
		v.SHA256 != tree.DigestOf("two").String() {
		t.Errorf("%+v, want the second volume", v)
	}
	text := strings.TrimPrefix(*v.URL, "https://content.test/x/")
	claims, err := e.URLs.ExportToken.ParseExport(text, now)
	if err != nil || claims.Export != found.ID || claims.Volume != 2 || claims.Expires.After(found.ExpiresAt) {
		t.Errorf("%+v, %v, want a token of the second volume", claims, err)
	}
	e.by.AuthenticatedAt = now.Add(-limits.FreshSignIn)
	if view, err = e.View(e.by, found); err != nil || view.Export.Volumes[0].URL != nil {
		t.Errorf("an old sign-in: %+v, %v", view.Export, err)
	}
}

func TestAnExportExpiresByTheClock(t *testing.T) {
	e := newEnv(t)
	e.store.export = e.in(Ready)
	e.store.export.ExpiresAt = now
	found, err := e.Find(t.Context(), e.by)
	if err != nil || found.Status != Expired {
		t.Fatalf("%+v, %v, want it expired", found, err)
	}
	view, err := e.View(e.by, found)
	if err != nil || view.Export.Status != "expired" || len(view.Export.Volumes) > 0 {
		t.Errorf("%+v, %v, want it expired, without volumes", view.Export, err)
	}
	if url, err := e.URL(e.by, *e.store.export, 1); url != "" || err != nil {
		t.Errorf("%s, %v", url, err)
	}
	e.store.export = nil
	if found, err := e.Find(t.Context(), e.by); found != nil || err != nil {
		t.Errorf("none: %+v, %v", found, err)
	}
	e.store.err = errors.New("down")
	if _, err := e.Find(t.Context(), e.by); err == nil {
		t.Error("a failure is swallowed")
	}
}

func TestArchivesOfAFailedExportWaitForItsLastAttempt(t *testing.T) {
	failed := Export{Status: Failed, EndedAt: now}
	if got := failed.CleanupAt(now); !got.Equal(now.Add(limits.ExportLease)) {
		t.Errorf("deleted %v later", got.Sub(now))
	}
	if got := failed.CleanupAt(now.Add(limits.Day)); !got.Equal(now.Add(limits.Day)) {
		t.Errorf("deleted at %v", got)
	}
	if got := (Export{Status: Ready}).CleanupAt(now); !got.Equal(now) {
		t.Errorf("one that was ready is deleted at %v", got)
	}
}

// TestTheAnswerWithAllArchivesIsShortEnough bounds the answer by what Lambda passes on.
func TestTheAnswerWithAllArchivesIsShortEnough(t *testing.T) {
	e := newEnv(t)
	ready := e.in(Ready)
	ready.Volumes = make([]Volume, limits.ExportVolumes)
	for n := range ready.Volumes {
		ready.Volumes[n] = Volume{Size: 200_000_000, SHA256: tree.DigestOf("one")}
	}
	view, err := e.View(e.by, ready)
	expect.OK(t, err)
	answer, err := contract.Encode(view)
	if err != nil || len(view.Export.Volumes) != limits.ExportVolumes || len(answer) > limits.InlineAnswer {
		t.Errorf("%d archives in %d bytes, %v", len(view.Export.Volumes), len(answer), err)
	}
}
