// Package port finds ports for stacks that tests start on fixed ports.
package port

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

const (
	lowest = 10_000 // above the ports of well-known servers
	span   = 12     // a stack listens on base+1 to base+12
	bases  = 1_600  // all below the ports that the kernel assigns by itself
)

// Base returns a base whose ports are free. Until the test ends it reserves them against other
// callers and processes by listening on the base itself, which no stack does.
func Base(t testing.TB) int {
	t.Helper()
	for range 100 {
		base := lowest + rand.IntN(bases)*(span+1)
		reservation, err := listen(base)
		if err != nil {
			continue
		}
		if free(base) {
			t.Cleanup(func() { reservation.Close() })
			return base
		}
		reservation.Close()
	}
	t.Fatal("no free range of ports")
	return 0
}

func free(base int) bool {
	for n := base + 1; n <= base+span; n++ {
		l, err := listen(n)
		if err != nil {
			return false
		}
		l.Close()
	}
	return true
}

func listen(n int) (net.Listener, error) { return net.Listen("tcp", ":"+strconv.Itoa(n)) }
