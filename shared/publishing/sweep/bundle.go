package sweep

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"time"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/archive"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// Bundle is a bundle that is due.
type Bundle struct {
	Revision artifact.Revision
	Attempts int // begun when it was read
	QueueItem
}

// String names the bundle in errors.
func (b Bundle) String() string { return "bundle of revision " + string(b.Revision.ID) }

// Bundles is the bundler's view of bundles in the tables. A change has no effect if the number of attempts is no longer
// that of b.
type Bundles interface {
	// DueBundles reads strongly up to n pending bundles that no other function has taken.
	DueBundles(ctx context.Context, now time.Time, n int) ([]Bundle, error)
	// Take begins an attempt, reserves the bundle for it until an instant, and returns the bundle with the attempt
	// counted. It returns false if the bundle changed since it was read.
	Take(ctx context.Context, b Bundle, until time.Time) (taken Bundle, ok bool, err error)
	// Release ends the reservation of Take early.
	Release(ctx context.Context, b Bundle) error
	// Finish makes the bundle ready. It returns false, without effect, unless the revision is published and its artifact
	// neither deleted nor expired.
	Finish(ctx context.Context, b Bundle, made artifact.Bundle) (ok bool, err error)
	// GiveUp marks the bundle as failed and makes its object due for deletion at an instant.
	GiveUp(ctx context.Context, b Bundle, home id.Workspace, at time.Time) error
}

// BundleSources reads what bundles are made of.
type BundleSources interface {
	// Artifact reads an artifact strongly, nil if there is none.
	Artifact(ctx context.Context, a id.Artifact) (*artifact.Artifact, error)
	// Workspace reads a workspace strongly, nil if there is none.
	Workspace(ctx context.Context, w id.Workspace) (*workspace.Workspace, error)
	// Tree reads the files of a revision, nil if there are none.
	Tree(ctx context.Context, a id.Artifact, r id.Revision) (tree.Tree, error)
}

// BundleBytes reads files and writes bundles in the object store.
type BundleBytes interface {
	// Open reads size bytes of an object from an offset.
	Open(ctx context.Context, home id.Workspace, o tree.Object, offset, size int64) (io.ReadCloser, error)
	// WriteBundle stores what write writes, as a whole or not at all. It replaces an earlier object.
	WriteBundle(ctx context.Context, o artifact.BundleObject, write func(io.Writer) error) error
}

// Bundler makes the bundles of published revisions. Only one function makes a bundle at a time. If that function dies,
// another one may take the bundle when the reservation ends.
type Bundler struct {
	Store   Bundles
	Sources BundleSources
	Queue   Queue
	Bytes   BundleBytes
	Limits  *limits.Limits
	Now     func() time.Time
}

const (
	archivesAtOnce    = 2 // bundles, or exports, that one function makes at once
	maxBundleAttempts = 5 // after which a bundle is given up
)

// Due does one round.
func (b *Bundler) Due(ctx context.Context) (Round, error) {
	r := round{rows: b.Queue, now: b.Now, workers: archivesAtOnce}
	return run(ctx, r, batchSize, b.Store.DueBundles, b.bundle)
}

// bundle makes a bundle or gives it up.
func (b *Bundler) bundle(ctx context.Context, due Bundle) error {
	a, err := b.Sources.Artifact(ctx, due.Revision.Artifact)
	if err != nil {
		return err
	}
	if a == nil {
		return fmt.Errorf("the artifact %s does not exist", due.Revision.Artifact)
	}
	if due.Revision.Status != artifact.Published || a.Status != artifact.Live {
		return b.giveUp(ctx, due, a)
	}
	taken, ok, err := b.Store.Take(ctx, due, b.Now().Add(limits.BundleLease))
	if err != nil || !ok {
		return err
	}
	if taken.Attempts > maxBundleAttempts { // checked after Take, which also counts attempts that died
		return b.giveUp(ctx, taken, a)
	}
	err = b.build(ctx, taken, a)
	if err != nil {
		_ = b.Store.Release(ctx, taken) // without its error, because the reservation ends by itself
	}
	return err
}

// giveUp marks a bundle as failed. Its object is deleted a lease later, because another attempt may still write it.
func (b *Bundler) giveUp(ctx context.Context, one Bundle, a *artifact.Artifact) error {
	return b.Store.GiveUp(ctx, one, a.StorageWorkspace, b.Now().Add(limits.BundleLease))
}

// most returns how long a bundle may be under the plan of the artifact's owner.
func (b *Bundler) most(ctx context.Context, a *artifact.Artifact) (int64, error) {
	w, err := b.Sources.Workspace(ctx, a.Owner)
	if err == nil && w != nil && w.ClaimedInto != "" { // the artifact is not moved yet
		w, err = b.Sources.Workspace(ctx, w.ClaimedInto)
	}
	if err == nil && w == nil {
		err = fmt.Errorf("the workspace %s does not exist", a.Owner)
	}
	if err != nil {
		return 0, err
	}
	return b.Limits.Tiers[w.Tier()].BundleSize(), nil
}

// build stores the archive and makes the bundle ready. It gives up an archive that would be too long.
func (b *Bundler) build(ctx context.Context, one Bundle, a *artifact.Artifact) error {
	r := one.Revision
	files, err := b.Sources.Tree(ctx, a.ID, r.ID)
	if err != nil {
		return err
	}
	most, err := b.most(ctx, a)
	if err != nil {
		return err
	}
	if files == nil || archive.Size(files, r.Entrypoint) > most { // nil: the files were purged meanwhile
		return b.giveUp(ctx, one, a)
	}
	sum := sum{Hash: sha256.New()}
	err = b.Bytes.WriteBundle(ctx, a.BundleObject(r.ID), func(w io.Writer) error {
		ahead := readAhead(ctx, archive.Order(files), func(ctx context.Context, f tree.File) (io.ReadCloser, error) {
			return b.Bytes.Open(ctx, a.StorageWorkspace, f.Object, 0, f.Size)
		})
		defer ahead.stop()
		return archive.Write(io.MultiWriter(&sum, w), files, r.Entrypoint, r.PublishedAt, ahead.next)
	})
	if err != nil {
		return err
	}
	ok, err := b.Store.Finish(ctx, one, artifact.Bundle{
		Status: artifact.BundleReady,
		Size:   sum.size,
		SHA256: tree.Digest(sum.Sum(nil)),
		MadeAt: b.Now(),
	})
	if err == nil && !ok {
		return b.giveUp(ctx, one, a)
	}
	return err
}

// sum counts and hashes what is written.
type sum struct {
	hash.Hash
	size int64
}

// Write implements io.Writer.
func (s *sum) Write(b []byte) (int, error) {
	s.size += int64(len(b))
	return s.Hash.Write(b)
}
