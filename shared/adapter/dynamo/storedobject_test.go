package dynamo

import (
	"testing"
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

func TestStoredObjectsAreNeededByWhatIsShown(t *testing.T) {
	s := newStore(t)
	home, want := id.NewWorkspace(), map[tree.Object]bool{}
	for _, c := range []struct {
		artifact artifact.Status
		revision artifact.RevisionStatus
		files    int // many are stored in an item of their own
		needed   bool
	}{
		{artifact.Live, artifact.Published, 1, true}, {artifact.Live, artifact.Draft, 200, true},
		{artifact.Live, artifact.Retained, 200, false}, {artifact.Deleted, artifact.Published, 1, false},
	} {
		a := artifact.Artifact{
			ID:               id.NewArtifact(),
			Owner:            home,
			StorageWorkspace: home,
			Status:           c.artifact,
		}
		files := tree.Tree{{Path: "empty", SHA256: tree.EmptyDigest}}
		for n := range c.files {
			o := tree.Object{Session: id.NewSession(), Entry: n}
			files = append(files, tree.File{Path: string(o.Session), Size: 1, SHA256: tree.DigestOf("a"), Object: o})
			want[o] = c.needed
		}
		w := s.begin()
		w.create(artifactItem(a))
		w.createRevision(artifact.Revision{ID: id.NewRevision(), Artifact: a.ID, Status: c.revision}, files)
		noError(t, s.commit(ctx, w))
	}
	indexed := tree.File{Size: 2, SHA256: tree.DigestOf("bb"), Object: tree.Object{Session: id.NewSession(), Entry: 3}}
	noError(t, s.ContentIndex.Add(ctx, home, indexed))
	want[indexed.Object] = false

	got, sizes := map[tree.Object]bool{}, map[int64]int{}
	noError(t, StoredObjects(ctx, newClient(t), s.tables, func(o StoredObject) error {
		if o.Home != home {
			t.Errorf("%v is in %s", o.Object, o.Home)
		}
		got[o.Object] = o.Needed
		sizes[o.Content.Size]++
		return nil
	}))
	wantSame(t, "objects", got, want, nil)
	wantSame(t, "sizes", sizes, map[int64]int{1: 402, 2: 1}, nil)
}

func TestTheNewestCopyIsStored(t *testing.T) {
	s := newStore(t)
	none, err := s.Copies.Newest(ctx)
	wantSame(t, "no copy", none, time.Time{}, err)
	for _, at := range []time.Time{goldenAt(0), goldenAt(1)} {
		noError(t, s.Copies.Record(ctx, at))
		newest, err := s.Copies.Newest(ctx)
		wantSame(t, "the newest copy", newest, at, err)
	}
}
