// Package conflict repeats changes that lost against others.
package conflict

import "errors"

// ErrHeld is in the failure of a write that others held off for as long as the store tried.
var ErrHeld = errors.New("another transaction holds an item")

// Policy says when a change is attempted again.
type Policy struct {
	Lost     error // of an attempt that another change overtook; every other result is final
	Attempts int   // at most
	// Exhausted is the refusal of a change whose attempts were all lost.
	Exhausted func() error
}

// Retry runs attempt until it is not lost, and returns its last result. An attempt reads, decides and writes on the
// condition that nothing changed in between; each lost one means that another change succeeded.
func Retry[T any](p Policy, attempt func() (T, error)) (T, error) {
	for range p.Attempts {
		if result, err := attempt(); !errors.Is(err, p.Lost) {
			return result, err
		}
	}
	var none T
	return none, p.Exhausted()
}
