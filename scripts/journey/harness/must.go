package harness

import (
	"testing"

	"vitrine/scripts/testkit/expect"
)

// Must returns the value of a call that has to succeed: Must(call())(t).
func Must[T any](v T, err error) func(testing.TB) T { return expect.Value(v, err) }

// NoError ends the test on an error.
func NoError(t testing.TB, err error) {
	t.Helper()
	expect.OK(t, err)
}
