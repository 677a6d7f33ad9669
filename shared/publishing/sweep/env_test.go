package sweep

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

var errKilled = errors.New("killed")

// fakeStore returns what a test puts into it and records the calls that it gets. A call changes nothing that is read
// later, so a repetition finds what the first attempt found.
type fakeStore struct {
	mu     sync.Mutex
	calls  []string
	failAt int // the call that fails, from 1 on; 0: none

	dueArtifacts []Artifact
	dueSessions  []Session
	duePurges    []Purge
	dueGarbage   []GarbageCandidate

	artifact   *artifact.Artifact // that is purged; nil: there is none
	pages      [][]artifact.Contents
	kept       map[id.Session]bool
	referenced map[tree.Object]bool
	stale      map[tree.Object][]id.Revision
	indexed    map[tree.Object]bool
	damaged    error                // of lists of files
	finalized  bool                 // sessions are, before they can be ended
	broken     map[tree.Object]bool // cannot be deleted
	brought    tree.Tree

	marked      []GarbageCandidate
	unmarked    map[tree.Object]bool
	deleted     map[tree.Object]bool
	rescheduled map[string]rescheduled
	events      []event.Event
}

type rescheduled struct {
	until    time.Time
	failures int
}

func newStore() *fakeStore {
	return &fakeStore{
		kept:        map[id.Session]bool{},
		referenced:  map[tree.Object]bool{},
		stale:       map[tree.Object][]id.Revision{},
		indexed:     map[tree.Object]bool{},
		broken:      map[tree.Object]bool{},
		unmarked:    map[tree.Object]bool{},
		deleted:     map[tree.Object]bool{},
		rescheduled: map[string]rescheduled{},
	}
}

// call records a call, and its effect unless it is the one that fails.
func (f *fakeStore) call(name string, effect func()) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, name)
	if len(f.calls) == f.failAt {
		return errKilled
	}
	effect()
	return nil
}

func (f *fakeStore) count(name string) (n int) {
	for _, c := range f.calls {
		if c == name {
			n++
		}
	}
	return n
}

func none() {}

func (f *fakeStore) DueArtifacts(context.Context, time.Time, int) ([]Artifact, error) {
	return f.dueArtifacts, nil
}
func (f *fakeStore) DueSessions(context.Context, time.Time, int) ([]Session, error) {
	return f.dueSessions, nil
}
func (f *fakeStore) DueUploads(context.Context, time.Time, int) ([]Session, error) {
	return f.dueSessions, nil
}
func (f *fakeStore) DuePurges(context.Context, time.Time, int) ([]Purge, error) {
	return f.duePurges, nil
}
func (f *fakeStore) DueGarbage(context.Context, time.Time, int) ([]GarbageCandidate, error) {
	return f.dueGarbage, nil
}

func (f *fakeStore) Expire(_ context.Context, _ Artifact, _ time.Time, e event.Event) error {
	return f.call("Expire", func() { f.events = append(f.events, e) })
}
func (f *fakeStore) Discard(_ context.Context, _ Artifact, _ time.Time, e event.Event) error {
	return f.call("Discard", func() { f.events = append(f.events, e) })
}
func (f *fakeStore) RescheduleArtifact(context.Context, Artifact) error {
	return f.call("RescheduleArtifact", none)
}
func (f *fakeStore) EndSession(context.Context, upload.Session, time.Time) (bool, error) {
	return !f.finalized, f.call("EndSession", none)
}
func (f *fakeStore) DeleteSession(context.Context, id.Workspace, id.Session) error {
	return f.call("DeleteSession", none)
}
func (f *fakeStore) ForgetSession(context.Context, upload.Session) error {
	return f.call("ForgetSession", none)
}
func (f *fakeStore) AwaitEnd(context.Context, upload.Session) error { return f.call("AwaitEnd", none) }
func (f *fakeStore) NewObjects(context.Context, upload.Session) (tree.Tree, error) {
	return f.brought, f.call("NewObjects", none)
}
func (f *fakeStore) Add(context.Context, id.Workspace, tree.File) error {
	return f.call("Add", none)
}
func (f *fakeStore) DeleteDiffs(context.Context, id.Workspace, id.Session) error {
	return f.call("DeleteDiffs", none)
}
func (f *fakeStore) Remains(
	_ context.Context, _ Purge, visit func(*artifact.Artifact, []StoredRevision) error,
) error {
	if err := f.call("Remains", none); err != nil || f.artifact == nil {
		return err
	}
	for _, page := range f.pages {
		var revisions []StoredRevision
		for _, c := range page {
			revisions = append(revisions, StoredRevision{c.Revision, func() (tree.Tree, error) { return c.Tree, f.damaged }})
		}
		if err := visit(f.artifact, revisions); err != nil {
			return err
		}
	}
	return nil
}
func (f *fakeStore) Kept(_ context.Context, sessions []id.Session) (map[id.Session]bool, error) {
	kept := map[id.Session]bool{}
	for _, s := range sessions {
		kept[s] = f.kept[s]
	}
	return kept, f.call("Kept", none)
}
func (f *fakeStore) ReferencesTo(_ context.Context, o tree.Object) (bool, []id.Revision, error) {
	return f.referenced[o], f.stale[o], f.call("ReferencesTo", none)
}
func (f *fakeStore) RemoveReference(context.Context, id.Revision, []tree.Object) error {
	return f.call("RemoveReference", none)
}
func (f *fakeStore) Remove(_ context.Context, _ id.Workspace, _ tree.Content, o tree.Object) (bool, error) {
	return f.indexed[o], f.call("Remove", none)
}
func (f *fakeStore) Indexed(_ context.Context, _ id.Workspace, objects []tree.File) (found []tree.File, err error) {
	for _, o := range objects {
		if f.indexed[o.Object] {
			found = append(found, o)
		}
	}
	return found, f.call("Indexed", none)
}
func (f *fakeStore) Mark(_ context.Context, c GarbageCandidate) error {
	return f.call("Mark", func() { f.marked = append(f.marked, c) })
}
func (f *fakeStore) DeleteBundles(context.Context, []artifact.BundleObject) error {
	return f.call("DeleteBundles", none)
}
func (f *fakeStore) DeleteFileList(context.Context, artifact.Revision) error {
	return f.call("DeleteFileList", none)
}
func (f *fakeStore) RemoveFeedback(context.Context, id.Artifact) error {
	return f.call("RemoveFeedback", none)
}
func (f *fakeStore) Purged(context.Context, Purge) error { return f.call("Purged", none) }
func (f *fakeStore) Unmark(_ context.Context, c GarbageCandidate) error {
	return f.call("Unmark", func() {
		for _, o := range c.Objects {
			f.unmarked[o.Object] = true
		}
	})
}
func (f *fakeStore) DeleteAll(_ context.Context, objects map[id.Workspace][]tree.Object) error {
	broken := false
	err := f.call("DeleteAll", func() {
		for _, some := range objects {
			for _, o := range some {
				f.deleted[o], broken = !f.broken[o], broken || f.broken[o]
			}
		}
	})
	if broken {
		return errors.New("refused")
	}
	return err
}

func (f *fakeStore) Reschedule(_ context.Context, r QueueItem, until time.Time, failures int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rescheduled[r.Key] = rescheduled{until, failures}
	return nil
}

func clock() time.Time { return start }

// object returns the n-th object of a session.
func object(s id.Session, n int) tree.Object { return tree.Object{Session: s, Entry: n} }

// revision returns a revision with a file for each object, the first of which its session uploaded.
func revision(status artifact.RevisionStatus, objects ...tree.Object) artifact.Contents {
	c := artifact.Contents{Revision: artifact.Revision{ID: id.NewRevision(), Status: status}}
	if len(objects) > 0 {
		c.Revision.Session = objects[0].Session
	}
	for _, o := range objects {
		c.Tree = append(c.Tree, tree.File{Size: 1, SHA256: tree.DigestOf(string(o.Session)), Object: o})
	}
	return c
}

// wantRepeatable checks that a job that is killed at any call reschedules its item, and that its repetition does again
// all that a job does that is not killed.
func wantRepeatable(t *testing.T, key string, newJob func() (*fakeStore, func() error)) {
	t.Helper()
	undisturbed, run := newJob()
	if err := run(); err != nil {
		t.Fatal(err)
	}
	if len(undisturbed.calls) < 3 {
		t.Fatalf("only %v was called", undisturbed.calls)
	}
	for n := 1; n <= len(undisturbed.calls); n++ {
		f, run := newJob()
		f.failAt = n
		if err := run(); !errors.Is(err, errKilled) {
			t.Errorf("killed at call %d: %v", n, err)
		}
		if !slices.Equal(f.calls[:n], undisturbed.calls[:n]) || f.rescheduled[key].failures != 1 {
			t.Errorf("killed at call %d: %v, rescheduled %v", n, f.calls, f.rescheduled)
		}
		f.calls, f.failAt = nil, 0
		if err := run(); err != nil || !slices.Equal(f.calls, undisturbed.calls) {
			t.Errorf("repeated after call %d: %v, %v", n, f.calls, err)
		}
	}
}
