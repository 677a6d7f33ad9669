package text

import (
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
)

func TestSpan(t *testing.T) {
	expect.Results(t, Span, map[time.Duration]string{
		15 * time.Minute:   "15 minutes",
		24 * time.Hour:     "24 hours",
		47 * time.Hour:     "47 hours",
		48 * time.Hour:     "2 days",
		7 * 24 * time.Hour: "7 days",
	})
}
