package feedback

import (
	"context"
	"slices"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/artifact"
)

// Hold keeps what a guest wrote until a member lets it through. waiting are the others that wait about the artifact. It
// fails with feedback_conflict where too much waits, or where the thread takes no more.
func Hold(counts Counts, t *Thread, waiting []Held, h Held) (Change, error) {
	inThread := 0
	for _, other := range waiting {
		if other.Thread == h.Thread {
			inThread++
		}
	}
	switch {
	case counts.Held >= maxHeld:
		return Change{}, conflict("%d messages about this wait to be read, and it takes no more; come back later", counts.Held)
	case inThread >= maxWaiting:
		return Change{}, conflict("%d of your messages wait to be read here; come back later", inThread)
	case t != nil && t.State == Resolved:
		return Change{}, conflict("the thread is resolved; begin another one")
	}
	c := unchanged(counts, Thread{ID: h.Thread, Artifact: h.Artifact})
	c.After.Held++
	c.After.HeldSeq++
	h.Number = c.After.HeldSeq
	c.Waits = &h
	return c, nil
}

// Release lets what waits through at an instant. It fails as Deliver does.
func Release(counts Counts, t *Thread, waiting []Held, at time.Time) (Change, error) {
	c, err := Deliver(counts, t, waiting, at)
	if err != nil {
		return c, err
	}
	c.release(waiting)
	return c, nil
}

// Deliver puts what guests wrote into its thread, in its order, and begins the thread if t is nil. It fails as Begin and Apply
// do, but where threads are off, because members decide about what waits.
func Deliver(counts Counts, t *Thread, letters []Held, at time.Time) (c Change, err error) {
	first := letters[0]
	if t == nil {
		if err := counts.room(); err != nil {
			return c, err
		}
		c = unchanged(counts, Thread{})
		c.Thread = Thread{
			ID:       first.Thread,
			Artifact: first.Artifact,
			Revision: first.Revision,
			Path:     first.Path,
			Anchor:   first.Anchor,
			State:    Open,
		}
		c.After.Threads++
		c.After.Open++
	} else if c = unchanged(counts, *t); t.State == Deleted {
		return c, NotFound()
	}
	for _, h := range letters {
		if _, err := c.reply(Act{By: h.Author, Reply: h.Body, At: h.At}); err != nil {
			return c, err
		}
	}
	c.Thread.UpdatedAt = at
	c.count()
	return c, nil
}

// Drop lets what waits go. A thread that has nothing else is as a deleted one.
func Drop(counts Counts, t *Thread, waiting []Held) Change {
	if t == nil {
		first := waiting[0]
		t = &Thread{
			ID:        first.Thread,
			Artifact:  first.Artifact,
			State:     Deleted,
			First:     Excerpt{Author: first.Author, At: first.At},
			UpdatedAt: first.At,
		}
	}
	c := unchanged(counts, *t)
	c.release(waiting)
	return c
}

func (c *Change) release(waiting []Held) {
	c.Released = waiting
	c.After.Held -= len(waiting)
	c.After.HeldSeq++
}

// Held returns what guests wrote about an artifact that waits for a member, the oldest first. Errors: artifact_not_found.
func (s *Service) Held(ctx context.Context, by credential.Actor, a *artifact.Artifact) ([]Held, error) {
	if err := by.Require(credential.Read); err != nil {
		return nil, err
	}
	if err := s.readable(by, a); err != nil {
		return nil, err
	}
	return s.Store.Waiting(ctx, a.ID)
}

// LetThrough puts into a thread what guests wrote in it up to seen, which is Counts.HeldSeq as the member saw it, and begins
// a thread that waits. A thread that a revision has addressed is open again. Errors: artifact_not_found, not_found (nothing
// waits there), feedback_conflict (the caps; the thread is resolved).
func (s *Service) LetThrough(
	ctx context.Context, by credential.Actor, who Author, t Target, seen int64,
) (Thread, error) {
	if who.Kind != Member {
		return Thread{}, fault.New(fault.Forbidden, "a person lets through what guests wrote")
	}
	return s.decideHeld(ctx, by, t, event.FeedbackLetThrough, seen,
		func(counts Counts, thread *Thread, waiting []Held) (Change, error) {
			return Release(counts, thread, waiting, s.now())
		})
}

// Drop deletes what guests wrote in a thread up to seen, and leaves no trace of it but an event. Errors: artifact_not_found,
// not_found (nothing waits there).
func (s *Service) Drop(ctx context.Context, by credential.Actor, t Target, seen int64) (Thread, error) {
	return s.decideHeld(ctx, by, t, event.FeedbackDropped, seen,
		func(counts Counts, thread *Thread, waiting []Held) (Change, error) {
			return Drop(counts, thread, waiting), nil
		})
}

// decideHeld decides about what waits in a thread up to seen.
func (s *Service) decideHeld(
	ctx context.Context, by credential.Actor, t Target, what event.Action, seen int64,
	decide func(Counts, *Thread, []Held) (Change, error),
) (Thread, error) {
	if err := by.Require(credential.Publish); err != nil {
		return Thread{}, err
	}
	return s.write(ctx, by, t, what, func(a *artifact.Artifact, counts Counts, thread *Thread) (Change, error) {
		// What is let through or dropped meanwhile makes the commit lose its race.
		waiting, err := s.Store.Waiting(ctx, a.ID)
		if err != nil {
			return Change{}, err
		}
		waiting = slices.DeleteFunc(waiting, func(h Held) bool { return h.Thread != t.Thread || h.Number > seen })
		if len(waiting) == 0 {
			return Change{}, fault.New(fault.NotFound, "nothing of this thread waits any more; load the page again")
		}
		return decide(counts, thread, waiting)
	})
}
