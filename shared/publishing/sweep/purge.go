package sweep

import (
	"context"
	"fmt"
	"slices"
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// Purge is an artifact that ended, or one retained revision, whose files can no longer be read.
type Purge struct {
	Artifact id.Artifact
	Revision id.Revision // empty: the whole artifact
	QueueItem
}

// String names the purge in errors.
func (p Purge) String() string { return fmt.Sprintf("purge of %s %s", p.Artifact, p.Revision) }

// GarbageCandidate lists objects of one session that were unreferenced when they were marked.
type GarbageCandidate struct {
	Home      id.Workspace
	Session   id.Session
	Objects   []tree.File // without paths
	QueueItem             // when they are checked again
}

// String names the candidate in errors.
func (c GarbageCandidate) String() string {
	return fmt.Sprintf("deletion of %d objects of %s", len(c.Objects), c.Session)
}

// Purges is the purger's view of the tables, besides References.
type Purges interface {
	// DuePurges reads strongly up to n purges that are due.
	DuePurges(ctx context.Context, now time.Time, n int) ([]Purge, error)
	// Mark adds objects to the candidate of their session, and postpones the whole candidate to c.Due.
	Mark(ctx context.Context, c GarbageCandidate) error
	// DeleteFileList deletes the file list of a revision and makes the revision retained. A bundle that is not ready stays
	// in its queue, because an attempt may be under way.
	DeleteFileList(ctx context.Context, r artifact.Revision) error
	// Purged removes a purge from the queue. It has no effect on a live artifact.
	Purged(ctx context.Context, p Purge) error
	ReferenceRemover
}

// ReferenceRemover removes references.
type ReferenceRemover interface {
	// RemoveReference removes the references of a revision to objects.
	RemoveReference(ctx context.Context, r id.Revision, objects []tree.Object) error
}

// Index finds and removes entries of the content index.
type Index interface {
	// Remove removes the entry of a content if the entry names this object, and reports whether it did.
	Remove(ctx context.Context, home id.Workspace, c tree.Content, o tree.Object) (was bool, err error)
	// Indexed reads strongly which of some objects the index names.
	Indexed(ctx context.Context, home id.Workspace, objects []tree.File) ([]tree.File, error)
}

// maxPurges is how many purges one round takes; each may have many objects.
const maxPurges = 4 * limits.JobWorkers

// Purger marks the objects of ended artifacts and revisions as garbage candidates if no other revision uses them. It
// does not delete them, because upload sessions may have been told to reuse them. It removes references first and lists
// of files last, so that a purge that died is repeated in full.
type Purger struct {
	References References
	Store      Purges
	Queue      Queue
	Index      Index
	Bundles    BundleDeletions
	Now        func() time.Time
	// Watch is the clock that measures a round; Now decides what is due.
	Watch func() time.Time
}

// Due does one round. The round starts no purge after maxRoundTime.
func (p *Purger) Due(ctx context.Context) (Round, error) {
	begun := p.Watch()
	over := func() bool { return p.Watch().Sub(begun) >= maxRoundTime }
	return run(ctx, round{rows: p.Queue, now: p.Now, over: over}, maxPurges, p.Store.DuePurges,
		func(ctx context.Context, one Purge) error { return p.purge(ctx, one, over) })
}

// purge removes its own references before it checks for others, so that of two concurrent purges of a shared object the
// later one sees it unreferenced. When over reports true, it stops after the current revision and keeps what it did.
func (p *Purger) purge(ctx context.Context, one Purge, over func() bool) error {
	h, err := p.References.ArtifactFiles(ctx, one.Artifact)
	if err != nil || h.Artifact == nil {
		return err
	}
	ended := one.Revision == "" && h.Artifact.Status != artifact.Live
	gone := slices.DeleteFunc(h.Contents, func(c artifact.Contents) bool {
		return !ended && (c.Revision.ID != one.Revision || c.Revision.Status != artifact.Retained)
	})
	for _, c := range gone {
		if err := p.Store.RemoveReference(ctx, c.Revision.ID, c.Tree.Borrowed()); err != nil {
			return err
		}
	}
	if bundles := readyBundles(h.Artifact, gone); len(bundles) > 0 {
		if err := p.Bundles.DeleteBundles(ctx, bundles); err != nil {
			return err
		}
	}
	seen, done := newReferenceCache(p.References), map[tree.Object]bool{}
	for n, c := range gone {
		if n > 0 && over() {
			return errUnfinished
		}
		if err := p.revision(ctx, h.Artifact, c, seen, done); err != nil {
			return err
		}
	}
	return p.Store.Purged(ctx, one)
}

// readyBundles returns the archives of revisions that end. The bundler gives up bundles that are not ready.
func readyBundles(a *artifact.Artifact, gone []artifact.Contents) (out []artifact.BundleObject) {
	for _, c := range gone {
		if c.Revision.Bundle.Status == artifact.BundleReady {
			out = append(out, a.BundleObject(c.Revision.ID))
		}
	}
	return out
}

// revision marks the unused objects of a revision and deletes its file list. It skips objects in done, because
// revisions of one artifact share most of them.
func (p *Purger) revision(
	ctx context.Context, a *artifact.Artifact, c artifact.Contents, seen *referenceCache, done map[tree.Object]bool,
) error {
	var unused []tree.File
	for _, f := range c.Tree {
		if f.Size == 0 || done[f.Object] {
			continue
		}
		done[f.Object] = true
		if !f.Borrowed { // uploaded for this artifact, which saves reading the session
			seen.uploaders[f.Object.Session] = a.ID
		}
		used, _, err := seen.inUse(ctx, f.Object)
		if err != nil {
			return err
		}
		if !used {
			unused = append(unused, tree.File{Size: f.Size, SHA256: f.SHA256, Object: f.Object})
		}
	}
	if err := p.mark(ctx, a.StorageWorkspace, unused); err != nil {
		return err
	}
	return p.Store.DeleteFileList(ctx, c.Revision)
}

// mark marks objects as garbage candidates. It removes the index entries first, so that no session that starts after
// the waiting time began can find the objects.
func (p *Purger) mark(ctx context.Context, home id.Workspace, unused []tree.File) error {
	for _, f := range unused {
		if _, err := p.Index.Remove(ctx, home, f.Content(), f.Object); err != nil {
			return err
		}
	}
	for _, c := range candidates(home, unused) {
		c.Due = p.Now().Add(limits.CollectAfter)
		if err := p.Store.Mark(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// candidates groups objects by the session that uploaded them.
func candidates(home id.Workspace, objects []tree.File) (out []GarbageCandidate) {
	for _, f := range objects {
		n := slices.IndexFunc(out, func(c GarbageCandidate) bool { return c.Session == f.Object.Session })
		if n < 0 {
			n, out = len(out), append(out, GarbageCandidate{Home: home, Session: f.Object.Session})
		}
		out[n].Objects = append(out[n].Objects, f)
	}
	return out
}
