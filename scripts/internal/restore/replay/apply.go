package replay

import (
	"context"
	"crypto/rand"
	"time"

	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
)

// step does one event again, or says why not. It reads the state first, and does nothing if that shows the effect.
type step func(context.Context, *applier, event.Event) (Outcome, error)

// steps has a step for each action that is done again. It is set when the program starts, because steps refer to it.
var steps map[event.Action]step

func init() {
	steps = map[event.Action]step{
		event.ArtifactDeleted: deleteArtifact,
	}
}

// applier applies a plan to a set.
type applier struct {
	rows
	set      invariant.Deployment
	stores   dynamo.Stores
	now      time.Time
	plan     *Plan
	recorded map[id.Event]bool // events of the plan that the set has
	report   Report
}

// Apply does the plan in a restored set, and copies the events that it does not do. It may stop anywhere and be
// called again with the same plan: what was done is not done twice.
//
// An action and its event are one transaction, so an event in the set says that the action was done. Only about the
// instant that is not certain, because two tables may have been restored to instants that differ. So the state decides:
//
//   - the state has the effect: nothing is done, and the event is copied if it is missing;
//   - the state lacks it and the event is there: the event is taken out first and the action done with it;
//   - the state lacks it and the event is missing: the action is done.
func (p Plan) Apply(ctx context.Context, set invariant.Deployment, now time.Time) (Report, error) {
	a := &applier{
		rows:   rows{set.DynamoDB, set.Tables},
		set:    set,
		stores: dynamo.New(set.DynamoDB, set.Tables),
		now:    now,
		plan:   &p,
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

func (a *applier) do(ctx context.Context, e event.Event) (Outcome, error) {
	return steps[e.Action](ctx, a, e)
}

// commit does an action with its event. A workspace that is closed refuses; such an action is listed, not done.
func (a *applier) commit(ctx context.Context, e event.Event, change func() error) (Outcome, error) {
	if a.recorded[e.ID] {
		if err := a.remove(ctx, a.tables.Events, eventKey(e)); err != nil {
			return "", err
		}
		a.recorded[e.ID] = false
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

// command returns a command of its own for a store that records one. Nobody repeats it, because the state says what was
// done.
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

// artifact returns an artifact as the workspace that has it sees it; nil: the set does not have it.
func (a *applier) artifact(ctx context.Context, name id.Artifact) (*artifact.Artifact, *workspace.Workspace, error) {
	found, err := a.stores.Artifacts.Artifact(ctx, name)
	if err != nil || found == nil {
		return nil, nil, err
	}
	owner, err := a.stores.Workspaces.Workspace(ctx, found.Owner)
	if err != nil || owner == nil {
		return nil, nil, err
	}
	if owner.ClaimedInto == "" {
		return found, owner, nil
	}
	found = found.AfterClaimOf(*owner)
	owner, err = a.stores.Workspaces.Workspace(ctx, found.Owner)
	if err != nil || owner == nil {
		return nil, nil, err
	}
	return found, owner, nil
}
