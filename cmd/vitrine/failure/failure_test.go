package failure

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"vitrine/scripts/testkit/expect"
)

// TestExitOf pins the exit codes that scripts rely on.
func TestExitOf(t *testing.T) {
	expect.Results(t, ExitOf, map[int]Exit{
		400: 4,
		401: 2,
		403: 2,
		404: 5,
		405: 1,
		408: 1,
		409: 7,
		410: 5,
		413: 1,
		418: 1,
		422: 4,
		429: 3,
		500: 6,
		501: 6,
		502: 6,
		503: 6,
		504: 6,
		301: 1,
	})
}

func TestOf(t *testing.T) {
	known := New(Conflict, "code", "message %d", 1)
	for _, tt := range []struct {
		name string
		err  error
		exit Exit
		text string
	}{
		{"a failure", known, Conflict, "message 1"},
		{"a wrapped failure", fmt.Errorf("while working: %w", known), Conflict, "message 1"},
		{"an interrupt", fmt.Errorf("while working: %w", context.Canceled), Interrupted,
			"interrupted before the server confirmed"},
		{"anything else", errors.New("boom"), Other, "boom"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if f := Of(tt.err); f.Exit != tt.exit || f.Error() != tt.text {
				t.Errorf("failure %+v", f)
			}
		})
	}
}
