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

// Garbage is the garbage collector's view of the tables, besides References.
type Garbage interface {
	// DueGarbage reads strongly up to n candidates whose time has come.
	DueGarbage(ctx context.Context, now time.Time, n int) ([]GarbageCandidate, error)
	// Unmark removes a candidate, unless objects were marked since it was read.
	Unmark(ctx context.Context, c GarbageCandidate) error
	ReferenceRemover
	Queue
}

// Bytes deletes from the object store.
type Bytes interface {
	// DeleteAll deletes objects of any workspaces. A missing object is no error. After an error some may be left.
	DeleteAll(ctx context.Context, objects map[id.Workspace][]tree.Object) error
}

// GarbageCollector deletes objects that were marked limits.CollectAfter ago and are still unreferenced. Every upload
// session that could have found such an object by its content has ended by then, because its index entry was removed
// when it was marked. A candidate with an object that has a new index entry is rescheduled for as long again.
type GarbageCollector struct {
	References References
	Store      Garbage
	Index      Index
	Bytes      Bytes
	Now        func() time.Time
}

// unreferenced is a candidate reduced to its unused objects, with the revisions whose references to them are stale.
type unreferenced struct {
	GarbageCandidate
	dead [][]id.Revision // by object
}

// Due does one round: it checks each candidate and deletes the unreferenced ones with one request.
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
		unused, err := c.check(ctx, one, seen[one.Session])
		if err == nil && len(unused.Objects) > 0 {
			mu.Lock()
			defer mu.Unlock()
			gone = append(gone, unused)
		}
		return err
	})
	failed := c.delete(ctx, gone)
	r.many = 0 // so that ended.More is false only if a failed candidate could not be rescheduled
	ended, err2 := each(ctx, r, gone, func(ctx context.Context, one unreferenced) error {
		if failed != nil { // deleted one by one, so that a candidate that cannot be deleted delays no other
			if err := c.delete(ctx, []unreferenced{one}); err != nil {
				return err
			}
		}
		return c.unmark(ctx, one)
	})
	found.More = more && ended.More
	return found, errors.Join(err, err2)
}

// bySession groups candidates by the session that uploaded them, because one session's candidates need the same reads.
func bySession(
	s References, due []GarbageCandidate,
) (groups [][]GarbageCandidate, seen map[id.Session]*referenceCache) {
	seen = map[id.Session]*referenceCache{}
	place := map[id.Session]int{}
	for _, one := range due {
		u := one.Session
		if seen[u] == nil {
			seen[u], place[u] = newReferenceCache(s), len(groups)
			groups = append(groups, nil)
		}
		groups[place[u]] = append(groups[place[u]], one)
	}
	return groups, seen
}

// check returns the objects of a candidate that are not in use. It removes the candidate if all of them are, and
// reschedules it if one was indexed again.
func (c *GarbageCollector) check(
	ctx context.Context, one GarbageCandidate, seen *referenceCache,
) (unused unreferenced, err error) {
	indexed, err := c.Index.Indexed(ctx, one.Home, one.Objects)
	if err != nil {
		return unused, err
	}
	for _, f := range indexed {
		if _, err := c.Index.Remove(ctx, one.Home, f.Content(), f.Object); err != nil {
			return unused, err
		}
	}
	if len(indexed) > 0 { // sessions that found it until now may still reuse it
		return unused, c.Store.Reschedule(ctx, one.QueueItem, c.Now().Add(limits.CollectAfter), 0)
	}
	unused.GarbageCandidate = one
	unused.Objects = nil
	for _, f := range one.Objects {
		used, dead, err := seen.inUse(ctx, f.Object)
		if err != nil {
			return unreferenced{}, err
		}
		if !used {
			unused.Objects, unused.dead = append(unused.Objects, f), append(unused.dead, dead)
		}
	}
	if len(unused.Objects) == 0 {
		return unused, c.Store.Unmark(ctx, one)
	}
	return unused, nil
}

// delete deletes the bytes of unreferenced objects.
func (c *GarbageCollector) delete(ctx context.Context, gone []unreferenced) error {
	if len(gone) == 0 {
		return nil
	}
	objects := map[id.Workspace][]tree.Object{}
	for _, one := range gone {
		for _, f := range one.Objects {
			objects[one.Home] = append(objects[one.Home], f.Object)
		}
	}
	return c.Bytes.DeleteAll(ctx, objects)
}

// unmark removes the stale references to objects whose bytes are gone, then the candidate.
func (c *GarbageCollector) unmark(ctx context.Context, one unreferenced) error {
	for n, f := range one.Objects {
		for _, r := range one.dead[n] {
			if err := c.Store.RemoveReference(ctx, r, []tree.Object{f.Object}); err != nil {
				return err
			}
		}
	}
	return c.Store.Unmark(ctx, one.GarbageCandidate)
}
