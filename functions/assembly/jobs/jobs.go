// Package jobs assembles the host of jobs.
package jobs

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"vitrine/functions/assembly"
	"vitrine/functions/assembly/schedule"
	"vitrine/functions/jobs"
)

// Host does the jobs of a deployment.
func Host(s *assembly.Services, log *slog.Logger) *jobs.Host {
	work := assembly.Scheduled{Services: s}
	sweeper := work.Sweeper()
	return &jobs.Host{Log: log, Now: time.Now, Jobs: []jobs.Job{
		schedule.Job("moves", work.Migrator().Due),
		schedule.Job("artifacts", sweeper.DueArtifacts),
		schedule.Job("hints", work.Indexer().Due), // leaves sessions to the next
		schedule.Job("sessions", sweeper.DueSessions),
		schedule.Job("purges", work.Purger().Due),
		schedule.Job("bundles", sweeper.DueBundles),
		schedule.Job("exports", sweeper.DueExports),
		schedule.Job("deletions", work.GarbageCollector().Due),
		schedule.Job("removals", work.Remover().Due), // waits for all others
	}}
}

// Handler answers the events of its schedule.
func Handler(s *assembly.Services, log *slog.Logger) func(context.Context, json.RawMessage) error {
	return Host(s, log).Handle
}
