package text

import (
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		15 * time.Minute:   "15 minutes",
		24 * time.Hour:     "24 hours",
		47 * time.Hour:     "47 hours",
		48 * time.Hour:     "2 days",
		7 * 24 * time.Hour: "7 days",
	} {
		if got := Span(d); got != want {
			t.Errorf("Span(%v) = %q, want %q", d, got, want)
		}
	}
}
