package main

import (
	"strings"
	"testing"
	"time"

	"vitrine/cmd/vitrine/failure"
)

func TestUntil(t *testing.T) {
	now := epoch.Add(300 * time.Millisecond)
	for text, want := range map[string]time.Duration{
		"3d":                        72 * time.Hour,
		"12h":                       12 * time.Hour,
		"1w1d1h1m":                  (8*24+1)*time.Hour + time.Minute,
		"90m":                       90 * time.Minute,
		"9999w":                     9999 * 7 * 24 * time.Hour,
		"2026-11-22":                15 * time.Hour,
		"2026-11-21T11:00:00+01:00": time.Hour,
		"2026-11-21T10:00:00.999Z":  time.Hour,
	} {
		if got, err := until(text, now); err != nil || !got.Equal(epoch.Add(want)) || got.Location() != time.UTC {
			t.Errorf("until(%q) = %v, %v; want %v", text, got, err, epoch.Add(want))
		}
	}
	if got, err := until("", now); err != nil || !got.IsZero() {
		t.Errorf("without a text: %v, %v", got, err)
	}
	for text, want := range map[string]string{
		"0d":                   "not in the future",
		"2026-11-21":           "not in the future",
		"2026-11-21T09:00:00Z": "not in the future",
		"1999-01-01":           "not in the future",
		"3":                    "neither",
		"d":                    "neither",
		"-3d":                  "neither",
		"3d ":                  "neither",
		"1h2d":                 "neither",
		"99999d":               "neither",
		"3D":                   "neither",
		"2026-13-01":           "neither",
		"2026-11-22 10:00":     "neither",
		"3.5d":                 "neither",
	} {
		_, err := until(text, now)
		f := failure.Of(err)
		if err == nil || f.Code != failure.Usage || f.Exit != failure.Invalid || !strings.Contains(f.Message, want) ||
			f.Hint == "" {
			t.Errorf("until(%q): %v, want %q", text, err, want)
		}
	}
}
