package sweep

import (
	"context"
	"slices"
	"time"

	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Removal is a workspace whose deletion can no longer be cancelled.
type Removal struct {
	Workspace id.Workspace
	// Homes are the workspaces under whose ids the objects are stored: this one and the known ones that were claimed into
	// it.
	Homes     []id.Workspace
	Clear     time.Time // since when passes find the workspace empty; zero: the last one did not
	QueueItem           // when the next pass is due
}

// String names the removal in errors.
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
	// Begin makes a deletion final and returns since when it is. going is false if a member cancelled it. For a workspace
	// that no longer exists, since is zero and going is true.
	Begin(ctx context.Context, w id.Workspace, now time.Time) (since time.Time, going bool, err error)
	// Note records since when passes find the workspace empty. Zero means that the last one did not.
	Note(ctx context.Context, w id.Workspace, clear time.Time) error
	// Finish deletes the workspace itself, records the event and removes the removal last. Repeating it has no effect.
	Finish(ctx context.Context, w id.Workspace, e event.Event) error
	Queue
}

// PeopleRemovals removes the people and credentials of a workspace. Each call reads strongly and takes a bounded number
// of items.
type PeopleRemovals interface {
	// RemoveAccount removes the billing account of a workspace, once its subscription is cancelled or
	// limits.BillingPatience is over.
	RemoveAccount(ctx context.Context, r Removal, now time.Time) (Left, error)
	// RemoveMembers removes members with the identities by which they sign in, their sessions and connected apps.
	RemoveMembers(ctx context.Context, r Removal) (Left, error)
	// RemoveCredentials removes API keys, registrations of agents and delegations.
	RemoveCredentials(ctx context.Context, r Removal) (Left, error)
}

// ContentRemovals removes what a workspace published. Each call reads strongly and takes a bounded number of items.
type ContentRemovals interface {
	// EndArtifacts ends live artifacts, so that the purger takes their files. It returns Later while a claim still moves
	// artifacts into the workspace.
	EndArtifacts(ctx context.Context, r Removal, now time.Time) (Left, error)
	// RemoveArtifacts removes ended artifacts whose files are collected, with their revisions, upload sessions, links,
	// lockdowns and reports, and adds their homes to the removal.
	RemoveArtifacts(ctx context.Context, r Removal) (Left, error)
	// RemoveRecorded removes upload sessions and registrations of agents that only the record of events still names.
	RemoveRecorded(ctx context.Context, r Removal) (Left, error)
	// RemoveRest removes every other item of the workspace but its metadata.
	RemoveRest(ctx context.Context, r Removal) (Left, error)
}

// HomeDeletions deletes from the object store.
type HomeDeletions interface {
	// DeleteHome deletes some of the objects that are stored under the id of a workspace, of every kind, and reports
	// whether there were any.
	DeleteHome(ctx context.Context, home id.Workspace) (found bool, err error)
}

// maxRemovals is how many workspaces one round removes at once.
const maxRemovals = limits.JobWorkers

// Remover removes deleted workspaces. A pass removes each kind of item in small steps that are conditional or final, so
// that it may die anywhere, be repeated and run beside another one. The remover waits for the purger and the garbage
// collector to delete files, because they keep what others use. The workspace itself goes after two passes that found
// it empty, because indexes may be behind.
type Remover struct {
	Store   Removals
	People  PeopleRemovals
	Content ContentRemovals
	Objects HomeDeletions
	Now     func() time.Time
	// Watch is the clock that measures a round; Now decides what is due.
	Watch func() time.Time
}

// Due does one round. The round begins no step after maxRoundTime.
func (r *Remover) Due(ctx context.Context) (Round, error) {
	begun := r.Watch()
	over := func() bool { return r.Watch().Sub(begun) >= maxRoundTime }
	return run(ctx, round{rows: r.Store, now: r.Now, over: over}, maxRemovals, r.Store.DueRemovals,
		func(ctx context.Context, one Removal) error { return r.remove(ctx, one, over) })
}

// stage removes one kind of item of a workspace.
type stage struct {
	remove func(ctx context.Context, r Removal, now time.Time) (Left, error)
	alone  bool // later stages need not wait for it
}

func (r *Remover) stages() []stage {
	timeless := func(f func(context.Context, Removal) (Left, error)) func(context.Context, Removal, time.Time) (Left, error) {
		return func(ctx context.Context, one Removal, _ time.Time) (Left, error) { return f(ctx, one) }
	}
	return []stage{
		{remove: r.People.RemoveAccount, alone: true}, // first, so that another job cancels the subscription meanwhile
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
	if now.Sub(since) < removalRecheck { // indexes may not have a sign-in from just before Begin yet
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
		return errUnfinished // comes up again behind the others
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

// pass runs the stages in order and stops at the first that has to wait, unless that one is alone. It returns More
// after the first stage that removed anything, because only another pass shows what is left.
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

// deleteObjects deletes all objects of the homes, such as uploads that came after the end of their session. No item
// uses them, because the artifacts of the homes are gone.
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
