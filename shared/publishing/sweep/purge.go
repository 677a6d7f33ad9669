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

// Purge is something whose files nobody can reach any more: a whole artifact that ended, or one retained revision.
type Purge struct {
	Artifact id.Artifact
	Revision id.Revision // empty: all of the artifact
	QueueItem
}

// String names it in what is said of its failure.
func (p Purge) String() string { return fmt.Sprintf("purge of %s %s", p.Artifact, p.Revision) }

// GarbageCandidate is an object that nothing needed when it was looked at.
type GarbageCandidate struct {
	Home      id.Workspace
	Object    tree.Object
	Content   tree.Content
	QueueItem // when it is looked at again
}

// String names it in what is said of its failure.
func (c GarbageCandidate) String() string { return fmt.Sprintf("deletion of %v", c.Object) }

// Purges is what Purger needs to write, beside looking at the Shelf.
type Purges interface {
	// DuePurges returns up to n purges, read strongly, that are due at an instant.
	DuePurges(ctx context.Context, now time.Time, n int) ([]Purge, error)
	// Mark lets an object be looked at again at c.Due, and no sooner, whatever was said before.
	Mark(ctx context.Context, c GarbageCandidate) error
	// DeleteFileList removes the list of a revision's files, which from then on is retained.
	DeleteFileList(ctx context.Context, a id.Artifact, r id.Revision) error
	// Purged takes what was purged off the list of what is due. Nothing happens to what is live.
	Purged(ctx context.Context, p Purge) error
	ReferenceRemover
}

// ReferenceRemover ends references.
type ReferenceRemover interface {
	// RemoveReference removes the references of a revision to objects.
	RemoveReference(ctx context.Context, r id.Revision, objects []tree.Object) error
}

// Index takes back what lets sessions find bytes.
type Index interface {
	// RemoveIndexEntry takes the hint of a content back if it names this object, and tells whether it did.
	RemoveIndexEntry(ctx context.Context, home id.Workspace, c tree.Content, o tree.Object) (was bool, err error)
}

// purgesAtOnce is how many of them one round takes: each may hold many objects.
const purgesAtOnce = 4 * limits.JobWorkers

// Purger gives up the files of what ended. Objects that nothing else needs are condemned, not deleted: sessions may have
// been told of them. References go first and the list of files goes last, so that a death in between is made up for.
type Purger struct {
	References References
	Store      Purges
	Queue      Queue
	Index      Index
	Now        func() time.Time
	// Watch measures how long a round takes; it decides nothing about what is due.
	Watch func() time.Time
}

// Due does one round, which begins nothing new when its time is over.
func (p *Purger) Due(ctx context.Context) (Round, error) {
	begun := p.Watch()
	over := func() bool { return p.Watch().Sub(begun) >= limits.PurgeRound }
	due, err := p.Store.DuePurges(ctx, p.Now(), purgesAtOnce)
	if err != nil {
		return Round{}, err
	}
	r := round{
		rows: p.Queue,
		now:  p.Now,
		over: over,
		many: purgesAtOnce / limits.QueueShards,
	}
	return each(ctx, r, due, func(ctx context.Context, one Purge) error { return p.purge(ctx, one, over) })
}

// purge takes all references back before it looks at the shelf: of two that let go of one object, the later sees that
// nothing keeps it. Whenever it is told that the time is over, the revisions that it has done stay done.
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
	seen, done := read(p.References), map[tree.Object]bool{}
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

// revision looks at each object of a revision, unless that is done: revisions of one artifact share most of theirs.
func (p *Purger) revision(ctx context.Context, a *artifact.Artifact, c artifact.Contents, seen *reading, done map[tree.Object]bool) error {
	for _, f := range c.Tree {
		if f.Size == 0 || done[f.Object] {
			continue
		}
		done[f.Object] = true
		if !f.Borrowed {
			seen.bringers[f.Object.Session] = a.ID
		}
		kept, _, err := seen.kept(ctx, f.Object)
		if err == nil && !kept {
			err = p.mark(ctx, GarbageCandidate{Home: a.StorageWorkspace, Object: f.Object, Content: f.Content()})
		}
		if err != nil {
			return err
		}
	}
	return p.Store.DeleteFileList(ctx, a.ID, c.Revision.ID)
}

// mark takes the hint back first: from the moment that is counted from nobody finds the object.
func (p *Purger) mark(ctx context.Context, c GarbageCandidate) error {
	if _, err := p.Index.RemoveIndexEntry(ctx, c.Home, c.Content, c.Object); err != nil {
		return err
	}
	c.Due = p.Now().Add(limits.CollectAfter)
	return p.Store.Mark(ctx, c)
}
