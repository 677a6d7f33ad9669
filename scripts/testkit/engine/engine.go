// Package engine gives tests the engines of their test binary.
package engine

import (
	"context"
	"sync"

	"vitrine/scripts/local/engines"
)

var shared = sync.OnceValues(func() (*engines.Engines, error) {
	return engines.Start(context.Background(), engines.Options{})
})

// Shared returns the engines of this test binary, started at the first call. They end, and their
// data goes, with the test binary. A test that stops an engine starts its own.
func Shared(t interface {
	Helper()
	Fatal(args ...any)
}) *engines.Engines {
	t.Helper()
	e, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return e
}
