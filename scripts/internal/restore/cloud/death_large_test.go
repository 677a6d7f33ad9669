//go:build large

package cloud

import "testing"

func TestARunThatDiesAtEveryCallGoesOn(t *testing.T) {
	runThatDies(t, func(calls int) int { return calls })
}

// TestASwitchThatDiesAtEveryCallGoesOn lets each step die at each of its calls in turn.
func TestASwitchThatDiesAtEveryCallGoesOn(t *testing.T) {
	switchThatDies(t, func(n int, ended bool) int {
		if ended {
			return 1
		}
		return n + 1
	})
}
