package machine

import (
	"context"
	"encoding/json"
	"time"

	"vitrine/scripts/internal/restore/repair"
	"vitrine/scripts/internal/restore/replay"
	"vitrine/scripts/testkit/invariant"
)

// instant is that of the copy.
func (w *work) instant() time.Time {
	if w.journal != nil {
		return w.journal.At
	}
	return w.From.At
}

// replayAll does again what was done since the instant.
func (w *work) replayAll(ctx context.Context) (err error) {
	if w.journal.Applied, err = w.replay(ctx, time.Time{}); err != nil {
		return err
	}
	return w.journal.Write(w.Data)
}

// replay does again what was done since an earlier replay whose newest event was of a time, or closes what may have been
// closed where events are missing. It returns the time of the newest event now.
func (w *work) replay(ctx context.Context, since time.Time) (newest time.Time, err error) {
	past, err := w.readLiving(ctx, w.set)
	if err != nil {
		return newest, err
	}
	var except []replay.Exception
	if w.journal.Except != nil {
		if err := json.Unmarshal(w.journal.Except, &except); err != nil {
			return newest, err
		}
	}
	plan, err := replay.New(past.events, w.instant(), except)
	if err != nil {
		return newest, err
	}
	if err := plan.Decided(); err != nil {
		return newest, err
	}
	w.say("events   %d since %s", past.count(w.instant()), stamp(w.instant()))
	report, err := plan.Since(since).Apply(ctx, w.set, w.Now())
	if err := w.report(report, err); err != nil {
		return newest, err
	}
	if w.gap = past.gap; w.gap != "" {
		w.say("gap      %s: what may have been closed since is closed", past.gap)
		report, err = replay.CloseGap(ctx, w.set, w.Now())
		return newest, w.report(report, err)
	}
	return plan.Newest(w.Now()), w.carry(ctx, past.used)
}

// dropTorn takes back what the tables of the copy have in part.
func (w *work) dropTorn(ctx context.Context) error { return w.repairs().DropTorn(ctx) }

// endCredentials ends sessions, sign-ins, consents and grants, so that people sign in again.
func (w *work) endCredentials(ctx context.Context) error {
	report, err := replay.EndCredentials(ctx, w.set, w.Now())
	return w.report(report, err)
}

// settleArchives makes bundles due again, whose archives are in no copy, and forgets exports.
func (w *work) settleArchives(ctx context.Context) error { return w.repairs().Archives(ctx) }

func (w *work) repairs() repair.Set {
	set := w.set
	set.Gap = invariant.Gap{From: w.instant(), To: w.Now()}
	return repair.Set{
		Deployment: set,
		Instant:    w.instant(),
		Now:        w.Now(),
		Out:        w.Out,
	}
}

// check repairs what it can, and lists the rest.
func (w *work) check(ctx context.Context) error {
	left, err := w.repairs().Repair(ctx)
	if err != nil {
		return err
	}
	for _, breach := range left {
		w.say("left     %v", breach)
	}
	if len(left) > 0 {
		w.say("check    %d things are left; switch is possible, and they stay as they are", len(left))
		return ErrLeft
	}
	w.say("check    everything is whole")
	return nil
}

func (w *work) report(r replay.Report, err error) error {
	for _, line := range r.Lines {
		w.say("         %s", line)
	}
	return err
}

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05 UTC") }
