//go:build large

package cloud

import "testing"

func TestARunThatDiesAtEveryCallGoesOn(t *testing.T) {
	runThatDies(t, func(calls int) int { return calls })
}
