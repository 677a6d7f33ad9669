// Package bundle assembles the function that makes the bundles of revisions and the exports of workspaces. It is a host of
// scheduled work as jobs is, with rights of its own: it reads files and writes archives, and may not delete.
package bundle

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"vitrine/functions/jobs"
	"vitrine/shared/boot"
	"vitrine/shared/publishing/sweep"
)

// Host makes the bundles and the exports of a deployment.
func Host(s *boot.Services, log *slog.Logger) *jobs.Host {
	work := boot.Scheduled{Services: s}
	return &jobs.Host{Log: log, Now: time.Now, Jobs: []jobs.Job{
		{Name: "bundles", Due: rounds(work.Bundler().Due)},
		{Name: "exports", Due: rounds(work.Exporter().Due)},
	}}
}

// rounds lets the host run a service that it does not know.
func rounds(due func(context.Context) (sweep.Round, error)) func(context.Context) (jobs.Round, error) {
	return func(ctx context.Context) (jobs.Round, error) {
		r, err := due(ctx)
		return jobs.Round(r), err
	}
}

// Handler answers the events of its schedule.
func Handler(s *boot.Services, log *slog.Logger) func(context.Context, json.RawMessage) error {
	return Host(s, log).Handle
}
