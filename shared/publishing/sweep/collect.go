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

const (
	maxRoundObjects = 10_000 // that one round takes
	objectsAtOnce   = 1_000  // that are checked before they are deleted, as many as one request takes
)

// Due does one round: it checks candidates and deletes the unreferenced objects as it goes.
func (c *GarbageCollector) Due(ctx context.Context) (Round, error) {
	due, err := c.Store.DueGarbage(ctx, c.Now(), batchSize)
	if err != nil {
		return Round{}, err
	}
	found := summarize(due, c.Now())
	found.More = len(due) >= fullShare
	var failed []error
	taken := 0
	for _, groups := range portions(bySession(due)) {
		size := 0
		for _, group := range groups {
			size += objectsIn(group)
		}
		if taken > 0 && taken+size > maxRoundObjects {
			found.More = true
			break
		}
		taken += size
		stuck, err := c.collect(ctx, groups)
		failed = append(failed, err)
		if stuck {
			found.More = false
			break
		}
	}
	return found, errors.Join(failed...)
}

// collect checks each candidate and deletes the unreferenced objects with one request. stuck means that a failed
// candidate could not be rescheduled.
func (c *GarbageCollector) collect(ctx context.Context, groups [][]GarbageCandidate) (stuck bool, err error) {
	r := round{rows: c.Store, now: c.Now}
	var mu sync.Mutex
	var gone []unreferenced
	uses := map[id.Session]usage{}
	for _, group := range groups {
		uses[group[0].Session] = newUsage(c.References)
	}
	checked, err := eachGroup(ctx, r, groups, func(ctx context.Context, one GarbageCandidate) error {
		unused, err := c.check(ctx, one, uses[one.Session])
		if err == nil && len(unused.Objects) > 0 {
			mu.Lock()
			defer mu.Unlock()
			gone = append(gone, unused)
		}
		return err
	})
	failed := c.delete(ctx, gone)
	ended, err2 := each(ctx, r, gone, func(ctx context.Context, one unreferenced) error {
		if failed != nil { // deleted one by one, so that a candidate that cannot be deleted delays no other
			if err := c.delete(ctx, []unreferenced{one}); err != nil {
				return err
			}
		}
		return c.unmark(ctx, one)
	})
	return !checked || !ended.More, errors.Join(err, err2)
}

// bySession groups candidates by the session that uploaded them, because one session's candidates need the same reads.
func bySession(due []GarbageCandidate) (groups [][]GarbageCandidate) {
	place := map[id.Session]int{}
	for _, one := range due {
		n, known := place[one.Session]
		if !known {
			n = len(groups)
			place[one.Session] = n
			groups = append(groups, nil)
		}
		groups[n] = append(groups[n], one)
	}
	return groups
}

// portions splits groups into portions of up to objectsAtOnce objects, or of one larger group.
func portions(groups [][]GarbageCandidate) (out [][][]GarbageCandidate) {
	room := 0
	for _, group := range groups {
		size := objectsIn(group)
		if size > room {
			out, room = append(out, nil), objectsAtOnce
		}
		room -= size
		out[len(out)-1] = append(out[len(out)-1], group)
	}
	return out
}

func objectsIn(group []GarbageCandidate) (n int) {
	for _, one := range group {
		n += len(one.Objects)
	}
	return n
}

// check returns the objects of a candidate that are not in use. It removes the candidate if all of them are, and
// reschedules it if one was indexed again.
func (c *GarbageCollector) check(
	ctx context.Context, one GarbageCandidate, uses usage,
) (unused unreferenced, err error) {
	indexed, err := c.Index.Indexed(ctx, one.Home, one.Objects)
	if err != nil {
		return unused, err
	}
	err = concurrently(ctx, indexed, func(ctx context.Context, n int) error {
		_, err := c.Index.Remove(ctx, one.Home, indexed[n].Content(), indexed[n].Object)
		return err
	})
	if err != nil {
		return unused, err
	}
	if len(indexed) > 0 { // sessions that found it until now may still reuse it
		return unused, c.Store.Reschedule(ctx, one.QueueItem, c.Now().Add(limits.CollectAfter), 0)
	}
	unused.GarbageCandidate = one
	unused.Objects, unused.dead, err = uses.unused(ctx, one.Objects)
	if err == nil && len(unused.Objects) == 0 {
		err = c.Store.Unmark(ctx, one)
	}
	return unused, err
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
	stale := map[id.Revision][]tree.Object{}
	for n, f := range one.Objects {
		for _, r := range one.dead[n] {
			stale[r] = append(stale[r], f.Object)
		}
	}
	for r, objects := range stale {
		if err := c.Store.RemoveReference(ctx, r, objects); err != nil {
			return err
		}
	}
	return c.Store.Unmark(ctx, one.GarbageCandidate)
}
