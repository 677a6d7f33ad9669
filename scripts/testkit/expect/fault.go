package expect

import (
	"testing"

	"vitrine/shared/platform/fault"
)

// Code expects a failure with a code; "" is none. A test ends at a failure where none is expected.
func Code(t testing.TB, err error, want fault.Code) {
	t.Helper()
	switch {
	case want == "":
		OK(t, err)
	case err == nil || fault.CodeOf(err) != want:
		t.Errorf("it fails with %v, want %q", err, want)
	}
}
