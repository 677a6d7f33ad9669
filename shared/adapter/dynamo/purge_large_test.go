//go:build large

package dynamo

import (
	"context"
	"runtime"
	"testing"

	"vitrine/shared/adapter/chaos"
)

// TestAPurgeOfTheLargestArtifact also looks at the memory that is in use when a list of files is deleted.
func TestAPurgeOfTheLargestArtifact(t *testing.T) {
	l := newLineage(t, newStore(t), 1_000, 2_000)
	peak := uint64(0)
	l.faults.On("TransactWriteItems").Always().Before(func(context.Context, *chaos.Call) error {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, m.HeapAlloc)
		return nil
	})
	l.wantCost(l.purge(ctx))
	t.Logf("at most %d MB in use", peak>>20)
	if peak > 100<<20 {
		t.Error("it holds more than some lists of files")
	}
	l.wantPurged()
}
