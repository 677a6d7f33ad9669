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
	// next one finds.
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

// Run does rounds of all jobs until nothing is due or the time is over. A job that fails is left out of further rounds,
// and is in nobody's way.
func (h *Host) Run(ctx context.Context) error {
	begun, failed := h.Now(), map[string]error{}
	for more := true; more && ctx.Err() == nil && h.Now().Sub(begun) < Most; {
		more = false
		for _, j := range h.Jobs {
			if failed[j.Name] != nil {
				continue
			}
			waits, err := j.Due(ctx)
			if err != nil {
				failed[j.Name] = err
				continue
			}
			more = more || waits
		}
	}
	if ctx.Err() != nil { // whoever ended it knows why they fail
		return ctx.Err()
	}
	var all []error
	for _, j := range h.Jobs {
		if err := failed[j.Name]; err != nil {
			h.Log.ErrorContext(ctx, "job", "job", j.Name, "cause", err)
			all = append(all, fmt.Errorf("%s: %w", j.Name, err))
		}
	}
	return errors.Join(all...)
}
