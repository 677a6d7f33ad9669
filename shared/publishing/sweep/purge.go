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
	// Remains calls visit with the artifact of a purge and the revisions that still have their files: the one that is
	// purged, or all of the artifact, a page at a time. It does not call visit if there is no such artifact.
	Remains(ctx context.Context, p Purge, visit func(*artifact.Artifact, []StoredRevision) error) error
	// Mark adds objects to the candidate of their session, and postpones the whole candidate to c.Due.
	Mark(ctx context.Context, c GarbageCandidate) error
	// DeleteFileList deletes the file list of a revision and makes the revision retained. A bundle that is not ready stays
	// in its queue, because an attempt may be under way.
	DeleteFileList(ctx context.Context, r artifact.Revision) error
	// RemoveFeedback removes the threads of an artifact that ended, which gets no more.
	RemoveFeedback(ctx context.Context, a id.Artifact) error
	// Purged removes a purge from the queue. It has no effect on a live artifact.
	Purged(ctx context.Context, p Purge) error
	ReferenceRemover
}

// ReferenceRemover removes references.
type ReferenceRemover interface {
	// RemoveReference removes the references of a revision to objects.
	RemoveReference(ctx context.Context, r id.Revision, objects []tree.Object) error
}

// StoredRevision is a revision that has its files. Files decodes them, because those of many revisions fill the memory.
type StoredRevision struct {
	artifact.Revision
	Files func() (tree.Tree, error)
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
// does not delete them, because upload sessions may have been told to reuse them. It purges one revision after the
// other. Of each it removes references first and the list of files last, so that a purge that died repeats one revision.
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

// purge purges the revisions that ended. When over reports true, it stops after the current one and keeps what it did.
func (p *Purger) purge(ctx context.Context, one Purge, over func() bool) error {
	exists, ended := false, false
	done := 0
	uses := newUsage(p.References)
	err := p.Store.Remains(ctx, one, func(a *artifact.Artifact, revisions []StoredRevision) error {
		exists, ended = true, one.Revision == "" && a.Status != artifact.Live
		gone := slices.DeleteFunc(revisions, func(r StoredRevision) bool { return !one.ends(a, r.Revision) })
		if bundles := readyBundles(a, gone); len(bundles) > 0 {
			if err := p.Bundles.DeleteBundles(ctx, bundles); err != nil {
				return err
			}
		}
		for _, r := range gone {
			if done > 0 && over() {
				return errUnfinished
			}
			done++
			if err := p.revision(ctx, a, r, uses); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !exists {
		return err
	}
	if ended {
		if err := p.Store.RemoveFeedback(ctx, one.Artifact); err != nil {
			return err
		}
	}
	return p.Store.Purged(ctx, one)
}

// ends reports whether a revision ended with what is purged.
func (p Purge) ends(a *artifact.Artifact, r artifact.Revision) bool {
	if p.Revision == "" {
		return a.Status != artifact.Live
	}
	return r.ID == p.Revision && r.Status == artifact.Retained
}

// readyBundles returns the archives of revisions that end. The bundler gives up bundles that are not ready.
func readyBundles(a *artifact.Artifact, gone []StoredRevision) (out []artifact.BundleObject) {
	for _, r := range gone {
		if r.Bundle.Status == artifact.BundleReady {
			out = append(out, a.BundleObject(r.ID))
		}
	}
	return out
}

// revision removes the references of a revision before it checks for others, so that of two concurrent purges of a
// shared object the later one sees it unreferenced. Then it marks the unused objects and deletes the list of files.
func (p *Purger) revision(ctx context.Context, a *artifact.Artifact, r StoredRevision, uses usage) error {
	files, err := r.Files()
	if err != nil {
		return err
	}
	if err := p.Store.RemoveReference(ctx, r.ID, files.Borrowed()); err != nil {
		return err
	}
	if r.Source == "" {
		uses.ended[r.Session] = true
	}
	unused, _, err := uses.unused(ctx, ownObjects(r.Revision, files))
	if err != nil {
		return err
	}
	if err := p.mark(ctx, a.StorageWorkspace, unused); err != nil {
		return err
	}
	return p.Store.DeleteFileList(ctx, r.Revision)
}

// ownObjects returns the objects that a revision uploaded or references, each once and without paths. Other revisions
// answer for what it inherited. A restored revision uploaded none. Older code stored no session: then all objects that
// are not borrowed count.
func ownObjects(r artifact.Revision, files tree.Tree) (out []tree.File) {
	seen := map[tree.Object]bool{}
	for _, f := range files {
		uploaded := !f.Borrowed && r.Source == "" && (r.Session == "" || r.Session == f.Object.Session)
		if f.Size > 0 && !seen[f.Object] && (uploaded || f.References()) {
			seen[f.Object] = true
			out = append(out, tree.File{Size: f.Size, SHA256: f.SHA256, Object: f.Object})
		}
	}
	return out
}

// mark marks objects as garbage candidates. It removes the index entries first, so that no session that starts after
// the waiting time began can find the objects.
func (p *Purger) mark(ctx context.Context, home id.Workspace, unused []tree.File) error {
	err := concurrently(ctx, unused, func(ctx context.Context, n int) error {
		_, err := p.Index.Remove(ctx, home, unused[n].Content(), unused[n].Object)
		return err
	})
	if err != nil {
		return err
	}
	marks := candidates(home, unused)
	return concurrently(ctx, marks, func(ctx context.Context, n int) error {
		marks[n].Due = p.Now().Add(limits.CollectAfter)
		return p.Store.Mark(ctx, marks[n])
	})
}

// candidates groups objects by the session that uploaded them.
func candidates(home id.Workspace, objects []tree.File) (out []GarbageCandidate) {
	place := map[id.Session]int{}
	for _, f := range objects {
		n, known := place[f.Object.Session]
		if !known {
			n = len(out)
			place[f.Object.Session] = n
			out = append(out, GarbageCandidate{Home: home, Session: f.Object.Session})
		}
		out[n].Objects = append(out[n].Objects, f)
	}
	return out
}
