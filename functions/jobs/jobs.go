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

// Job is one kind of work.
type Job struct {
	Name string
	// Due does what is due, up to a number of things, and tells whether others may wait. What one round leaves undone the
	// next one finds. It fails with everything that failed, joined, and then tells of others only if these are not in
	// their way.
	Due func(context.Context) (more bool, err error)
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

// Run does rounds of all jobs until nothing is due or the time is over. A job that fails and cannot go on is left out of
// further rounds, and is in nobody's way.
func (h *Host) Run(ctx context.Context) error {
	begun, failed, stuck := h.Now(), map[string][]error{}, map[string]bool{}
	for more := true; more && ctx.Err() == nil && h.Now().Sub(begun) < Most; {
		more = false
		for _, j := range h.Jobs {
			if stuck[j.Name] {
				continue
			}
			waits, err := j.Due(ctx)
			failed[j.Name] = append(failed[j.Name], each(err)...)
			stuck[j.Name] = err != nil && !waits
			more = more || waits
		}
	}
	if ctx.Err() != nil { // whoever ended it knows why they fail
		return ctx.Err()
	}
	var all []error
	for _, j := range h.Jobs {
		if f := failed[j.Name]; len(f) > 0 {
			h.Log.ErrorContext(ctx, "job", "job", j.Name, "failures", len(f), "cause", f[0])
			all = append(all, fmt.Errorf("%s failed %d times, first: %w", j.Name, len(f), f[0]))
		}
	}
	return errors.Join(all...)
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
