package engine

import (
	"context"
	"sync"
)

var shared = sync.OnceValues(func() (*Engines, error) {
	return Start(context.Background(), Options{})
})

// Shared returns the engines of this test binary, started at the first call. They end, and their
// data goes, with the test binary. A test that stops an engine starts its own.
func Shared(t interface {
	Helper()
	Fatal(args ...any)
}) *Engines {
	t.Helper()
	e, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return e
}
