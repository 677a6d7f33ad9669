package replay

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
)

// step does one event again, or says why not. It reads the state first, and writes only if that lacks the effect.
type step func(context.Context, *applier, event.Event) (Outcome, error)

// steps has a step for each action that is done again.
var steps = map[event.Action]step{
	event.ArtifactDeleted:   deleteArtifact,
	event.ArtifactExpired:   expireArtifact,
	event.ArtifactPinned:    pin,
	event.ArtifactUnpinned:  unpin,
	event.ArtifactPublished: keepPublished,
	event.ArtifactRestored:  keepRestored,

	event.LinkRevoked:       revokeLink,
	event.VisibilityUpdated: makePrivate,
	event.LinksLocked:       lockLinks,
	event.LinksUnlocked:     lockLinks,

	event.FeedbackDeleted:        deleteThread,
	event.FeedbackDropped:        dropHeld,
	event.FeedbackMessageDeleted: deleteMessage,

	event.LockdownSet:       setLockdown,
	event.LockdownLifted:    liftLockdown,
	event.DeletionRequested: requestDeletion,
	event.DeletionCancelled: cancelDeletion,
	event.DeletionDone:      finishDeletion,
	event.WorkspaceClaimed:  claimWorkspace,
	event.ClaimCompleted:    completeClaim,

	event.KeyRevoked:        revokeKey,
	event.TokenRevoked:      revokeToken,
	event.GrantRevoked:      revokeGrants,
	event.RefreshReused:     revokeGrants,
	event.DelegationRevoked: endDelegation,
	event.ClaimLocked:       lockClaim,
	event.SessionsEnded:     signOut,
}

// applier applies a plan to a set.
type applier struct {
	store
	set      invariant.Deployment
	stores   dynamo.Stores
	now      time.Time
	plan     *Plan
	recorded map[id.Event]bool // events of the plan that the set has
	held     map[id.Event]bool // events that the set gets from its jobs, and not by copying
	holders  *holders          // nil: not read yet
	report   Report
}

// Apply does the plan in a restored set, and copies the events that it does not do. It may stop anywhere and be
// called again with the same plan: what was done is not done twice.
//
// An action and its event are one transaction, so an event in the set says that the action was done. Only about the
// instant that is not certain, because two tables may have been restored to instants that differ. So the state decides:
//
//   - the state has the effect: only the event is copied, if it is missing;
//   - the state lacks it and the event is there: the event is taken out first and the action done with it;
//   - the state lacks it and the event is missing: the action is done.
func (p Plan) Apply(ctx context.Context, set invariant.Deployment, now time.Time) (Report, error) {
	a := &applier{
		store:  storeOf(set),
		set:    set,
		stores: dynamo.New(set.DynamoDB, set.Tables),
		now:    now,
		plan:   &p,
		held:   map[id.Event]bool{},
	}
	var err error
	if a.recorded, err = a.which(ctx, p.applied); err != nil {
		return a.report, err
	}
	for _, e := range p.applied {
		outcome, err := a.do(ctx, e)
		if err != nil {
			return a.report, err
		}
		a.report.count(e, outcome)
	}
	for _, events := range [][]event.Event{p.applied, p.left, p.others} {
		if err := a.copy(ctx, events); err != nil {
			return a.report, err
		}
	}
	a.report.summarize()
	return a.report, nil
}

// do does one event again. The state cannot say whether something was switched on that was switched off later. So an
// event is over if the next one of its switch is in the set, because each of them needs the one before.
func (a *applier) do(ctx context.Context, e event.Event) (Outcome, error) {
	next, ok := a.plan.next[e.ID]
	if ok && a.recorded[next.ID] {
		return Already, nil
	}
	if next.Action == event.ArtifactRestored { // deleting it again would call for another restore
		return "it was restored later, and stays as it is in the restored set", nil
	}
	return steps[e.Action](ctx, a, e)
}

// switches names the actions that undo each other.
var switches = [][]event.Action{
	{event.ArtifactDeleted, event.ArtifactExpired, event.ArtifactRestored},
	{event.ArtifactPinned, event.ArtifactUnpinned},
	{event.LinksLocked, event.LinksUnlocked},
	{event.LockdownSet, event.LockdownLifted},
	{event.DeletionRequested, event.DeletionCancelled, event.DeletionDone},
}

// relate finds which events of the plan belong together.
func (p *Plan) relate() {
	p.next, p.together = map[id.Event]event.Event{}, map[id.Event]event.Event{}
	type key struct {
		kind   int
		target event.Target
	}
	last := map[key]event.Event{}
	claims := map[request]event.Event{}
	for _, e := range slices.Backward(p.applied) {
		if kind := switchOf(e.Action); kind >= 0 {
			if next, ok := last[key{kind, e.Target}]; ok {
				p.next[e.ID] = next
			}
			last[key{kind, e.Target}] = e
		}
		if e.Action == event.WorkspaceClaimed {
			claims[requestOf(e)] = e
		}
	}
	for _, e := range p.applied {
		if claimed, ok := claims[requestOf(e)]; ok && e.Action == event.ClaimCompleted {
			p.together[claimed.ID], p.together[e.ID] = e, claimed
		}
	}
}

// switchOf returns which switch an action belongs to; negative: none.
func switchOf(a event.Action) int {
	return slices.IndexFunc(switches, func(s []event.Action) bool { return slices.Contains(s, a) })
}

// request is what the events of one request have in common.
type request struct {
	workspace id.Workspace
	name      string
	at        int64
}

func requestOf(e event.Event) request { return request{e.Workspace, e.RequestID, e.At.UnixMilli()} }

// commit does an action with its event. A workspace that is closed refuses; such an action is listed, not done.
func (a *applier) commit(ctx context.Context, e event.Event, change func() error) (Outcome, error) {
	if err := a.takeOut(ctx, e); err != nil {
		return "", err
	}
	err := change()
	if fault.CodeOf(err) == fault.NotAuthenticated {
		return "its workspace is closed in the restored set", nil
	}
	if err != nil {
		return "", err
	}
	a.recorded[e.ID] = true
	return Applied, nil
}

// takeOut removes an event whose action is to be done again with it. If the process ends after it, the next one has the
// event from the plan.
func (a *applier) takeOut(ctx context.Context, e event.Event) error {
	if !a.recorded[e.ID] {
		return nil
	}
	a.recorded[e.ID] = false
	return a.Remove(ctx, a.Tables.Events, eventKey(e))
}

// command returns a command of its own for a store that records one. It is never repeated, because the state says what
// was done.
func (a *applier) command(e event.Event) idempotency.Command {
	return idempotency.Command{Key: idempotency.Key{
		Actor:     "restore",
		Operation: idempotency.Operation(e.Action),
		Target:    string(e.ID),
		Client:    rand.Text(),
	}}
}

// result is the result of such a command.
var result = []byte("{}")
