package sweep

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/archive"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// fakeBundles has one bundle that is due, of an artifact whose files each hold their own path.
type fakeBundles struct {
	*fakeStore
	due      Bundle
	artifact artifact.Artifact
	owner    workspace.Workspace
	into     workspace.Workspace
	files    tree.Tree

	taken    bool // another function was faster
	ended    bool // the artifact ended while the bundle was made
	archive  []byte
	made     artifact.Bundle
	released bool
	gaveUp   time.Time
}

func newBundler(paths ...string) (*Bundler, *fakeBundles) {
	f := &fakeBundles{
		fakeStore: newStore(),
		artifact:  artifact.Artifact{ID: "art", Owner: "ws", StorageWorkspace: "home", Status: artifact.Live},
		owner:     workspace.Workspace{ID: "ws"},
		into:      workspace.Workspace{ID: "into", ClaimedAt: start},
	}
	for n, p := range paths {
		f.files = append(f.files, tree.File{
			Path:   p,
			Size:   int64(len(p)),
			SHA256: tree.DigestOf(p),
			Object: tree.Object{Session: "ups", Entry: n},
		})
	}
	f.due = Bundle{
		Revision: artifact.Revision{
			ID:          "rev",
			Artifact:    "art",
			Status:      artifact.Published,
			Size:        f.files.Size(),
			PublishedAt: start,
		},
		QueueItem: QueueItem{Key: "key", Due: start},
	}
	numbers := limits.Default()
	return &Bundler{
		Store:   f,
		Sources: f,
		Queue:   f,
		Bytes:   f,
		Limits:  &numbers,
		Now:     clock,
	}, f
}

func (f *fakeBundles) DueBundles(context.Context, time.Time, int) ([]Bundle, error) {
	return []Bundle{f.due}, nil
}

func (f *fakeBundles) Take(_ context.Context, b Bundle, _ time.Time) (Bundle, bool, error) {
	b.Attempts++
	f.due.Attempts = b.Attempts
	return b, !f.taken, f.call("Take", none)
}

func (f *fakeBundles) Release(context.Context, Bundle) error {
	f.released = true
	return nil
}

func (f *fakeBundles) Finish(_ context.Context, _ Bundle, made artifact.Bundle) (bool, error) {
	return !f.ended, f.call("Finish", func() { f.made = made })
}

func (f *fakeBundles) GiveUp(_ context.Context, _ Bundle, _ id.Workspace, at time.Time) error {
	return f.call("GiveUp", func() { f.gaveUp = at })
}

func (f *fakeBundles) Artifact(context.Context, id.Artifact) (*artifact.Artifact, error) {
	return &f.artifact, nil
}

func (f *fakeBundles) Workspace(_ context.Context, w id.Workspace) (*workspace.Workspace, error) {
	if w == f.into.ID {
		return &f.into, nil
	}
	return &f.owner, nil
}

func (f *fakeBundles) Tree(context.Context, id.Artifact, id.Revision) (tree.Tree, error) {
	return f.files, nil
}

func (f *fakeBundles) Open(_ context.Context, _ id.Workspace, o tree.Object, _, _ int64) (io.ReadCloser, error) {
	if f.broken[tree.Object{Session: o.Session, Entry: o.Entry}] {
		return nil, errKilled
	}
	return io.NopCloser(strings.NewReader(f.files[o.Entry].Path)), nil
}

func (f *fakeBundles) WriteBundle(_ context.Context, _ artifact.BundleObject, write func(io.Writer) error) error {
	var out bytes.Buffer
	if err := write(&out); err != nil {
		return err
	}
	return f.call("WriteBundle", func() { f.archive = out.Bytes() })
}

func TestABundleHoldsTheFilesOfItsRevision(t *testing.T) {
	b, f := newBundler("index.html", "css/site.css", "data.json")
	if r, err := b.Due(t.Context()); err != nil || r.Due != 1 {
		t.Fatalf("%+v, %v, want one due", r, err)
	}
	z, err := zip.NewReader(bytes.NewReader(f.archive), int64(len(f.archive)))
	expect.OK(t, err)
	for _, file := range z.File {
		r, err := file.Open()
		expect.OK(t, err)
		if got, err := io.ReadAll(r); err != nil || string(got) != file.Name {
			t.Errorf("%s holds %q, %v", file.Name, got, err)
		}
	}
	want := artifact.Bundle{
		Status: artifact.BundleReady,
		Size:   int64(len(f.archive)),
		SHA256: sha256.Sum256(f.archive),
		MadeAt: start,
	}
	if len(z.File) != 3 || f.made != want || !f.gaveUp.IsZero() {
		t.Errorf("%d files, made %+v, want %+v, gave up %v", len(z.File), f.made, want, f.gaveUp)
	}
}

func TestF70ABundleOfWhatEndedIsGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		set   func(*fakeBundles)
		calls []string
	}{
		"before it was made": {
			func(f *fakeBundles) { f.artifact.Status = artifact.Deleted },
			[]string{"GiveUp"},
		},
		"whose files are gone": {
			func(f *fakeBundles) { f.due.Revision.Status = artifact.Retained },
			[]string{"GiveUp"},
		},
		"whose files went meanwhile": {
			func(f *fakeBundles) { f.files = nil },
			[]string{"Take", "GiveUp"},
		},
		"while it was made": {
			func(f *fakeBundles) { f.ended = true },
			[]string{"Take", "WriteBundle", "Finish", "GiveUp"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			b, f := newBundler("index.html")
			c.set(f)
			_, err := b.Due(t.Context())
			if err != nil || !slices.Equal(f.calls, c.calls) || !f.gaveUp.Equal(start.Add(limits.BundleLease)) {
				t.Errorf("%v, %v, its object goes at %v", err, f.calls, f.gaveUp)
			}
		})
	}
}

func TestABundleThatAnotherFunctionHasIsLeftToIt(t *testing.T) {
	b, f := newBundler("index.html")
	f.taken = true
	if _, err := b.Due(t.Context()); err != nil || !slices.Equal(f.calls, []string{"Take"}) || f.released {
		t.Errorf("%v, %v", err, f.calls)
	}
}

func TestF72ABundleIsGivenUpAfterItsAttempts(t *testing.T) {
	b, f := newBundler("index.html", "broken.css")
	f.broken[tree.Object{Session: "ups", Entry: 1}] = true
	for attempt := 1; attempt <= maxBundleAttempts; attempt++ {
		f.due.Failures, f.released = attempt-1, false
		_, err := b.Due(t.Context())
		want := rescheduled{start.Add(retryAfter(attempt - 1)), attempt}
		if !errors.Is(err, errKilled) || !f.released || f.rescheduled["key"] != want || !f.gaveUp.IsZero() {
			t.Fatalf("attempt %d: %v, released %t, rescheduled %v", attempt, err, f.released, f.rescheduled)
		}
	}
	f.calls = nil
	_, err := b.Due(t.Context())
	if err != nil || !slices.Equal(f.calls, []string{"Take", "GiveUp"}) {
		t.Errorf("%v, %v", err, f.calls)
	}
}

func TestABundleAboveTheCapOfItsOwnerIsGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		tier limits.Tier
		set  func(*fakeBundles)
	}{
		"of an ephemeral workspace": {limits.Ephemeral, func(*fakeBundles) {}},
		"of one that claimed it": {limits.Free, func(f *fakeBundles) {
			f.owner.ClaimedInto = f.into.ID
		}},
	} {
		t.Run(name, func(t *testing.T) {
			for less, calls := range map[int64][]string{
				0: {"Take", "WriteBundle", "Finish"},
				1: {"Take", "GiveUp"},
			} {
				b, f := newBundler("index.html", "Index.html") // which are more than their bytes, with a list
				c.set(f)
				policy := b.Limits.Tiers[c.tier]
				policy.ArtifactSize = archive.Size(f.files, "") - less
				b.Limits.Tiers[c.tier] = policy
				if _, err := b.Due(t.Context()); err != nil || !slices.Equal(f.calls, calls) {
					t.Errorf("%d bytes too long: %v, %v", less, err, f.calls)
				}
				if less == 0 && int64(len(f.archive)) != policy.ArtifactSize {
					t.Errorf("%d bytes, want %d", len(f.archive), policy.ArtifactSize)
				}
			}
		})
	}
}

func TestABundleIsMadeAgainAfterAnAttemptThatDied(t *testing.T) {
	for _, killed := range []string{"Take", "WriteBundle", "Finish"} {
		b, f := newBundler("index.html")
		f.failAt = slices.Index([]string{"Take", "WriteBundle", "Finish"}, killed) + 1
		if _, err := b.Due(t.Context()); !errors.Is(err, errKilled) {
			t.Fatalf("killed at %s: %v", killed, err)
		}
		f.calls, f.failAt = nil, 0
		if _, err := b.Due(t.Context()); err != nil || f.made.Status != artifact.BundleReady {
			t.Errorf("repeated after %s: %v, %v", killed, err, f.calls)
		}
	}
}

func TestFilesAreReadAheadWithinBounds(t *testing.T) {
	var files tree.Tree
	for n := range 40 {
		files = append(files, tree.File{Path: fmt.Sprint(n), Size: 4 * limits.MiB})
	}
	var mu sync.Mutex
	var held, most int64
	body := make([]byte, 4*limits.MiB)
	for n := range files {
		files[n].SHA256 = sha256.Sum256(body)
	}
	a := readAhead(t.Context(), files, func(_ context.Context, f tree.File) (io.ReadCloser, error) {
		mu.Lock()
		defer mu.Unlock()
		held += f.Size
		most = max(most, held)
		return io.NopCloser(bytes.NewReader(body)), nil
	})
	defer a.stop()
	for n, f := range files {
		if _, err := a.next(f); err != nil {
			t.Fatalf("file %d: %v", n, err)
		}
		if n > 0 { // next gave up the one before
			mu.Lock()
			held -= f.Size
			mu.Unlock()
		}
	}
	if most > maxAhead+4*limits.MiB {
		t.Errorf("%d bytes were held at once", most)
	}
}

func TestAStaleBundleIsDeletedThenForgotten(t *testing.T) {
	newJob := func() (*fakeStore, func() error) {
		f := newStore()
		s := &Sweeper{Store: f, Bundles: staleBundles{f}, Archives: f, Now: clock}
		return f, func() error { _, err := s.DueBundles(t.Context()); return err }
	}
	f, run := newJob()
	if err := run(); err != nil || !slices.Equal(f.calls, []string{"DeleteBundles", "Forget"}) {
		t.Errorf("%v, %v", f.calls, err)
	}
	f, run = newJob()
	f.failAt = 1
	if err := run(); !errors.Is(err, errKilled) || slices.Contains(f.calls, "Forget") ||
		f.rescheduled["key"].failures != 1 {
		t.Errorf("%v, %v, %v", err, f.calls, f.rescheduled)
	}
}

type staleBundles struct{ *fakeStore }

func (staleBundles) DueStaleBundles(context.Context, time.Time, int) ([]StaleBundle, error) {
	return []StaleBundle{{QueueItem: QueueItem{Key: "key", Due: start}}}, nil
}

func (b staleBundles) Forget(context.Context, StaleBundle) error { return b.call("Forget", none) }

func TestAPurgeDeletesBundlesThatAreReady(t *testing.T) {
	session := id.NewSession()
	ready, pending := revision(artifact.Published, object(session, 0)), revision(artifact.Published, object(session, 1))
	ready.Revision.Bundle.Status = artifact.BundleReady
	pending.Revision.Bundle.Status = artifact.BundlePending
	p, f := newPurger(artifact.Deleted, false, ready, pending)
	if got := readyBundles(f.files[art].Artifact, f.files[art].Contents); len(got) != 1 ||
		got[0].Revision != ready.Revision.ID {
		t.Errorf("%v", got)
	}
	if _, err := p.Due(t.Context()); err != nil || f.count("DeleteBundles") != 1 || f.count("DeleteFileList") != 2 {
		t.Errorf("%v, %v", err, f.calls)
	}
	p, f = newPurger(artifact.Deleted, false, pending)
	if _, err := p.Due(t.Context()); err != nil || f.count("DeleteBundles") != 0 {
		t.Errorf("%v, %v", err, f.calls)
	}
}
