package cloud

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"vitrine/scripts/internal/restore/repair"
	"vitrine/scripts/testkit/invariant"
)

// Check says what is not as it must be in the restored set, and fails if there is anything. Files below a delete marker
// count as there while the switch is to come, and counters of the living set as right.
func (r Restore) Check(ctx context.Context) error {
	return r.going(ctx, func(w *work) error {
		if !w.did(lastOfRun) {
			return errors.New("the restored set is not ready: run first")
		}
		hidden, lost, err := w.examine(ctx)
		if err != nil {
			return err
		}
		for _, key := range slices.Sorted(maps.Keys(lost)) {
			w.sayf("I1: the bytes of %s are lost", key)
		}
		faults, strays := len(lost), 0
		for _, breach := range invariant.Check(ctx, w.deployment(w.Set)) {
			switch {
			case errors.Is(breach, invariant.ErrStray):
				strays++
			case !w.did(lastOfSwitch) && settledLater(breach):
			default:
				faults++
				w.sayf("%v", breach)
			}
		}
		w.sayf("%d files lie under delete markers, %d objects belong to what was published since.", len(hidden), strays)
		if faults > 0 {
			return fmt.Errorf("%d things are not as they must be: see above", faults)
		}
		w.sayf("Everything is as it must be.")
		return nil
	})
}

// settledLater reports whether the switch puts right what a breach names: files, which examine looks at, and counters.
func settledLater(breach error) bool {
	return errors.Is(breach, invariant.ErrObject) || errors.Is(breach, invariant.ErrCounted)
}

// sayEnding says what waking the jobs would end at once.
func (w *work) sayEnding(ctx context.Context) error {
	c, err := repair.Count(ctx, w.deployment(w.Set), w.Clock.Now())
	if err != nil {
		return err
	}
	w.sayf("People are served. The jobs still sleep: %d of %d live artifacts would end at once or lose their draft when "+
		"open --expire wakes them.", c.Due, c.Live)
	return nil
}
