//go:build large

package publish

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestManyKilledPublishesAreContinued kills the command at random requests, 200 times, up to three times in a row
// before it may end.
func TestManyKilledPublishesAreContinued(t *testing.T) {
	const kills = 200
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	kinds := newResumables(t)
	requests := map[string]int{}
	for name, r := range kinds {
		requests[name] = len(r.proxy.seen)
	}
	names := slices.Sorted(maps.Keys(kinds))
	for killed := 0; killed < kills; {
		name := names[chance.IntN(len(names))]
		r := kinds[name]
		r.change(t)
		before := r.count(t)
		for range 1 + chance.IntN(3) {
			cmd, out, said := r.run(t, 1+chance.IntN(requests[name]), chance.IntN(2) == 1)
			if !cmd.ProcessState.Exited() {
				killed++
				continue
			}
			if !cmd.ProcessState.Success() { // a continued publish takes fewer requests and may have ended
				t.Fatalf("%s: stdout %q, stderr %q", name, out, said)
			}
			r.wantMade(t, before)
			before = r.count(t)
			r.change(t)
		}
		r.finishes(t)
		r.wantMade(t, before)
	}
}
