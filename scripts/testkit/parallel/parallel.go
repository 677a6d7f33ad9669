// Package parallel makes calls at once, as callers do who race.
package parallel

import "sync"

// Do makes n calls at once and returns when all have ended.
func Do(n int, call func(n int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { call(i) })
	}
	all.Wait()
}

// Calls makes n calls at once and returns how each ended.
func Calls(n int, call func(n int) error) []error {
	ends := make([]error, n)
	Do(n, func(i int) { ends[i] = call(i) })
	return ends
}

// Successes makes n calls at once and returns how many succeeded.
func Successes(n int, call func(n int) error) (succeeded int) {
	for _, err := range Calls(n, call) {
		if err == nil {
			succeeded++
		}
	}
	return succeeded
}
