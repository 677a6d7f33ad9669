package assembly

import (
	"time"

	"vitrine/shared/entry/claim"
	"vitrine/shared/publishing/sweep"
)

// Scheduled are the services of the functions that a schedule wakes.
type Scheduled struct{ *Services }

// Sweeper ends what is due: drafts, artifacts, upload sessions, bundles that were given up, and exports.
func (s Scheduled) Sweeper() *sweep.Sweeper {
	return &sweep.Sweeper{
		Store:          s.stores.Queue,
		Sessions:       s.stores.Queue,
		Objects:        s.blobs,
		Bundles:        s.stores.Bundles,
		Archives:       s.blobs,
		Exports:        s.stores.Exports,
		ExportArchives: s.blobs,
		Now:            s.Config.Now,
	}
}

// Indexer ends the work of finalized sessions.
func (s Scheduled) Indexer() *sweep.Indexer {
	return &sweep.Indexer{
		Store: s.stores.ContentIndex,
		Queue: s.stores.Queue,
		Diffs: s.blobs,
		Now:   s.Config.Now,
	}
}

// Purger gives up the files of what ended.
func (s Scheduled) Purger() *sweep.Purger {
	return &sweep.Purger{
		References: s.stores.Garbage,
		Store:      s.stores.Garbage,
		Queue:      s.stores.Queue,
		Index:      s.stores.ContentIndex,
		Bundles:    s.blobs,
		Now:        s.Config.Now,
		Watch:      time.Now,
	}
}

// GarbageCollector deletes objects that nothing needs any more.
func (s Scheduled) GarbageCollector() *sweep.GarbageCollector {
	return &sweep.GarbageCollector{
		References: s.stores.Garbage,
		Store:      s.stores.Garbage,
		Index:      s.stores.ContentIndex,
		Bytes:      s.blobs,
		Now:        s.Config.Now,
	}
}

// Remover removes workspaces that are deleted.
func (s Scheduled) Remover() *sweep.Remover {
	return &sweep.Remover{
		Store:   s.stores.Removals,
		People:  s.stores.Removals,
		Content: s.stores.Removals,
		Objects: s.blobs,
		Now:     s.Config.Now,
		Watch:   time.Now,
	}
}

// Exporter makes the archives of exports.
func (s Scheduled) Exporter() *sweep.Exporter {
	return &sweep.Exporter{
		Store:   s.stores.Exports,
		Lists:   s.stores.Exports,
		Sources: s.stores.Exports,
		Records: s.stores.Exports,
		Queue:   s.stores.Exports,
		Bytes:   s.blobs,
		Limits:  &s.Config.Limits,
		Now:     s.Config.Now,
	}
}

// Bundler makes the bundles of published revisions.
func (s Scheduled) Bundler() *sweep.Bundler {
	return &sweep.Bundler{
		Store:   s.stores.Bundles,
		Sources: s.stores.Bundles,
		Queue:   s.stores.Bundles,
		Bytes:   s.blobs,
		Limits:  &s.Config.Limits,
		Now:     s.Config.Now,
	}
}

// Migrator moves the artifacts of workspaces that were claimed.
func (s Scheduled) Migrator() *claim.Migrator {
	return &claim.Migrator{Store: s.stores.Claims, Now: s.Config.Now}
}
