// Package conflict repeats changes that lost a race.
package conflict

import "errors"

// ErrHeld is in the error of a write that other transactions kept out for as long as the store retried it.
var ErrHeld = errors.New("another transaction holds an item")

// Policy says when a change is attempted again.
type Policy struct {
	Lost     error // marks an attempt that another change overtook; every other result is final
	Attempts int   // at most
	// Exhausted makes the refusal of a change that lost all its attempts.
	Exhausted func() error
}

// Retry repeats attempt until it is not lost, and returns its last result. An attempt reads, decides, and writes on the
// condition that its reads still hold. Every lost attempt means that another change succeeded, so that some caller
// always makes progress.
func Retry[T any](p Policy, attempt func() (T, error)) (T, error) {
	for range p.Attempts {
		if result, err := attempt(); !errors.Is(err, p.Lost) {
			return result, err
		}
	}
	var none T
	return none, p.Exhausted()
}
