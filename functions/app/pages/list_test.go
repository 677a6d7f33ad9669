package pages

import (
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
)

func TestTimesAreToldAsPeopleDo(t *testing.T) {
	at := time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	expect.Results(t, func(d time.Duration) string { return ago(at, at.Add(d)) }, map[time.Duration]string{
		0:                     "just now",
		44 * time.Second:      "just now",
		time.Minute:           "1 minute ago",
		-10 * time.Minute:     "in 10 minutes",
		3 * time.Hour:         "3 hours ago",
		-72 * time.Hour:       "in 3 days",
		26 * 24 * time.Hour:   "26 days ago",
		60 * 24 * time.Hour:   "14 March 2026",
		-400 * 24 * time.Hour: "14 March 2026",
	})
}

func TestCountsAreReadable(t *testing.T) {
	for want, c := range map[string]Count{
		"0": {}, "999": {N: 999}, "1,000": {N: 1000}, "10,000+": {N: 10_000, More: true}, "1,234,567": {N: 1_234_567},
	} {
		if got := c.String(); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
