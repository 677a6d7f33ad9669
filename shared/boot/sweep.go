package boot

import (
	"time"

	"vitrine/shared/publishing/sweep"
)

// Sweeper ends what is due: drafts, artifacts and upload sessions.
func (s *Services) Sweeper() *sweep.Sweeper {
	return &sweep.Sweeper{
		Store:    s.store,
		Sessions: s.store,
		Objects:  s.blobs,
		Now:      s.Config.Now,
	}
}

// Indexer ends the work of finalized sessions.
func (s *Services) Indexer() *sweep.Indexer {
	return &sweep.Indexer{Store: s.store, Diffs: s.blobs, Now: s.Config.Now}
}

// Purger gives up the files of what ended.
func (s *Services) Purger() *sweep.Purger {
	return &sweep.Purger{
		References: s.store,
		Store:      s.store,
		Queue:      s.store,
		Index:      s.store,
		Now:        s.Config.Now,
		Watch:      time.Now,
	}
}

// GarbageCollector deletes objects that nothing needs any more.
func (s *Services) GarbageCollector() *sweep.GarbageCollector {
	return &sweep.GarbageCollector{
		References: s.store,
		Store:      s.store,
		Index:      s.store,
		Bytes:      s.blobs,
		Now:        s.Config.Now,
	}
}
