package sweep

import (
	"slices"
	"testing"
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

const art id.Artifact = "art"

// newPurger has a purge of an artifact, or of its first revision if one is set, with these revisions.
func newPurger(status artifact.Status, one bool, revisions ...artifact.Contents) (*Purger, *fakeStore) {
	f := newStore()
	f.files[art] = ArtifactFiles{
		Artifact: &artifact.Artifact{ID: art, Status: status, StorageWorkspace: "home"},
		Contents: revisions,
	}
	p := Purge{Artifact: art, QueueItem: QueueItem{Key: "key", Due: start}}
	if one {
		p.Revision = revisions[0].Revision.ID
	}
	f.duePurges = []Purge{p}
	return &Purger{
		References: f,
		Store:      f,
		Queue:      f,
		Index:      f,
		Bundles:    f,
		Now:        clock,
		Watch:      clock,
	}, f
}

func TestF67APurgeMarksWhatIsNotInUse(t *testing.T) {
	own, lent := id.NewSession(), id.NewSession()
	a, b, borrowed := object(own, 0), object(own, 1), object(lent, 0)
	borrows := func(status artifact.RevisionStatus) artifact.Contents {
		c := revision(status, borrowed)
		c.Tree[0].Borrowed = true
		return c
	}
	lender := func(status artifact.Status) func(*fakeStore) {
		return func(f *fakeStore) {
			f.uploaders[lent] = "lender"
			f.files["lender"] = ArtifactFiles{
				Artifact: &artifact.Artifact{ID: "lender", Status: status},
				Contents: []artifact.Contents{revision(artifact.Published, borrowed)},
			}
		}
	}
	empty := artifact.Contents{Revision: artifact.Revision{Status: artifact.Published}, Tree: tree.Tree{{Path: "empty"}}}
	published := func(o ...tree.Object) artifact.Contents { return revision(artifact.Published, o...) }
	retained := revision(artifact.Retained, a, b)
	alone := func(*fakeStore) {}
	type contents = []artifact.Contents
	type objects = []tree.Object
	for name, c := range map[string]struct {
		status    artifact.Status
		one       bool // a revision is purged, not the artifact
		revisions contents
		set       func(*fakeStore)
		marked    objects
		lists     int
	}{
		"all of a deleted artifact": {
			artifact.Deleted, false, contents{published(a), revision(artifact.Draft, b)}, alone, objects{a, b}, 2,
		},
		"all of an expired artifact, each object once": {
			artifact.Expired, false, contents{published(a, a), published(a, b)}, alone, objects{a, b}, 2,
		},
		"of a retained revision what no other one shows": {
			artifact.Live, true, contents{retained, published(a)}, alone, objects{b}, 1,
		},
		"of a retained revision what no draft inherits": {
			artifact.Live, true, contents{retained, revision(artifact.Draft, b)}, alone, objects{a}, 1,
		},
		"nothing of a revision that can be read": {artifact.Live, true, contents{published(a)}, alone, nil, 0},
		"nothing of an artifact that is live":    {artifact.Live, false, contents{published(a)}, alone, nil, 0},
		"nothing that another artifact references": {
			artifact.Deleted, false, contents{published(a, b)},
			func(f *fakeStore) { f.referenced[a] = true }, objects{b}, 1,
		},
		"nothing borrowed that its uploader still shows": {
			artifact.Deleted, false, contents{borrows(artifact.Published)}, lender(artifact.Live), nil, 1,
		},
		"what is borrowed of an artifact that ended": {
			artifact.Deleted, false, contents{borrows(artifact.Published)}, lender(artifact.Expired), objects{borrowed}, 1,
		},
		"nothing of an empty file": {artifact.Deleted, false, contents{empty}, alone, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p, f := newPurger(c.status, c.one, c.revisions...)
			c.set(f)
			if _, err := p.Due(t.Context()); err != nil {
				t.Fatal(err)
			}
			var marked []tree.Object
			for _, m := range f.marked {
				for _, o := range m.Objects {
					marked = append(marked, o.Object)
				}
				if m.Home != "home" || !m.Due.Equal(start.Add(limits.CollectAfter)) {
					t.Errorf("%+v, want home and the day of collection", m)
				}
			}
			if !slices.Equal(marked, c.marked) {
				t.Errorf("marked %v, want %v", marked, c.marked)
			}
			if f.count("DeleteFileList") != c.lists || f.calls[len(f.calls)-1] != "Purged" {
				t.Errorf("%v", f.calls)
			}
		})
	}
}

func TestAPurgeOfAnArtifactThatIsGoneDoesNothing(t *testing.T) {
	p, f := newPurger(artifact.Deleted, false)
	f.files = map[id.Artifact]ArtifactFiles{}
	if _, err := p.Due(t.Context()); err != nil || !slices.Equal(f.calls, []string{"ArtifactFiles"}) {
		t.Errorf("%v, %v", f.calls, err)
	}
}

func TestAPurgeRemovesReferencesFirstAndListsLast(t *testing.T) {
	s := id.NewSession()
	newJob := func() (*fakeStore, func() error) {
		p, f := newPurger(artifact.Deleted, false, revision(artifact.Published, object(s, 0)))
		return f, func() error { _, err := p.Due(t.Context()); return err }
	}
	f, run := newJob()
	want := []string{
		"ArtifactFiles", "RemoveReference", // before the references of others are read
		"ArtifactFiles", "ReferencesTo",
		"Remove", "Mark", // so that no session finds the object while it waits
		"DeleteFileList", "Purged",
	}
	if err := run(); err != nil || !slices.Equal(f.calls, want) {
		t.Errorf("%v, %v", f.calls, err)
	}
	wantRepeatable(t, "key", newJob)
}

func TestAPurgeStopsBetweenRevisionsWhenItsRoundIsOver(t *testing.T) {
	s := id.NewSession()
	p, f := newPurger(artifact.Deleted, false,
		revision(artifact.Published, object(s, 0)), revision(artifact.Published, object(s, 1)))
	watch := start
	p.Watch = func() time.Time { watch = watch.Add(maxRoundTime); return watch }
	f.duePurges[0].Failures = 3
	r, err := p.Due(t.Context())
	if err != nil || !r.More || f.count("DeleteFileList") != 1 || f.count("Purged") != 0 {
		t.Errorf("%+v, %v after %v, want the file list deleted and more to do", r, err, f.calls)
	}
	if got := f.rescheduled["key"]; !got.until.Equal(start) || got.failures != 3 {
		t.Errorf("%+v: an unfinished purge is no failure, want it at once", got)
	}
}
