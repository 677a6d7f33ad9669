// Package schedule makes jobs of services for the two hosts that a schedule wakes.
package schedule

import (
	"context"

	"vitrine/functions/jobs"
	"vitrine/shared/publishing/sweep"
)

// Job returns a job that runs rounds of a service.
func Job(name string, due func(context.Context) (sweep.Round, error)) jobs.Job {
	return jobs.Job{
		Name: name,
		Due: func(ctx context.Context) (jobs.Round, error) {
			r, err := due(ctx)
			return jobs.Round(r), err
		},
	}
}
