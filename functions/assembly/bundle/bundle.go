// Package bundle assembles the function that makes the bundles of revisions and the exports of workspaces. It is a host
// of scheduled work as jobs is, with rights of its own: it reads files and writes archives, and may not delete.
package bundle

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"vitrine/functions/assembly"
	"vitrine/functions/assembly/schedule"
	"vitrine/functions/jobs"
	"vitrine/shared/publishing/sweep"
)

// Host makes the bundles and the exports of a deployment.
func Host(s *assembly.Services, log *slog.Logger) *jobs.Host {
	bundler := &sweep.Bundler{
		Store:   s.Stores.Bundles,
		Sources: s.Stores.Bundles,
		Queue:   s.Stores.Bundles,
		Bytes:   s.Blobs,
		Limits:  &s.Config.Limits,
		Now:     s.Config.Now,
	}
	exporter := &sweep.Exporter{
		Store:  s.Stores.Exports,
		Bytes:  s.Blobs,
		Limits: &s.Config.Limits,
		Now:    s.Config.Now,
	}
	return &jobs.Host{Log: log, Now: time.Now, Jobs: []jobs.Job{
		schedule.Job("bundles", bundler.Due),
		schedule.Job("exports", exporter.Due),
	}}
}

// Handler answers the events of its schedule.
func Handler(s *assembly.Services, log *slog.Logger) func(context.Context, json.RawMessage) error {
	return Host(s, log).Handle
}
