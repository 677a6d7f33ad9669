package sweep

import (
	"maps"
	"slices"
	"testing"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// newCollector has three objects due of each of so many sessions, in two workspaces.
func newCollector(sessions int) (*GarbageCollector, *fakeStore) {
	f := newStore()
	homes := []id.Workspace{id.NewWorkspace(), id.NewWorkspace()}
	for n := range sessions {
		session := id.NewSession()
		for entry := range 3 {
			f.dueGarbage = append(f.dueGarbage, candidate(homes[n%2], object(session, entry)))
		}
	}
	return &GarbageCollector{
		References: f,
		Store:      f,
		Index:      f,
		Bytes:      f,
		Now:        clock,
	}, f
}

func candidate(home id.Workspace, o tree.Object) GarbageCandidate {
	key := string(o.Session) + string(rune('0'+o.Entry))
	return GarbageCandidate{Home: home, Object: o, QueueItem: QueueItem{Key: key, Due: start}}
}

func TestARoundOfDeletionsIsOneRequest(t *testing.T) {
	c, f := newCollector(4)
	used := f.dueGarbage[4].Object
	f.referenced[used] = true
	r, err := c.Due(t.Context())
	if err != nil || r.Due != 12 || f.count("DeleteAll") != 1 || f.count("UploaderOf") != 4 {
		t.Errorf("%+v, %v, %d requests, %d sessions read", r, err, f.count("DeleteAll"), f.count("UploaderOf"))
	}
	if len(f.deleted) != 11 || f.deleted[used] || len(f.unmarked) != 12 {
		t.Errorf("%d deleted, %d unmarked", len(f.deleted), len(f.unmarked))
	}
}

func TestAnObjectThatCannotBeDeletedDelaysNoOther(t *testing.T) {
	c, f := newCollector(4)
	stays := f.dueGarbage[5]
	f.broken[stays.Object] = true
	r, err := c.Due(t.Context())
	if err == nil || r.Due != 12 || len(f.unmarked) != 11 || f.unmarked[stays.Object] || f.deleted[stays.Object] {
		t.Errorf("%+v, %v, %d unmarked", r, err, len(f.unmarked))
	}
	want := rescheduled{start.Add(limits.MinRetry), 1}
	if len(f.rescheduled) != 1 || f.rescheduled[stays.Key] != want {
		t.Errorf("rescheduled: %v", f.rescheduled)
	}
}

func TestF68ACandidateIsDeletedOnlyIfItIsStillUnreferenced(t *testing.T) {
	for name, c := range map[string]struct {
		set         func(*fakeStore, tree.Object)
		deleted     bool
		unmarked    bool
		rescheduled bool
	}{
		"one that is unreferenced is": {func(*fakeStore, tree.Object) {}, true, true, false},
		"one that is referenced is unmarked": {
			func(f *fakeStore, o tree.Object) { f.referenced[o] = true }, false, true, false,
		},
		"one that was indexed again waits": {
			func(f *fakeStore, o tree.Object) { f.indexed[o] = true }, false, false, true,
		},
		"one that its uploader shows stays": {shownBy(artifact.Live, artifact.Published), false, true, false},
		"one of its uploader's draft stays": {shownBy(artifact.Live, artifact.Draft), false, true, false},
		"one of a retained revision is":     {shownBy(artifact.Live, artifact.Retained), true, true, false},
		"one whose uploader was deleted is": {shownBy(artifact.Deleted, artifact.Published), true, true, false},
		"one with stale references alone is": {
			func(f *fakeStore, o tree.Object) { f.stale[o] = []id.Revision{"rev"} }, true, true, false,
		},
		"one that is also referenced is kept": {
			func(f *fakeStore, o tree.Object) { f.referenced[o], f.stale[o] = true, []id.Revision{"rev"} }, false, true, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, f := newCollector(1)
			one := f.dueGarbage[0]
			f.dueGarbage = f.dueGarbage[:1]
			c.set(f, one.Object)
			if _, err := g.Due(t.Context()); err != nil {
				t.Fatal(err)
			}
			if f.deleted[one.Object] != c.deleted || f.unmarked[one.Object] != c.unmarked {
				t.Errorf("deleted %t, unmarked %t", f.deleted[one.Object], f.unmarked[one.Object])
			}
			want := map[string]rescheduled{}
			if c.rescheduled {
				want[one.Key] = rescheduled{until: start.Add(limits.CollectAfter)}
			}
			if !maps.Equal(f.rescheduled, want) {
				t.Errorf("rescheduled: %v, want %v", f.rescheduled, want)
			}
		})
	}
}

// shownBy makes the uploader of an object an artifact that has it in a revision.
func shownBy(status artifact.Status, r artifact.RevisionStatus) func(*fakeStore, tree.Object) {
	return func(f *fakeStore, o tree.Object) {
		f.uploaders[o.Session] = art
		f.files[art] = ArtifactFiles{
			Artifact: &artifact.Artifact{ID: art, Status: status},
			Contents: []artifact.Contents{revision(r, o)},
		}
	}
}

func TestBytesGoBeforeWhatIsKnownOfThem(t *testing.T) {
	session := id.NewSession()
	newJob := func() (*fakeStore, func() error) {
		g, f := newCollector(0)
		f.dueGarbage = []GarbageCandidate{candidate("home", object(session, 0))}
		f.stale[object(session, 0)] = []id.Revision{"rev"}
		return f, func() error { _, err := g.Due(t.Context()); return err }
	}
	f, run := newJob()
	want := []string{
		"Remove", "UploaderOf", "ArtifactFiles", "ReferencesTo", // the index entry first: it may be new
		"DeleteAll", "RemoveReference", "Unmark",
	}
	if err := run(); err != nil || !slices.Equal(f.calls, want) {
		t.Errorf("%v, %v", f.calls, err)
	}
	for n := range want {
		f, run := newJob()
		f.failAt = n + 1
		err := run()
		if want[n] == "DeleteAll" { // the object is tried once more by itself
			if err != nil || !f.deleted[object(session, 0)] {
				t.Errorf("%v after %v", err, f.calls)
			}
			continue
		}
		if err == nil || len(f.unmarked) > 0 || len(f.rescheduled) != 1 {
			t.Errorf("killed at %s: %v, unmarked %v", want[n], err, f.unmarked)
		}
		f.calls, f.failAt = nil, 0
		if err := run(); err != nil || !slices.Equal(f.calls, want) {
			t.Errorf("repeated after %s: %v, %v", want[n], f.calls, err)
		}
	}
}
