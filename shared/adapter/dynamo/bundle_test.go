package dynamo

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sweep"
	"vitrine/shared/publishing/tree"
)

// pendingBundle publishes a revision with a bundle, in either shape of its files.
func pendingBundle(t *testing.T, s Stores, files int) (sweep.Bundle, *artifact.Artifact) {
	t.Helper()
	k, _, f := drafted(t, s, files)
	p := publication(k, f.Revision, 1)
	p.Bundle = true
	noError(t, s.Artifacts.Publish(ctx, p))
	due, err := s.Bundles.DueBundles(ctx, now(), 10)
	if err != nil || len(due) != 1 || due[0].Revision.ID != f.Revision.ID || due[0].Attempts != 0 {
		t.Fatalf("due: %+v, %v", due, err)
	}
	a := must(s.Bundles.Artifact(ctx, f.Revision.Artifact))(t)
	return due[0], a
}

// take begins an attempt.
func take(t *testing.T, s Stores, b sweep.Bundle, until time.Time) sweep.Bundle {
	t.Helper()
	taken, ok, err := s.Bundles.Take(ctx, b, until)
	if err != nil || !ok || taken.Attempts != b.Attempts+1 {
		t.Fatalf("%+v, %t, %v, want one more attempt", taken, ok, err)
	}
	return taken
}

// bundleOf reads the bundle of a revision as readers see it.
func bundleOf(t *testing.T, s Stores, r artifact.Revision) artifact.Bundle {
	t.Helper()
	read, err := s.Artifacts.Revision(ctx, r.Artifact, r.ID)
	if err != nil || read == nil {
		t.Fatalf("%+v, %v, want the revision", read, err)
	}
	return read.Bundle
}

// wantDue checks how many bundles are to be made and how many objects to be deleted at an instant.
func wantDue(t *testing.T, s Stores, at time.Time, bundles, stale int) {
	t.Helper()
	due, err1 := s.Bundles.DueBundles(ctx, at, 10)
	left, err2 := s.Bundles.DueStaleBundles(ctx, at, 10)
	if err1 != nil || err2 != nil || len(due) != bundles || len(left) != stale {
		t.Errorf("%d bundles and %d objects are due, want %d and %d: %v %v", len(due), len(left), bundles, stale, err1, err2)
	}
}

func madeAt(at time.Time) artifact.Bundle {
	return artifact.Bundle{
		Status: artifact.BundleReady,
		Size:   1234,
		SHA256: tree.DigestOf("archive"),
		MadeAt: at,
	}
}

func TestABundleGoesFromPendingToReadyOnce(t *testing.T) {
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			b, _ := pendingBundle(t, s, shape.files)
			if got := bundleOf(t, s, b.Revision); got.Status != artifact.BundlePending {
				t.Errorf("%+v, want it pending", got)
			}
			at := now()
			taken := take(t, s, b, at.Add(time.Minute))
			wantDue(t, s, at, 0, 0)
			made := madeAt(at)
			if ok, err := s.Bundles.Finish(ctx, taken, made); err != nil || !ok {
				t.Fatal(ok, err)
			}
			if got := bundleOf(t, s, b.Revision); got != made {
				t.Errorf("%+v, want %+v", got, made)
			}
			wantDue(t, s, at.Add(time.Hour), 0, 0)
			if ok, err := s.Bundles.Finish(ctx, taken, made); err != nil || ok {
				t.Error("it became ready twice", err)
			}
			if err := s.Bundles.GiveUp(ctx, taken, "home", at); err != nil || bundleOf(t, s, b.Revision) != made {
				t.Error("a bundle that is ready was given up", err)
			}
			for _, i := range itemsOf(t, s, artifactKey(b.Revision.Artifact).pk) {
				if shape.items == 1 && i.size() > writeUnit {
					t.Errorf("the revision takes %d bytes", i.size())
				}
			}
		})
	}
}

func TestAtMostOneFunctionMakesABundle(t *testing.T) {
	s := newStore(t)
	b, _ := pendingBundle(t, s, 1)
	won := make([]bool, 16)
	noError(t, errors.Join(parallel.Calls(len(won), func(n int) (err error) {
		_, won[n], err = s.Bundles.Take(ctx, b, now().Add(time.Minute))
		return err
	})...))
	if n := count(won); n != 1 {
		t.Errorf("%d functions have it", n)
	}
}

func TestF71ABundleWhoseFunctionDiedIsMadeByAnother(t *testing.T) {
	s := newStore(t)
	b, _ := pendingBundle(t, s, 1)
	at := now()
	died := take(t, s, b, at.Add(time.Minute))
	wantDue(t, s, at.Add(time.Minute-1), 0, 0)
	due, err := s.Bundles.DueBundles(ctx, at.Add(time.Minute), 10)
	if err != nil || len(due) != 1 || due[0].Attempts != 1 || !due[0].Revision.Bundle.Leased.Equal(at.Add(time.Minute)) {
		t.Fatalf("%+v, %v, want it once, leased anew", due, err)
	}
	again := take(t, s, due[0], at.Add(2*time.Minute))
	if ok, err := s.Bundles.Finish(ctx, died, madeAt(at)); err != nil || ok {
		t.Error("a function that was thought dead finished the attempt of another", err)
	}
	noError(t, s.Bundles.Release(ctx, died))
	wantDue(t, s, at.Add(time.Minute), 0, 0) // the second function still has it
	if ok, err := s.Bundles.Finish(ctx, again, madeAt(at)); err != nil || !ok {
		t.Error(ok, err)
	}
}

func TestAReleasedBundleIsDueAtOnce(t *testing.T) {
	s := newStore(t)
	b, _ := pendingBundle(t, s, 1)
	taken := take(t, s, b, now().Add(time.Hour))
	noError(t, s.Bundles.Release(ctx, taken))
	wantDue(t, s, now(), 1, 0)
}

func TestF70ABundleIsNotReadyAfterItsArtifactEnded(t *testing.T) {
	for name, purged := range map[string]bool{"before its files went": false, "after its files went": true} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			b, a := pendingBundle(t, s, 1)
			at := now()
			taken := take(t, s, b, at.Add(time.Minute))
			noError(t, remove(s, credential.Key{Public: id.NewPublic()}, *a))
			if purged {
				noError(t, s.Garbage.DeleteFileList(ctx, b.Revision))
			}
			if ok, err := s.Bundles.Finish(ctx, taken, madeAt(at)); err != nil || ok {
				t.Fatal("it became ready", err)
			}
			wantDue(t, s, at.Add(time.Minute), 1, 0) // should the function die now, another one gives it up
			noError(t, s.Bundles.GiveUp(ctx, taken, a.StorageWorkspace, at.Add(limits.BundleLease)))
			wantDue(t, s, at.Add(limits.BundleLease-1), 0, 0)
			left, err := s.Bundles.DueStaleBundles(ctx, at.Add(limits.BundleLease), 10)
			if err != nil || len(left) != 1 || left[0].Object != a.BundleObject(b.Revision.ID) {
				t.Fatalf("%+v, %v, want its object", left, err)
			}
			if purged { // a purge that is repeated leaves it in the queue
				gone := b.Revision
				gone.Bundle = bundleOf(t, s, gone)
				noError(t, s.Garbage.DeleteFileList(ctx, gone))
				wantDue(t, s, at.Add(limits.BundleLease), 0, 1)
			}
			for range 2 {
				noError(t, s.Bundles.Forget(ctx, left[0]))
			}
			wantDue(t, s, at.Add(time.Hour), 0, 0)
			if got := bundleOf(t, s, b.Revision); got.Status != artifact.BundleFailed {
				t.Errorf("%+v, want it failed", got)
			}
		})
	}
}

func TestARestoredRevisionGetsABundleOfItsOwn(t *testing.T) {
	s := newStore(t)
	r := artifact.Revision{
		ID:          id.NewRevision(),
		Artifact:    id.NewArtifact(),
		Status:      artifact.Published,
		PublishedAt: now(),
		Bundle:      artifact.Bundle{Status: artifact.BundlePending},
	}
	tx := s.begin()
	tx.createRevision(r, tree.Tree{{Path: "index.html"}})
	noError(t, s.commit(ctx, tx))
	due, err := s.Bundles.DueBundles(ctx, now(), 10)
	if err != nil || len(due) != 1 || !cmp.Equal(due[0].Revision, r) {
		t.Errorf("%+v, want %+v, %v", due, r, err)
	}
}
