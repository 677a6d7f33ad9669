package harness

import (
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"vitrine/scripts/testkit/wire"
)

// A race has this many reads before its end, and as many after it.
const (
	raceReads   = 250
	raceReaders = 8
)

// Reads are requests by name.
type Reads map[string]func() (wire.Answer, error)

// RaceEnd ends something while readers read it. No read of ended that begins after the end is answered, and none that
// ends before it is refused. Those of kept are answered all the time.
func RaceEnd(t testing.TB, ended, kept Reads, end func()) {
	t.Helper()
	var (
		readers     sync.WaitGroup
		reads, late atomic.Int64
		begun, over atomic.Bool
		warm        = make(chan struct{})
		all         = maps.Clone(ended)
	)
	maps.Copy(all, kept)
	names := slices.Sorted(maps.Keys(all))
	for range raceReaders {
		readers.Go(func() {
			for late.Load() < raceReads {
				n := reads.Add(1)
				isLate, name := over.Load(), names[int(n)%len(names)]
				a, err := all[name]()
				_, ends := ended[name]
				switch {
				case err != nil:
					t.Errorf("%s: %v", name, err)
				case ends && isLate && a.Status < http.StatusBadRequest:
					t.Errorf("%s answers %d after the end", name, a.Status)
				case (!ends || !begun.Load()) && a.Status != http.StatusOK:
					t.Errorf("%s answers %d: %s", name, a.Status, a.Body)
				}
				if isLate {
					late.Add(1)
				}
				if n == raceReads {
					close(warm)
				}
			}
		})
	}
	<-warm
	begun.Store(true)
	end()
	over.Store(true)
	readers.Wait()
}
