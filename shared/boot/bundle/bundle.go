// Package bundle assembles the function that makes the bundles of revisions. It is a host of scheduled work as jobs is,
// with rights of its own: it reads files and writes archives, and may not delete.
package bundle

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"vitrine/functions/jobs"
	"vitrine/shared/boot"
)

// Host makes the bundles of a deployment.
func Host(s *boot.Services, log *slog.Logger) *jobs.Host {
	bundler := s.Bundler()
	return &jobs.Host{Log: log, Now: time.Now, Jobs: []jobs.Job{{
		Name: "bundles",
		Due: func(ctx context.Context) (jobs.Round, error) {
			r, err := bundler.Due(ctx)
			return jobs.Round(r), err
		},
	}}}
}

// Handler answers the events of its schedule.
func Handler(s *boot.Services, log *slog.Logger) func(context.Context, json.RawMessage) error {
	return Host(s, log).Handle
}
