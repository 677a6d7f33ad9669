// Package jobs is the host of what falls due by itself. A schedule wakes it; nobody asks it anything.
package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Most is how long one call starts new rounds. The last one may take longer.
const Most = 50 * time.Second

// Round is what one round found of a kind of work.
type Round struct {
	Due    int           // how many things were due
	Oldest time.Duration // how long the oldest of them has been due
	More   bool          // whether others may wait
}

// Job is one kind of work.
type Job struct {
	Name string
	// Due does what is due, up to a number of things. What one round leaves undone the next one finds. It fails with
	// everything that failed, joined, and then tells of others only if these are not in their way.
	Due func(context.Context) (Round, error)
}

// Host does all jobs.
type Host struct {
	Jobs []Job
	Log  *slog.Logger
	Now  func() time.Time // of the machine: it measures, and decides nothing about what is due
}

// event is what a schedule says, as far as it is of use.
type event struct {
	Source string `json:"source"`
	Type   string `json:"detail-type"`
}

// Handle answers the event of a schedule.
func (h *Host) Handle(ctx context.Context, text json.RawMessage) error {
	var e event
	if err := json.Unmarshal(text, &e); err != nil || e.Source != "aws.events" || e.Type != "Scheduled Event" {
		return errors.New("this is not the event of a schedule")
	}
	return h.Run(ctx)
}

// total is what all rounds of a job came to.
type total struct {
	due    int
	oldest time.Duration
	failed []error
	stuck  bool // it fails and cannot go on
}

func (t *total) add(r Round, err error) {
	t.due += r.Due
	t.oldest = max(t.oldest, r.Oldest)
	t.failed = append(t.failed, each(err)...)
	t.stuck = err != nil && !r.More
}

// Run does rounds of all jobs until nothing is due or the time is over. A job that fails and cannot go on is left out of
// further rounds, and is in nobody's way.
func (h *Host) Run(ctx context.Context) error {
	begun, totals := h.Now(), make([]total, len(h.Jobs))
	for more := true; more && ctx.Err() == nil && h.Now().Sub(begun) < Most; {
		more = false
		for n, j := range h.Jobs {
			if totals[n].stuck {
				continue
			}
			r, err := j.Due(ctx)
			totals[n].add(r, err)
			more = more || r.More
		}
	}
	if ctx.Err() != nil { // whoever ended it knows why they fail
		return ctx.Err()
	}
	h.log(ctx, totals, h.Now().Sub(begun))
	var all []error
	for n, j := range h.Jobs {
		if f := totals[n].failed; len(f) > 0 {
			h.Log.ErrorContext(ctx, "job", "job", j.Name, "failures", len(f), "cause", f[0])
			all = append(all, fmt.Errorf("%s failed %d times, first: %w", j.Name, len(f), f[0]))
		}
	}
	return errors.Join(all...)
}

// log writes one line about all kinds of work if anything was due. oldest_due_seconds tells how far the jobs are behind.
func (h *Host) log(ctx context.Context, totals []total, took time.Duration) {
	var (
		due    int
		oldest time.Duration
	)
	attributes := []slog.Attr{slog.Int64("duration_ms", took.Milliseconds())}
	for n, j := range h.Jobs {
		t := totals[n]
		due, oldest = due+t.due, max(oldest, t.oldest)
		attributes = append(attributes, slog.Group(j.Name,
			"due", t.due,
			"failures", len(t.failed),
			"oldest_due_seconds", int64(t.oldest.Seconds()),
		))
	}
	if due == 0 {
		return
	}
	attributes = append(attributes, slog.Int64("oldest_due_seconds", int64(oldest.Seconds())))
	h.Log.LogAttrs(ctx, slog.LevelInfo, "jobs", attributes...)
}

// each are the failures that were joined.
func each(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, one := range joined.Unwrap() {
			all = append(all, each(one)...)
		}
		return all
	}
	if err == nil {
		return nil
	}
	return []error{err}
}
