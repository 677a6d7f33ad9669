package stack

import (
	"context"
	"testing"
)

func TestWorkIsLeftOutWhileTheJobsWait(t *testing.T) {
	wait, ran := true, 0
	work := Options{JobsWait: func() bool { return wait }}.held(func(context.Context) error { ran++; return nil })
	for _, want := range []int{0, 1} {
		if err := work(t.Context()); err != nil || ran != want {
			t.Errorf("it ran %d times, want %d: %v", ran, want, err)
		}
		wait = false
	}
	if err := (Options{}).held(func(context.Context) error { ran++; return nil })(t.Context()); err != nil || ran != 2 {
		t.Errorf("jobs that nothing holds ran %d times: %v", ran, err)
	}
}
