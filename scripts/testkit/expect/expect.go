// Package expect ends or fails a test whose results are not those that it expects.
package expect

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/shared/platform/fault"
)

// OK ends a test at the first error.
func OK(t testing.TB, all ...error) {
	t.Helper()
	for _, err := range all {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Value returns the value of a call that has to succeed: Value(call())(t).
func Value[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		OK(t, err)
		return v
	}
}

// Error expects an error whose text has all parts.
func Error(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

// Results expects the result that the table has for each argument of a function.
func Results[K, V comparable](t testing.TB, of func(K) V, table map[K]V) {
	t.Helper()
	for argument, want := range table {
		if got := of(argument); got != want {
			t.Errorf(`"%v" gives "%v", not "%v"`, argument, got, want)
		}
	}
}

// Body expects a whole body, which it returns and closes.
func Body(t testing.TB, r *http.Response) string {
	t.Helper()
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const (
	askEvery   = 3 * time.Millisecond
	maxWaiting = 20 * time.Second
)

// Soon asks until done reports true, for which another process may need some time.
func Soon(t testing.TB, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(askEvery)
	defer tick.Stop()
	timeout := time.After(maxWaiting)
	for !done() {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("%s passed before %s", maxWaiting, what)
		}
	}
}

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

// One expects that one of several calls succeeded, and that the others failed with a code. What names the calls.
func One(t testing.TB, what string, ends []error, code fault.Code) {
	t.Helper()
	succeeded := 0
	for _, err := range ends {
		if err == nil {
			succeeded++
		} else if fault.CodeOf(err) != code {
			t.Error(err)
		}
	}
	if succeeded != 1 {
		t.Errorf("%d %s", succeeded, what)
	}
}

// Has expects a text that has all parts. What names it. A failure shows its first 3,000 bytes.
func Has(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s: lacks %q:\n%.3000s", what, part, text)
		}
	}
}

// Lacks expects a text that has none of the parts.
func Lacks(t testing.TB, what, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("%s: has %q:\n%.3000s", what, part, text)
		}
	}
}
