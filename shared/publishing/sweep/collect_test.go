package sweep

import (
	"maps"
	"slices"
	"testing"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
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

func candidate(home id.Workspace, objects ...tree.Object) GarbageCandidate {
	c := GarbageCandidate{Home: home, Session: objects[0].Session}
	c.Key, c.Due = string(c.Session)+string(rune('0'+objects[0].Entry)), start
	for _, o := range objects {
		c.Objects = append(c.Objects, tree.File{Size: 1, Object: o})
	}
	return c
}

func TestARoundOfDeletionsIsOneRequest(t *testing.T) {
	c, f := newCollector(4)
	used := f.dueGarbage[4].Objects[0].Object
	f.referenced[used] = true
	r, err := c.Due(t.Context())
	if err != nil || r.Due != 12 || f.count("DeleteAll") != 1 || f.count("Kept") != 4 {
		t.Errorf("%+v, %v, %v, want one request for 12 rows, and 4 sessions read", r, err, f.calls)
	}
	if len(f.deleted) != 11 || f.deleted[used] || len(f.unmarked) != 12 {
		t.Errorf("%d deleted, %d unmarked", len(f.deleted), len(f.unmarked))
	}
}

// TestARoundTakesAtMostTenThousandObjects has candidates of full sessions due, and small ones behind them.
func TestARoundTakesAtMostTenThousandObjects(t *testing.T) {
	g, f := newCollector(0)
	add := func(n int) {
		session := id.NewSession()
		objects := make([]tree.Object, n)
		for entry := range objects {
			objects[entry] = object(session, entry)
		}
		f.dueGarbage = append(f.dueGarbage, candidate("home", objects...))
	}
	for range 3 {
		add(2_000)
	}
	for range 6 {
		add(500)
	}
	add(1_001)
	r, err := g.Due(t.Context())
	if err != nil || !r.More || r.Due != 10 || len(f.deleted) != 9_000 || len(f.unmarked) != 9_000 {
		t.Errorf("%+v, %v: %d deleted, want 9,000 of 10,001 and more to do", r, err, len(f.deleted))
	}
	if n := f.count("DeleteAll"); n != 6 {
		t.Errorf("%d requests, want one for each large candidate and one for two small ones", n)
	}
	done := f.dueGarbage[:9]
	f.dueGarbage = f.dueGarbage[9:]
	if r, err := g.Due(t.Context()); err != nil || r.More || len(f.deleted) != 10_001 {
		t.Errorf("%+v, %v: %d deleted after %d candidates, want all", r, err, len(f.deleted), len(done))
	}
}

// TestWhatWasDeletedBeforeAFailureStaysDone fails at the second request.
func TestWhatWasDeletedBeforeAFailureStaysDone(t *testing.T) {
	g, f := newCollector(0)
	for range 3 {
		session := id.NewSession()
		var objects []tree.Object
		for entry := range objectsAtOnce {
			objects = append(objects, object(session, entry))
		}
		f.dueGarbage = append(f.dueGarbage, candidate("home", objects...))
	}
	f.broken[f.dueGarbage[1].Objects[7].Object] = true
	r, err := g.Due(t.Context())
	if err == nil || r.More || len(f.unmarked) != 2*objectsAtOnce || len(f.rescheduled) != 1 ||
		f.rescheduled[f.dueGarbage[1].Key].failures != 1 {
		t.Errorf("%+v, %v: %d unmarked, rescheduled %v", r, err, len(f.unmarked), f.rescheduled)
	}
}

func TestAnObjectThatCannotBeDeletedDelaysNoOther(t *testing.T) {
	c, f := newCollector(4)
	stays := f.dueGarbage[5]
	object := stays.Objects[0].Object
	f.broken[object] = true
	r, err := c.Due(t.Context())
	if err == nil || r.Due != 12 || len(f.unmarked) != 11 || f.unmarked[object] || f.deleted[object] {
		t.Errorf("%+v, %v, %d unmarked, want 11", r, err, len(f.unmarked))
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
		"one that its uploader keeps stays": {
			func(f *fakeStore, o tree.Object) { f.kept[o.Session] = true }, false, true, false,
		},
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
			object := one.Objects[0].Object
			c.set(f, object)
			if _, err := g.Due(t.Context()); err != nil {
				t.Fatal(err)
			}
			if f.deleted[object] != c.deleted || f.unmarked[object] != c.unmarked {
				t.Errorf("deleted %t, unmarked %t", f.deleted[object], f.unmarked[object])
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

func TestACandidateOfManyObjectsIsDecidedTogetherAndDeletedApart(t *testing.T) {
	session := id.NewSession()
	a, b, c := object(session, 0), object(session, 1), object(session, 2)
	for name, tt := range map[string]struct {
		set         func(*fakeStore)
		deleted     []tree.Object
		unmarked    bool
		rescheduled int
		err         bool
	}{
		"all are unreferenced":  {func(*fakeStore) {}, []tree.Object{a, b, c}, true, 0, false},
		"one is referenced":     {func(f *fakeStore) { f.referenced[b] = true }, []tree.Object{a, c}, true, 0, false},
		"one was indexed again": {func(f *fakeStore) { f.indexed[b] = true }, nil, false, 1, false},
		"one cannot be deleted": {func(f *fakeStore) { f.broken[b] = true }, []tree.Object{a, c}, false, 1, true},
		"one has a dead revision": {
			func(f *fakeStore) { f.stale[c] = []id.Revision{"rev"} }, []tree.Object{a, b, c}, true, 0, false,
		},
		"all are referenced": {
			func(f *fakeStore) { f.referenced[a], f.referenced[b], f.referenced[c] = true, true, true }, nil, true, 0, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g, f := newCollector(0)
			f.dueGarbage = []GarbageCandidate{candidate("home", a, b, c)}
			tt.set(f)
			if _, err := g.Due(t.Context()); (err != nil) != tt.err {
				t.Error(err)
			}
			for _, o := range []tree.Object{a, b, c} {
				if f.deleted[o] != slices.Contains(tt.deleted, o) || f.unmarked[a] != tt.unmarked && f.unmarked[c] != tt.unmarked {
					t.Errorf("%v: deleted %t, unmarked %v", o, f.deleted[o], f.unmarked)
				}
			}
			if len(f.rescheduled) != tt.rescheduled {
				t.Errorf("rescheduled: %v", f.rescheduled)
			}
		})
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
		"Indexed", "Kept", "ReferencesTo", // the index entry first: it may be new
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
