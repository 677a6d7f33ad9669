package machine

import (
	"context"
	"fmt"
	"math"
	"os"
	"time"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/restore/repair"
	"vitrine/scripts/internal/restore/replay"
	"vitrine/scripts/local/engines"
	"vitrine/scripts/testkit/invariant"
)

// Plan says what Run would do, and refuses what it would refuse. It leaves both folders as they are.
func (r Restore) Plan(ctx context.Context) error {
	r, err := r.absolute()
	if err != nil {
		return err
	}
	if err := r.checkFolders(); err != nil {
		return err
	}
	if err := r.haveRoom(); err != nil {
		return err
	}
	claim, err := openClaim(r.Living, os.O_RDONLY)
	if err != nil {
		return err
	}
	if claim != nil {
		defer claim.Close()
		if err := r.unclaimed(claim); err != nil {
			return err
		}
	}
	w := &work{Restore: r}
	return copies.Scratch(ctx, "", r.copyTables, func(e *engines.Engines) error { return w.print(ctx, w.deployment(e)) })
}

// print prints the plan. copied is the set of the copy.
func (w *work) print(ctx context.Context, copied invariant.Deployment) error {
	c, err := repair.Count(ctx, copied, w.Now())
	if err != nil {
		return err
	}
	past, err := w.readLiving(ctx, copied)
	if err != nil {
		return err
	}
	plan, err := replay.New(past.events, w.instant(), w.Except)
	if err != nil {
		return err
	}
	w.say("copy     %s, made by version %s", w.From.Dir, w.From.Version)
	w.say("instant  %s, %s ago: what was written since is lost, except what is done again below", stamp(w.From.At),
		age(w.Now().Sub(w.From.At)))
	w.say("holds    %d live artifacts in %d workspaces, %d objects with %s, tables of %s", c.Live, c.Workspaces,
		len(w.From.Objects), size(bytesOf(w.From.Objects)), size(w.From.DatabaseFile.Size))
	if past.gap == "" {
		w.say("living   %s: %d events since the instant", w.Living, past.count(w.instant()))
	} else {
		w.say("gap      %s: nobody knows what was deleted or revoked since. `run` ends all keys, grants, sessions and agents, "+
			"and closes all links and public views. What was deleted is there again, and the addresses of its files open it",
			past.gap)
		if err := w.report(replay.ListGap(ctx, copied, w.Now())); err != nil {
			return err
		}
	}
	plan.Print(w.Out)
	w.say("ends     %d sessions, %d sign-ins under way, %d consents, %d grants and codes of apps: people sign in again",
		c.Of["SES"], c.Of["LTX"], c.Of["OAR"], c.Of["CRED"])
	w.say("due      %d artifacts and drafts are past their end: they stay until `scripts/restore open --expire`", c.Due)
	w.say("rings    of %s", w.ringsFrom())
	w.say("takes    about %s; %s stays as it is", w.duration(), w.Living)
	if past.gap != "" {
		w.say("wait     %s after the switch before it may serve: some tokens that agents used once could be used again before",
			age(tokenLife))
	}
	if err := plan.Decided(); err != nil {
		w.say("decide   %v", err)
	}
	return nil
}

// ringsFrom says where the key rings come from.
func (r Restore) ringsFrom() string {
	if r.related() {
		return r.Living
	}
	return "the copy"
}

// How fast a run is at least: half of what loading objects took on two busy processors, because the check comes on top.
const (
	objectsPerSecond = 350
	bytesPerSecond   = 100 << 20
)

func (r Restore) duration() string {
	seconds := float64(len(r.From.Objects))/objectsPerSecond +
		float64(bytesOf(r.From.Objects)+r.From.DatabaseFile.Size)/bytesPerSecond
	return age(time.Duration(math.Ceil(seconds/60)) * time.Minute)
}

// size formats a number of bytes.
func size(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20)) }

// age formats a duration in whole minutes.
func age(d time.Duration) string {
	minutes := int(d.Round(time.Minute) / time.Minute)
	if minutes < 120 {
		return fmt.Sprintf("%d min", minutes)
	}
	return fmt.Sprintf("%d h %d min", minutes/60, minutes%60)
}
