package boot

import (
	"time"

	"vitrine/shared/publishing/sweep"
)

// Sweeper ends what is due: drafts, artifacts and upload sessions.
func (s *Services) Sweeper() *sweep.Sweeper {
	return &sweep.Sweeper{
		Store:    s.stores.Queue,
		Sessions: s.stores.Queue,
		Objects:  s.blobs,
		Now:      s.Config.Now,
	}
}

// Indexer ends the work of finalized sessions.
func (s *Services) Indexer() *sweep.Indexer {
	return &sweep.Indexer{
		Store: s.stores.ContentIndex,
		Queue: s.stores.Queue,
		Diffs: s.blobs,
		Now:   s.Config.Now,
	}
}

// Purger gives up the files of what ended.
func (s *Services) Purger() *sweep.Purger {
	return &sweep.Purger{
		References: s.stores.Garbage,
		Store:      s.stores.Garbage,
		Queue:      s.stores.Queue,
		Index:      s.stores.ContentIndex,
		Now:        s.Config.Now,
		Watch:      time.Now,
	}
}

// GarbageCollector deletes objects that nothing needs any more.
func (s *Services) GarbageCollector() *sweep.GarbageCollector {
	return &sweep.GarbageCollector{
		References: s.stores.Garbage,
		Store:      s.stores.Garbage,
		Index:      s.stores.ContentIndex,
		Bytes:      s.blobs,
		Now:        s.Config.Now,
	}
}
