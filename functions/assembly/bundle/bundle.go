// Package bundle assembles the function that makes bundles of revisions and exports of workspaces. Like jobs it is a
// host of scheduled work, but has other rights: it reads files and writes archives, and may not delete.
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

// Host returns the host that makes the bundles and exports of a deployment.
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
		Store:   s.Stores.Exports,
		Bytes:   s.Blobs,
		Threads: s.Stores.Feedback,
		Limits:  &s.Config.Limits,
		Now:     s.Config.Now,
	}
	return &jobs.Host{Log: log, Now: time.Now, Jobs: []jobs.Job{
		schedule.Job("bundles", bundler.Due),
		schedule.Job("exports", exporter.Due),
	}}
}

// Handler returns the handler for events of its schedule.
func Handler(s *assembly.Services, log *slog.Logger) func(context.Context, json.RawMessage) error {
	return Host(s, log).Handle
}
