package sweep

import (
	"context"
	"slices"
	"time"

	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Removal is a workspace whose time to cancel its deletion is over.
type Removal struct {
	Workspace id.Workspace
	// Homes are the workspaces under whose ids the objects of this one are stored: itself, and those that were claimed
	// into it, as far as they are known.
	Homes     []id.Workspace
	Clear     time.Time // since when passes find the workspace empty; zero: the last one did not
	QueueItem           // when it is looked at again
}

// String names it in errors.
func (r Removal) String() string { return "removal of workspace " + string(r.Workspace) }

// Left says what a step of a removal leaves.
type Left int

const (
	// Nothing is left of what the step removes.
	Nothing Left = iota
	// More may be left, and the step can be repeated at once.
	More
	// Later means that something is left until another job has done its part.
	Later
)

// Removals is the remover's view of workspaces that are being deleted.
type Removals interface {
	// DueRemovals reads strongly up to n removals that are due.
	DueRemovals(ctx context.Context, now time.Time, n int) ([]Removal, error)
	// Begin makes a deletion final and returns since when it is. going is false if a member cancelled it. A workspace that
	// is gone already counts as begun long ago.
	Begin(ctx context.Context, w id.Workspace, now time.Time) (since time.Time, going bool, err error)
	// Note records since when passes find the workspace empty; zero: one did not.
	Note(ctx context.Context, w id.Workspace, clear time.Time) error
	// Finish deletes the workspace itself and at last its removal, with the event. Repeating it has no effect.
	Finish(ctx context.Context, w id.Workspace, e event.Event) error
	Queue
}

// PeopleRemovals removes who may act in a workspace. Each call takes a bounded number of items, strongly read.
type PeopleRemovals interface {
	// RemoveAccount removes what a workspace pays, once its subscription is cancelled or the patience for that is over.
	RemoveAccount(ctx context.Context, r Removal, now time.Time) (Left, error)
	// RemoveMembers removes members with the identities by which they sign in, their sessions and connected apps.
	RemoveMembers(ctx context.Context, r Removal) (Left, error)
	// RemoveCredentials removes API keys, registrations of agents and delegations.
	RemoveCredentials(ctx context.Context, r Removal) (Left, error)
}

// ContentRemovals removes what a workspace published. Each call takes a bounded number of items, strongly read.
type ContentRemovals interface {
	// EndArtifacts ends live artifacts, so that the purger takes their files. It leaves those that a claim still moves
	// here for Later.
	EndArtifacts(ctx context.Context, r Removal, now time.Time) (Left, error)
	// RemoveArtifacts removes ended artifacts whose files are collected, with their revisions, upload sessions, links,
	// lockdowns and reports, and adds their homes to the removal.
	RemoveArtifacts(ctx context.Context, r Removal) (Left, error)
	// RemoveRecorded removes what only the record of events still names: upload sessions and registrations of agents.
	RemoveRecorded(ctx context.Context, r Removal) (Left, error)
	// RemoveRest removes every other item of the workspace but its metadata.
	RemoveRest(ctx context.Context, r Removal) (Left, error)
}

// HomeDeletions deletes from the object store.
type HomeDeletions interface {
	// DeleteHome deletes some of all objects that are stored under the id of a workspace, of every kind, and reports
	// whether there were any.
	DeleteHome(ctx context.Context, home id.Workspace) (found bool, err error)
}

// maxRemovals is how many workspaces one round removes at once.
const maxRemovals = limits.JobWorkers

// Remover removes workspaces that are deleted. A pass takes what is there of each kind, in small steps that are
// conditional or final, so that it may die anywhere, be repeated and run beside another one. Files go by the purger and
// the garbage collector, which keep what others use; the remover waits for them. The workspace itself goes after two
// passes that found it empty, because indexes may be behind.
type Remover struct {
	Store   Removals
	People  PeopleRemovals
	Content ContentRemovals
	Objects HomeDeletions
	Now     func() time.Time
	// Watch is the clock that measures a round; Now decides what is due.
	Watch func() time.Time
}

// Due does one round, which begins no further step after maxRoundTime.
func (r *Remover) Due(ctx context.Context) (Round, error) {
	begun := r.Watch()
	over := func() bool { return r.Watch().Sub(begun) >= maxRoundTime }
	return run(ctx, round{rows: r.Store, now: r.Now, over: over}, maxRemovals, r.Store.DueRemovals,
		func(ctx context.Context, one Removal) error { return r.remove(ctx, one, over) })
}

// stage removes one kind of what a workspace has.
type stage struct {
	remove func(ctx context.Context, r Removal, now time.Time) (Left, error)
	alone  bool // the stages after it do not need it
}

func (r *Remover) stages() []stage {
	timeless := func(f func(context.Context, Removal) (Left, error)) func(context.Context, Removal, time.Time) (Left, error) {
		return func(ctx context.Context, one Removal, _ time.Time) (Left, error) { return f(ctx, one) }
	}
	return []stage{
		{remove: r.People.RemoveAccount, alone: true}, // first, because another job cancels the subscription
		{remove: timeless(r.People.RemoveMembers)},    // early, because the person may sign up again from then on
		{remove: timeless(r.People.RemoveCredentials)},
		{remove: r.Content.EndArtifacts},
		{remove: timeless(r.Content.RemoveArtifacts)},
		{remove: timeless(r.Content.RemoveRecorded)},
		{remove: timeless(r.deleteObjects)},
	}
}

// removalRecheck is how far indexes may be behind a removal.
const removalRecheck = 5 * time.Second

// remove does one pass for a workspace and decides when the next one is due.
func (r *Remover) remove(ctx context.Context, one Removal, over func() bool) error {
	now := r.Now()
	since, going, err := r.Store.Begin(ctx, one.Workspace, now)
	if err != nil || !going {
		return err
	}
	if now.Sub(since) < removalRecheck { // a sign-in of just before may not be in the indexes yet
		return r.Store.Reschedule(ctx, one.QueueItem, now.Add(removalRecheck), 0)
	}
	left, err := r.pass(ctx, one, now, over)
	if err != nil {
		return err
	}
	if left != Nothing && !one.Clear.IsZero() {
		if err := r.Store.Note(ctx, one.Workspace, time.Time{}); err != nil {
			return err
		}
	}
	switch {
	case left == More:
		return errUnfinished
	case left == Later:
		return r.Store.Reschedule(ctx, one.QueueItem, now.Add(limits.RemovalWait), 0)
	case one.Clear.IsZero():
		if err := r.Store.Note(ctx, one.Workspace, now); err != nil {
			return err
		}
		return r.Store.Reschedule(ctx, one.QueueItem, now.Add(removalRecheck), 0)
	}
	return r.Store.Finish(ctx, one.Workspace, done(one.Workspace, now))
}

// pass runs the stages in order. It stops at the first that has to wait, unless that one stands alone, and says More if
// it removed anything, because what is left is found by another pass only.
func (r *Remover) pass(ctx context.Context, one Removal, now time.Time, over func() bool) (Left, error) {
	all := Nothing
	for _, stage := range r.stages() {
		left, removed, err := r.repeat(ctx, stage, one, now, over)
		switch {
		case err != nil:
			return all, err
		case left == More || removed && left == Nothing:
			return More, nil
		case left == Later && !stage.alone:
			return Later, nil
		case left == Later:
			all = Later
		}
	}
	if all == Later {
		return Later, nil
	}
	return r.Content.RemoveRest(ctx, one)
}

// repeat runs a stage until it has to stop, and reports whether it removed anything.
func (r *Remover) repeat(
	ctx context.Context, stage stage, one Removal, now time.Time, over func() bool,
) (left Left, removed bool, err error) {
	for {
		left, err = stage.remove(ctx, one, now)
		if err != nil || left != More {
			return left, removed, err
		}
		if removed = true; over() {
			return More, true, nil
		}
	}
}

// deleteObjects deletes objects that no item names, such as uploads that came after the end of their session. No item
// refers to the others, because the artifacts of the homes are gone.
func (r *Remover) deleteObjects(ctx context.Context, one Removal) (Left, error) {
	homes := one.Homes
	if !slices.Contains(homes, one.Workspace) {
		homes = append(slices.Clone(homes), one.Workspace)
	}
	for _, home := range homes {
		found, err := r.Objects.DeleteHome(ctx, home)
		if err != nil {
			return Nothing, err
		}
		if found {
			return More, nil
		}
	}
	return Nothing, nil
}

func done(w id.Workspace, at time.Time) event.Event {
	return event.Event{
		ID:        id.NewEvent(),
		Workspace: w,
		At:        at,
		Action:    event.DeletionDone,
		Actor:     event.BySystem(),
		Target:    event.Target{Type: event.OnWorkspace, ID: string(w)},
	}
}
