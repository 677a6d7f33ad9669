// Package port finds ports for stacks that tests and drills start on fixed ports.
package port

import (
	"errors"
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

// Base returns a base whose ports are free, and reserves them until the test ends.
func Base(t testing.TB) int {
	t.Helper()
	base, release, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	return base
}

// Find returns a base whose ports are free. Until release is called it reserves them against other callers and processes
// by listening on the base itself, which no stack does.
func Find() (base int, release func(), err error) {
	for range 100 {
		base := lowest + rand.IntN(bases)*(span+1)
		reservation, err := listen(base)
		if err != nil {
			continue
		}
		if free(base) {
			return base, func() { reservation.Close() }, nil
		}
		reservation.Close()
	}
	return 0, nil, errors.New("no free range of ports: stop some of what listens on ports from 10000 on")
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
