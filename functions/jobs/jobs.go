// Package jobs is the host of scheduled work. A schedule invokes it; it takes no requests.
package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Most is how long one call starts new rounds. The last round may run beyond it.
const Most = 50 * time.Second

// Round is the result of one round of a job.
type Round struct {
	Due    int           // items that were due
	Oldest time.Duration // how long the oldest item had been due
	More   bool          // more may be due
}

// Job is one kind of work.
type Job struct {
	Name string
	// Due processes a bounded number of due items. The next round finds the rest. Its error joins all failures. With an
	// error, More is set only if the failed items do not block the others.
	Due func(context.Context) (Round, error)
}

// Host runs all jobs.
type Host struct {
	Jobs []Job
	Log  *slog.Logger
	Now  func() time.Time // the machine's clock, which measures durations only
}

// event holds the fields of a schedule's event that are used.
type event struct {
	Source string `json:"source"`
	Type   string `json:"detail-type"`
}

// Handle runs the jobs for an event of a schedule. It refuses any other event.
func (h *Host) Handle(ctx context.Context, text json.RawMessage) error {
	var e event
	if err := json.Unmarshal(text, &e); err != nil || e.Source != "aws.events" || e.Type != "Scheduled Event" {
		return errors.New("this is not the event of a schedule")
	}
	return h.Run(ctx)
}

// total sums up the rounds of one job.
type total struct {
	due    int
	oldest time.Duration
	failed []error
	stuck  bool // the job failed and cannot go on
}

func (t *total) add(r Round, err error) {
	t.due += r.Due
	t.oldest = max(t.oldest, r.Oldest)
	t.failed = append(t.failed, unjoin(err)...)
	t.stuck = err != nil && !r.More
}

// Run runs rounds of all jobs until no item is due or the time is over. It leaves a job that fails and cannot go on out
// of further rounds, so that this job does not block the others.
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
	if ctx.Err() != nil { // the failures only follow from the end of the context, which the caller knows
		return ctx.Err()
	}
	h.log(ctx, totals, h.Now().Sub(begun))
	var all []error
	for n, j := range h.Jobs {
		if f := totals[n].failed; len(f) > 0 {
			line := []any{"job", j.Name, "failures", len(f), "cause", f[0]}
			if p, ok := errors.AsType[panicked](f[0]); ok {
				line = append(line, "stack", string(p.StackTrace()))
			}
			h.Log.ErrorContext(ctx, "job", line...)
			all = append(all, fmt.Errorf("%s failed %d times, first: %w", j.Name, len(f), f[0]))
		}
	}
	return errors.Join(all...)
}

// log writes one line about all jobs if an item was due. Its field oldest_due_seconds is how far the jobs are behind.
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

// panicked is implemented by the failure of an item whose work panicked.
type panicked interface {
	error
	StackTrace() []byte
}

// unjoin returns the errors that err joins.
func unjoin(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, one := range joined.Unwrap() {
			all = append(all, unjoin(one)...)
		}
		return all
	}
	if err == nil {
		return nil
	}
	return []error{err}
}
