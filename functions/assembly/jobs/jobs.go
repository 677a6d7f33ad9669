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
	"vitrine/shared/entry/claim"
	"vitrine/shared/publishing/sweep"
)

// Host returns the host that runs the jobs of a deployment.
func Host(s *assembly.Services, log *slog.Logger) *jobs.Host {
	migrator := &claim.Migrator{Store: s.Stores.Claims, Now: s.Config.Now}
	sweeper := sweeper(s)
	return &jobs.Host{Log: log, Now: time.Now, Jobs: []jobs.Job{
		schedule.Job("moves", migrator.Due),
		schedule.Job("artifacts", sweeper.DueArtifacts),
		schedule.Job("hints", indexer(s).Due), // it hands sessions on to the next job
		schedule.Job("sessions", sweeper.DueSessions),
		schedule.Job("purges", purger(s).Due),
		schedule.Job("bundles", sweeper.DueBundles),
		schedule.Job("exports", sweeper.DueExports),
		schedule.Job("threads", sweeper.DueThreads),
		schedule.Job("deletions", garbageCollector(s).Due),
		schedule.Job("removals", remover(s).Due), // it waits for the work of all others
	}}
}

// Handler returns the handler for events of its schedule.
func Handler(s *assembly.Services, log *slog.Logger) func(context.Context, json.RawMessage) error {
	return Host(s, log).Handle
}

// sweeper returns the service that ends what is due: drafts, artifacts, upload sessions, abandoned bundles, exports, and
// messages of deleted threads.
func sweeper(s *assembly.Services) *sweep.Sweeper {
	return &sweep.Sweeper{
		Store:          s.Stores.Queue,
		Sessions:       s.Stores.Queue,
		Objects:        s.Blobs,
		Bundles:        s.Stores.Bundles,
		Archives:       s.Blobs,
		Exports:        s.Stores.Exports,
		ExportArchives: s.Blobs,
		Threads:        s.Stores.Queue,
		Now:            s.Config.Now,
	}
}

// indexer returns the service that finishes the work on finalized sessions.
func indexer(s *assembly.Services) *sweep.Indexer {
	return &sweep.Indexer{
		Store: s.Stores.ContentIndex,
		Queue: s.Stores.Queue,
		Diffs: s.Blobs,
		Now:   s.Config.Now,
	}
}

// purger returns the service that gives up the files of what ended.
func purger(s *assembly.Services) *sweep.Purger {
	return &sweep.Purger{
		References: s.Stores.Garbage,
		Store:      s.Stores.Garbage,
		Queue:      s.Stores.Queue,
		Index:      s.Stores.ContentIndex,
		Bundles:    s.Blobs,
		Now:        s.Config.Now,
		Watch:      time.Now,
	}
}

// garbageCollector returns the service that deletes objects without a reference.
func garbageCollector(s *assembly.Services) *sweep.GarbageCollector {
	return &sweep.GarbageCollector{
		References: s.Stores.Garbage,
		Store:      s.Stores.Garbage,
		Index:      s.Stores.ContentIndex,
		Bytes:      s.Blobs,
		Now:        s.Config.Now,
	}
}

// remover returns the service that removes deleted workspaces.
func remover(s *assembly.Services) *sweep.Remover {
	return &sweep.Remover{
		Store:   s.Stores.Removals,
		People:  s.Stores.Removals,
		Content: s.Stores.Removals,
		Objects: s.Blobs,
		Now:     s.Config.Now,
		Watch:   time.Now,
	}
}
