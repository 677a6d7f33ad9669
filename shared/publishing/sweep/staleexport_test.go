package sweep

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/export"
)

// staleExports has one export whose archives are to be deleted.
type staleExports struct {
	*fakeStore
	due     StaleExport
	deleted []export.Object
}

func (s *staleExports) DueStaleExports(context.Context, time.Time, int) ([]StaleExport, error) {
	return []StaleExport{s.due}, nil
}

func (s *staleExports) DeleteExports(_ context.Context, archives []export.Object) error {
	return s.call("DeleteExports", func() { s.deleted = archives })
}

func (s *staleExports) Forget(context.Context, StaleExport) error { return s.call("Forget", none) }

func TestAllArchivesThatAnExportMayHaveHadAreDeleted(t *testing.T) {
	for most, want := range map[int]int{
		0:                    1000, // older code made some, or none was recorded
		999:                  1000,
		1000:                 1001, // one may have died before its record
		limits.ExportVolumes: limits.ExportVolumes + 1,
	} {
		s := &staleExports{fakeStore: newStore()}
		s.due = StaleExport{Export: export.Export{ID: id.NewExport(), Most: most}, QueueItem: QueueItem{Key: "key"}}
		job := &Sweeper{Store: s, Exports: s, ExportArchives: s, Now: clock}
		s.failAt = 1
		if _, err := job.DueExports(t.Context()); !errors.Is(err, errKilled) || s.count("Forget") > 0 {
			t.Errorf("%v, %v, want it kept for another try", err, s.calls)
		}
		s.calls, s.failAt = nil, 0
		_, err := job.DueExports(t.Context())
		if err != nil || !slices.Equal(s.calls, []string{"DeleteExports", "Forget"}) || len(s.deleted) != want ||
			s.deleted[want-1] != s.due.Object(want) {
			t.Errorf("%d at most: %v, %v, %d archives deleted, want %d", most, err, s.calls, len(s.deleted), want)
		}
	}
}
