// Package jobs assembles the host of jobs.
package jobs

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"vitrine/functions/jobs"
	"vitrine/shared/boot"
	"vitrine/shared/publishing/sweep"
)

// Host does the jobs of a deployment.
func Host(s *boot.Services, log *slog.Logger) *jobs.Host {
	work := boot.Scheduled{Services: s}
	sweeper := work.Sweeper()
	return &jobs.Host{Log: log, Now: time.Now, Jobs: []jobs.Job{
		{Name: "moves", Due: rounds(work.Migrator().Due)},
		{Name: "artifacts", Due: rounds(sweeper.DueArtifacts)},
		{Name: "hints", Due: rounds(work.Indexer().Due)}, // leaves sessions to the next
		{Name: "sessions", Due: rounds(sweeper.DueSessions)},
		{Name: "purges", Due: rounds(work.Purger().Due)},
		{Name: "bundles", Due: rounds(sweeper.DueBundles)},
		{Name: "exports", Due: rounds(sweeper.DueExports)},
		{Name: "deletions", Due: rounds(work.GarbageCollector().Due)},
		{Name: "removals", Due: rounds(work.Remover().Due)}, // waits for all others
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
