// Package bundle assembles the function that makes the bundles of revisions and the exports of workspaces. It is a host of
// scheduled work as jobs is, with rights of its own: it reads files and writes archives, and may not delete.
package bundle

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"vitrine/functions/assembly"
	"vitrine/functions/assembly/schedule"
	"vitrine/functions/jobs"
)

// Host makes the bundles and the exports of a deployment.
func Host(s *assembly.Services, log *slog.Logger) *jobs.Host {
	work := assembly.Scheduled{Services: s}
	return &jobs.Host{Log: log, Now: time.Now, Jobs: []jobs.Job{
		schedule.Job("bundles", work.Bundler().Due),
		schedule.Job("exports", work.Exporter().Due),
	}}
}

// Handler answers the events of its schedule.
func Handler(s *assembly.Services, log *slog.Logger) func(context.Context, json.RawMessage) error {
	return Host(s, log).Handle
}
