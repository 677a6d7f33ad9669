package sweep

import (
	"errors"
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
	f.artifact = &artifact.Artifact{ID: art, Status: status, StorageWorkspace: "home"}
	f.pages = [][]artifact.Contents{revisions}
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
	own, lent, earlier := id.NewSession(), id.NewSession(), id.NewSession()
	a, b, borrowed := object(own, 0), object(own, 1), object(lent, 0)
	published := func(o ...tree.Object) artifact.Contents { return revision(artifact.Published, o...) }
	discarded := func(o ...tree.Object) artifact.Contents { return revision(artifact.Retained, o...) }
	borrows := func(c artifact.Contents, referrer id.Revision) artifact.Contents {
		c.Tree = append(c.Tree, tree.File{
			Size:     1,
			Object:   borrowed,
			Borrowed: true,
			Referrer: referrer,
		})
		return c
	}
	restored := func(c artifact.Contents) artifact.Contents {
		c.Revision.Source = "rev"
		return c
	}
	older := func(c artifact.Contents) artifact.Contents {
		c.Revision.Session = ""
		return c
	}
	empty := artifact.Contents{Revision: artifact.Revision{Status: artifact.Published}, Tree: tree.Tree{{Path: "empty"}}}
	referenced := func(f *fakeStore) { f.referenced[a] = true }
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
			artifact.Deleted, false, contents{published(a), revision(artifact.Draft, borrowed)}, alone, objects{a, borrowed}, 2,
		},
		"all of an expired artifact, each object once": {
			artifact.Expired, false, contents{published(a, a, b)}, alone, objects{a, b}, 1,
		},
		"of an artifact what each revision uploaded": {
			artifact.Deleted, false, contents{published(a), published(borrowed, a)}, alone, objects{a, borrowed}, 2,
		},
		"of a discarded draft what it uploaded": {
			artifact.Live, true, contents{discarded(a, b, object(earlier, 0)), published(object(earlier, 0))}, alone,
			objects{a, b}, 1,
		},
		"of a discarded draft what no revision borrowed": {
			artifact.Live, true, contents{discarded(a, b)}, referenced, objects{b}, 1,
		},
		"nothing of a revision that can be read": {artifact.Live, true, contents{published(a)}, alone, nil, 0},
		"nothing of an artifact that is live":    {artifact.Live, false, contents{published(a)}, alone, nil, 0},
		"nothing that another artifact references": {
			artifact.Deleted, false, contents{published(a, b)}, referenced, objects{b}, 1,
		},
		"nothing borrowed that its uploader keeps": {
			artifact.Deleted, false, contents{borrows(published(a), "")},
			func(f *fakeStore) { f.kept[lent] = true }, objects{a}, 1,
		},
		"what is borrowed of an artifact that ended": {
			artifact.Deleted, false, contents{borrows(published(a), "")}, alone, objects{a, borrowed}, 1,
		},
		"nothing that another revision borrowed": {
			artifact.Deleted, false, contents{borrows(published(a), "rev")}, alone, objects{a}, 1,
		},
		"nothing of a restored revision": {
			artifact.Deleted, false, contents{restored(borrows(published(a), "rev"))}, alone, nil, 1,
		},
		"what older code let a restored revision borrow": {
			artifact.Deleted, false, contents{restored(borrows(published(a), ""))}, alone, objects{borrowed}, 1,
		},
		"of a draft of older code what is not kept": {
			artifact.Live, true, contents{older(discarded(a, object(earlier, 0)))},
			func(f *fakeStore) { f.kept[earlier] = true }, objects{a}, 1,
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
			slices.SortFunc(marked, func(x, y tree.Object) int { // marks are made at once
				return slices.Index(c.marked, x) - slices.Index(c.marked, y)
			})
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
	f.artifact = nil
	if _, err := p.Due(t.Context()); err != nil || !slices.Equal(f.calls, []string{"Remains"}) {
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
		"Remains", "RemoveReference", // before the references of others are read
		"ReferencesTo",
		"Remove", "Mark", // so that no session finds the object while it waits
		"DeleteFileList", "RemoveFeedback", "Purged",
	}
	if err := run(); err != nil || !slices.Equal(f.calls, want) {
		t.Errorf("%v, %v", f.calls, err)
	}
	wantRepeatable(t, "key", newJob)
	p, f := newPurger(artifact.Live, true, revision(artifact.Retained, object(s, 0)))
	if _, err := p.Due(t.Context()); err != nil || f.count("Purged") != 1 || f.count("RemoveFeedback") > 0 {
		t.Errorf("one revision: %v, %v", f.calls, err)
	}
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

// TestAPurgeAsksAgainWhetherAnUploaderIsLive borrows two files of one session, by two revisions. The uploader ends after
// the first is purged, and its own purge leaves the second file to the second revision.
func TestAPurgeAsksAgainWhetherAnUploaderIsLive(t *testing.T) {
	lent := id.NewSession()
	borrows := func(n int) artifact.Contents {
		c := revision(artifact.Published)
		c.Tree = tree.Tree{{Size: 1, Object: object(lent, n), Borrowed: true}}
		return c
	}
	p, f := newPurger(artifact.Deleted, false)
	f.kept[lent] = true
	f.pages = [][]artifact.Contents{{borrows(0)}, {borrows(1)}}
	last := f.pages[1][0].Tree
	p.Watch = func() time.Time { // is asked between the revisions
		f.kept[lent] = f.count("DeleteFileList") == 0
		return start
	}
	if _, err := p.Due(t.Context()); err != nil || f.count("Kept") != 2 {
		t.Errorf("%v, %v", f.calls, err)
	}
	if len(f.marked) != 1 || f.marked[0].Objects[0].Object != last[0].Object {
		t.Errorf("marked %+v, want what the uploader left", f.marked)
	}
}

func TestAListThatIsDamagedIsNotDeleted(t *testing.T) {
	p, f := newPurger(artifact.Deleted, false, revision(artifact.Published, object("own", 0)))
	f.damaged = errors.New("damaged")
	if _, err := p.Due(t.Context()); !errors.Is(err, f.damaged) || f.rescheduled["key"].failures != 1 ||
		!slices.Equal(f.calls, []string{"Remains"}) {
		t.Errorf("%v, %v, rescheduled %v", err, f.calls, f.rescheduled)
	}
}
