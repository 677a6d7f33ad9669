// Package jobs assembles the host of jobs.
package jobs

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"vitrine/functions/jobs"
	"vitrine/shared/boot"
)

// Host does the jobs of a deployment.
func Host(s *boot.Services, log *slog.Logger) *jobs.Host {
	return &jobs.Host{Log: log, Now: time.Now, Jobs: []jobs.Job{
		{Name: "moves", Due: s.Migrator().Due},
		{Name: "sweep", Due: s.Sweeper().Due},
		{Name: "hints", Due: s.Hinter().Due},
		{Name: "purges", Due: s.Purger().Due},
		{Name: "deletions", Due: s.Collector().Due},
	}}
}

// Handler answers the events of its schedule.
func Handler(s *boot.Services, log *slog.Logger) func(context.Context, json.RawMessage) error {
	return Host(s, log).Handle
}
