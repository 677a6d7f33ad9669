// Package part brings one artifact, or those of one workspace, back to a former state while everybody else writes.
package part

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"vitrine/scripts/internal/restore/objects"
	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Restore reads artifacts from one set of tables and puts them back into another, which is in use.
type Restore struct {
	From, To invariant.Deployment
	Instant  time.Time // of the state that From has
	Now      func() time.Time
	Out      io.Writer      // what was done, for people
	Copy     objects.Source // has objects that are in no version; nil: there is no copy
	// Wait waits for jobs that have begun to end.
	Wait func(context.Context, time.Duration) error
}

// ErrRefused means that something is not put back, for the reason in the text. Nothing was changed.
var ErrRefused = errors.New("refused")

const (
	// longestJob is how long a job may run that was started before a change and does not know of it.
	longestJob = 5 * time.Minute
	// patience is how long a restore that died can be taken up again. After that the artifact ends as if it had expired.
	patience = limits.Day
	// leastLife is how long an artifact lives at least from now on, so that its owner has time to look.
	leastLife = 7 * limits.Day
	maxRounds = 12 // of putting rows back, each of which undid what jobs did since the one before
)

func (r Restore) from() dynamo.Recoveries {
	return dynamo.New(r.From.DynamoDB, r.From.Tables).Recoveries
}

// instant returns the instant as the tables keep it.
func (r Restore) instant() time.Time { return r.Instant.UTC().Truncate(time.Millisecond) }

func (r Restore) to() dynamo.Stores { return dynamo.New(r.To.DynamoDB, r.To.Tables) }

func (r Restore) say(format string, args ...any) { fmt.Fprintf(r.Out, format+"\n", args...) }

// Artifact puts an artifact back. It can be repeated after it died anywhere. If bytes are missing for good, it ends the
// artifact again and says which.
func (r Restore) Artifact(ctx context.Context, a id.Artifact) error {
	p, err := r.Plan(ctx, a)
	if err != nil {
		return err
	}
	p.Print(r.Out)
	if p.Refusal != nil {
		return p.Refusal
	}
	if p.Done {
		return nil
	}
	return r.putBack(ctx, []Plan{p})
}

// Workspace puts back all artifacts of a workspace that were deleted since. It leaves alone those that are live and
// those that expired, and says so. It fails after the last one if any could not be put back.
func (r Restore) Workspace(ctx context.Context, w id.Workspace) error {
	plans, refused, err := r.plans(ctx, w)
	if err != nil {
		return err
	}
	return errors.Join(refused, r.putBack(ctx, plans))
}

// Plans says what Workspace would do, without changing anything.
func (r Restore) Plans(ctx context.Context, w id.Workspace) error {
	_, refused, err := r.plans(ctx, w)
	return errors.Join(refused, err)
}

// plans returns the plans that Workspace carries out, and why others that ended are not put back.
func (r Restore) plans(ctx context.Context, w id.Workspace) (plans []Plan, refused, err error) {
	all, err := r.from().Artifacts(ctx, w)
	if err != nil {
		return nil, nil, err
	}
	for _, a := range all {
		p, err := r.Plan(ctx, a)
		if err != nil {
			return nil, nil, err
		}
		if p.Expired && p.Refusal == nil {
			p.Refusal = refuse("it expired since, as it was to; name it by its id to put it back")
			p.Alone = true
		}
		p.Print(r.Out)
		switch {
		case p.Refusal != nil && !p.Alone:
			refused = errors.Join(refused, fmt.Errorf("%s: %w", a, p.Refusal))
		case p.Refusal == nil && !p.Done:
			plans = append(plans, p)
		}
	}
	r.say("%d of %d artifacts that workspace %s had are to be put back", len(plans), len(all), w)
	return plans, refused, nil
}

// putBack carries plans out together, so that all wait for the same jobs. One that fails does not keep the others.
func (r Restore) putBack(ctx context.Context, plans []Plan) error {
	failed := failures{}
	plans = failed.each(plans, func(p Plan) error { return r.hold(ctx, p) })
	plans, err := r.settle(ctx, plans, &failed)
	if err != nil {
		return err
	}
	failed.each(plans, func(p Plan) error { return r.finish(ctx, p) })
	return errors.Join(failed.all...)
}

// failures keeps why artifacts were not put back.
type failures struct{ all []error }

// each returns the plans for which do succeeds.
func (f *failures) each(plans []Plan, do func(Plan) error) (kept []Plan) {
	for _, p := range plans {
		if err := do(p); err != nil {
			f.all = append(f.all, fmt.Errorf("%s is not back: %w", p.Artifact, err))
			continue
		}
		kept = append(kept, p)
	}
	return kept
}

// hold makes the artifact one that neither the purger nor the collector takes anything from, and that no request reads.
func (r Restore) hold(ctx context.Context, p Plan) error {
	if p.Resumes {
		return nil
	}
	return r.to().Recoveries.Hold(ctx, r.recovery(p), p.living)
}

func (r Restore) recovery(p Plan) dynamo.Recovery {
	return dynamo.Recovery{
		Saved:   p.saved,
		Instant: r.instant(),
		Owner:   p.Owner,
		Until:   r.Now().Add(patience),
	}
}

// settle puts rows back and waits, until a round after a wait finds all of them in place. It waits at least once,
// because an earlier process may have put rows back just before it died.
func (r Restore) settle(ctx context.Context, plans []Plan, failed *failures) ([]Plan, error) {
	for round := range maxRounds {
		wrote := round == 0
		plans = failed.each(plans, func(p Plan) error {
			did, err := r.rows(ctx, p)
			wrote = wrote || did
			return err
		})
		if !wrote || len(plans) == 0 {
			return plans, nil
		}
		r.say("waiting %s for jobs that began before to end", longestJob)
		if err := r.Wait(ctx, longestJob); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("jobs keep removing what is put back; stop the jobs and run the same command again")
}

// rows puts back the rows of an artifact and discards its later revisions.
func (r Restore) rows(ctx context.Context, p Plan) (wrote bool, err error) {
	to, of := r.to(), r.recovery(p)
	wrote, err = to.Recoveries.PutBack(ctx, of)
	if err != nil {
		return wrote, err
	}
	said, err := r.from().Discussion(ctx, p.Artifact)
	if err != nil {
		return wrote, err
	}
	talked, err := to.Recoveries.PutDiscussion(ctx, of, said)
	if err != nil {
		return wrote, err
	}
	return wrote || talked, r.discard(ctx, p)
}

// finish brings the bytes back, makes the artifact readable, and says how it is now.
func (r Restore) finish(ctx context.Context, p Plan) error {
	missing, err := r.bring(ctx, p)
	if err != nil {
		return err
	}
	of, now := r.recovery(p), r.Now()
	if len(missing) > 0 {
		if err := r.to().Recoveries.Undo(ctx, of, r.event(p, event.ArtifactDeleted, p.Title)); err != nil {
			return err
		}
		return fmt.Errorf("bytes are missing for good, so it stays deleted: %w", errors.Join(missing...))
	}
	if err := r.bundles(ctx, p); err != nil {
		return err
	}
	pinned, err := r.to().Recoveries.Finish(ctx, of, dynamo.Closing{
		At:      now,
		Expires: now.Add(leastLife),
		MaxPins: p.maxPins,
		Event:   r.event(p, event.ArtifactRestored, "to its state of "+r.instant().Format(time.RFC3339)),
	})
	if err != nil {
		return err
	}
	r.say("%s is back", p.Artifact)
	if p.Pin && !pinned {
		r.say("%s is not pinned, because its workspace has as many pins as it may have", p.Artifact)
	}
	return nil
}

func (r Restore) event(p Plan, action event.Action, detail string) event.Event {
	return event.Event{
		ID:        id.NewEvent(),
		Workspace: p.Owner,
		At:        r.Now(),
		Action:    action,
		Actor:     event.BySystem(),
		Target:    event.Target{Type: event.OnArtifact, ID: string(p.Artifact)},
		Detail:    detail,
	}
}
