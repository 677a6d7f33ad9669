package runtime

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

func TestAStreamThatBreaksOffIsNoWholeAnswer(t *testing.T) {
	f := function(t)
	for do, want := range map[string]struct{ kind, message string }{
		"stream, fail": {"errorString", "it went wrong"},
		"stream, exit": {"Runtime.TruncatedResponse", "the process ended"},
	} {
		g := newGate(t)
		g.open(1)
		a, err := f.Stream(t.Context(), command{Do: do, Gate: g.URL}.event())
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(a)
		a.Close()
		if !bytes.HasSuffix(body, []byte("first")) {
			t.Errorf("%s: %q", do, body)
		}
		var why *Failure
		if !errors.As(err, &why) || why.Type != want.kind && why.Type != "Runtime.ExitError" {
			t.Errorf("%s: %v", do, err)
		}
	}
	newReport(t, f)
}

func TestSizes(t *testing.T) {
	f := function(t)
	whole, err := f.Invoke(t.Context(), command{Do: "large", Size: MaxAnswer - 2}.event()) // JSON adds two quotes
	if err != nil || len(whole) != MaxAnswer {
		t.Errorf("%d bytes, %v", len(whole), err)
	}
	_, err = f.Invoke(t.Context(), command{Do: "large", Size: MaxAnswer - 1}.event())
	wantFailure(t, err, "Function.ResponseSizeTooLarge", "exceeded maximum")
	if _, err := f.Invoke(t.Context(), make([]byte, MaxEvent+1)); !errors.Is(err, ErrEventTooLarge) {
		t.Errorf("a large event: %v", err)
	}
	newReport(t, f)
}
