package boot

import (
	"time"

	"vitrine/shared/publishing/sweep"
)

// Sweeper ends what is due: drafts, artifacts and upload sessions.
func (s *Services) Sweeper() *sweep.Sweeper {
	return &sweep.Sweeper{
		Store:    s.store.Queue,
		Sessions: s.store.Queue,
		Objects:  s.blobs,
		Now:      s.Config.Now,
	}
}

// Hinter ends the work of finalized sessions.
func (s *Services) Hinter() *sweep.Indexer {
	return &sweep.Indexer{Store: s.store.ContentIndex, Diffs: s.blobs, Now: s.Config.Now}
}

// Purger gives up the files of what ended.
func (s *Services) Purger() *sweep.Purger {
	return &sweep.Purger{
		References: s.store.Garbage,
		Store:      s.store.Garbage,
		Queue:      s.store.Queue,
		Index:      s.store.ContentIndex,
		Now:        s.Config.Now,
		Watch:      time.Now,
	}
}

// Collector deletes objects that nothing needs any more.
func (s *Services) Collector() *sweep.GarbageCollector {
	return &sweep.GarbageCollector{
		References: s.store.Garbage,
		Store:      s.store.Garbage,
		Index:      s.store.ContentIndex,
		Bytes:      s.blobs,
		Now:        s.Config.Now,
	}
}
