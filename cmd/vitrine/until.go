package main

import (
	"regexp"
	"strconv"
	"time"

	"vitrine/cmd/vitrine/failure"
)

var spanForm = regexp.MustCompile(`^(?:([0-9]{1,4})w)?(?:([0-9]{1,4})d)?(?:([0-9]{1,4})h)?(?:([0-9]{1,4})m)?$`)

// until parses the end of a link. Valid are a span from now such as 3d, 12h or 1d12h, a date (which means its first
// moment in UTC), or an RFC 3339 time. "" returns the zero time: no end. The result has whole seconds and is in the
// future.
func until(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	end := span(text, now)
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil {
			end = t
		}
	}
	end = end.UTC().Truncate(time.Second)
	if end.After(now) {
		return end, nil
	}
	message := "--expires is neither a duration nor a date"
	if end.Year() > 1 {
		message = "--expires is not in the future"
	}
	return time.Time{}, failure.New(failure.Invalid, failure.Usage, "%s", message).
		Advise("Give a duration such as 3d, 12h or 1d12h, a date such as %s, or a time such as %s.",
			now.AddDate(0, 0, 7).UTC().Format(time.DateOnly), now.Add(12*time.Hour).UTC().Format(time.RFC3339))
}

// span adds weeks, days, hours and minutes to now. It returns the zero time if text has none.
func span(text string, now time.Time) time.Time {
	m := spanForm.FindStringSubmatch(text)
	if m == nil {
		return time.Time{}
	}
	end := now
	for i, unit := range []time.Duration{7 * 24 * time.Hour, 24 * time.Hour, time.Hour, time.Minute} {
		n, err := strconv.Atoi(m[i+1])
		if err != nil {
			continue // optional and absent
		}
		end = end.Add(time.Duration(n) * unit)
	}
	return end
}
