package sweep

import (
	"context"
	"errors"
	"sync"
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/tree"
)

// Garbage is what Collector needs of the tables, beside looking at the Shelf.
type Garbage interface {
	// DueGarbage returns up to n condemned objects, read strongly, whose time has come at an instant.
	DueGarbage(ctx context.Context, now time.Time, n int) ([]GarbageCandidate, error)
	// Unmark ends the matter, unless the object was condemned anew since it was read.
	Unmark(ctx context.Context, c GarbageCandidate) error
	ReferenceRemover
	Queue
}

// Bytes is what Collector needs of the object store.
type Bytes interface {
	// DeleteAll removes objects of any workspaces; ones that are gone are no failure. If it fails, some may be left.
	DeleteAll(ctx context.Context, objects map[id.Workspace][]tree.Object) error
}

// GarbageCollector deletes condemned objects. By then every session has ended that was told of them before their hint was taken
// back, unless a hint came again: those that are found again live on for as long again.
type GarbageCollector struct {
	References References
	Store      Garbage
	Index      Index
	Bytes      Bytes
	Now        func() time.Time
}

// unreferenced is a condemned object that nothing keeps, with the revisions whose references to it mean nothing any more.
type unreferenced struct {
	GarbageCandidate
	dead []id.Revision
}

// Due does one round: it looks at each object, and deletes those that nothing keeps with one request.
func (c *GarbageCollector) Due(ctx context.Context) (Round, error) {
	due, err := c.Store.DueGarbage(ctx, c.Now(), batchSize)
	if err != nil {
		return Round{}, err
	}
	found, r := summarize(due, c.Now()), round{rows: c.Store, now: c.Now, many: fullShare}
	var mu sync.Mutex
	var gone []unreferenced
	groups, seen := bySession(c.References, due)
	more, err := eachGroup(ctx, r, groups, func(ctx context.Context, one GarbageCandidate) error {
		needed, dead, err := c.needed(ctx, one, seen[one.Object.Session])
		if err == nil && !needed {
			mu.Lock()
			defer mu.Unlock()
			gone = append(gone, unreferenced{one, dead})
		}
		return err
	})
	failed := c.delete(ctx, gone)
	r.many = 0 // more tells only whether what failed was put off
	ended, err2 := each(ctx, r, gone, func(ctx context.Context, one unreferenced) error {
		if failed != nil { // so that one object that cannot be deleted is in no other's way
			if err := c.delete(ctx, []unreferenced{one}); err != nil {
				return err
			}
		}
		return c.unmark(ctx, one)
	})
	found.More = more && ended.More
	return found, errors.Join(err, err2)
}

// bySession groups objects by the session that brought them: what keeps one is read once for all of its group.
func bySession(s References, due []GarbageCandidate) (groups [][]GarbageCandidate, seen map[id.Session]*referenceCache) {
	seen = map[id.Session]*referenceCache{}
	place := map[id.Session]int{}
	for _, one := range due {
		u := one.Object.Session
		if seen[u] == nil {
			seen[u], place[u] = newReferenceCache(s), len(groups)
			groups = append(groups, nil)
		}
		groups[place[u]] = append(groups[place[u]], one)
	}
	return groups, seen
}

// needed tells whether anything keeps an object, and ends the matter for one that is kept.
func (c *GarbageCollector) needed(ctx context.Context, one GarbageCandidate, seen *referenceCache) (needed bool, dead []id.Revision, err error) {
	found, err := c.Index.RemoveIndexEntry(ctx, one.Home, one.Content, one.Object)
	if err != nil {
		return true, nil, err
	}
	if found {
		return true, nil, c.Store.Reschedule(ctx, one.QueueItem, c.Now().Add(limits.CollectAfter), 0)
	}
	kept, dead, err := seen.inUse(ctx, one.Object)
	if err == nil && kept {
		err = c.Store.Unmark(ctx, one)
	}
	return kept, dead, err
}

// delete removes the bytes of objects that nothing keeps.
func (c *GarbageCollector) delete(ctx context.Context, gone []unreferenced) error {
	if len(gone) == 0 {
		return nil
	}
	objects := map[id.Workspace][]tree.Object{}
	for _, one := range gone {
		objects[one.Home] = append(objects[one.Home], one.Object)
	}
	return c.Bytes.DeleteAll(ctx, objects)
}

// unmark ends the matter for an object whose bytes are gone.
func (c *GarbageCollector) unmark(ctx context.Context, one unreferenced) error {
	for _, r := range one.dead {
		if err := c.Store.RemoveReference(ctx, r, []tree.Object{one.Object}); err != nil {
			return err
		}
	}
	return c.Store.Unmark(ctx, one.GarbageCandidate)
}
