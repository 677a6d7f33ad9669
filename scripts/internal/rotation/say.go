package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"vitrine/shared/platform/keyring"
)

const clock = "2006-01-02 15:04:05 MST"

// show lists the keys of a ring, by id only.
func (t tool) show(r keyring.Ring) {
	for _, k := range r.Keys {
		line := fmt.Sprintf("  key %-4d%-8s", k.ID, k.State)
		if !k.Since.IsZero() {
			line += "since " + k.Since.UTC().Format(clock)
		}
		if k.State == keyring.Verify {
			line += until(k.VerifyUntil)
		}
		fmt.Fprintln(t.out, strings.TrimRight(line, " "))
	}
}

func until(end time.Time) string {
	if end.IsZero() {
		return ", until nothing uses it"
	}
	return ", until " + end.UTC().Format(clock)
}

// next prints which steps are possible and when.
func (t tool) next(o options, r keyring.Ring) {
	now := t.now()
	for _, s := range r.Steps(now) {
		o.step = s.Name
		line, when := "scripts/rotate "+o.command(), ""
		switch {
		case s.At.IsZero() && s.Name == "drop":
			line, when = line+" --confirm-unused", fmt.Sprintf(
				", once nothing that key %d hashed is in use: no time tells, because API keys may have no end", s.Key)
		case s.At.IsZero():
			line, when = line+" --emergency", fmt.Sprintf(", because nobody wrote down when key %d was staged", s.Key)
		case s.At.After(now):
			when = ", possible from " + at(s.At, now)
		case s.Name == "stage":
			when = ", whenever you want to replace the key"
		default:
			when = ", possible now"
		}
		fmt.Fprintf(t.out, "next  %s%s\n", line, when)
	}
}

// command returns the command line of a step on the same ring.
func (o options) command() string { return o.step + " " + o.ring + o.where }

// explain formats an error for people, with advice.
func explain(err error, o options, now time.Time) string {
	var early *keyring.NotYet
	if !errors.As(err, &early) {
		return err.Error()
	}
	switch {
	case !early.At.IsZero():
		return fmt.Sprintf("%s: not yet: %s. Possible from %s; --emergency does not wait.", o.ring, early.Reason,
			at(early.At, now))
	case o.step == "drop":
		return fmt.Sprintf("%s: %s. If you know that none of it is in use, say --confirm-unused; --emergency ends what is.",
			o.ring, early.Reason)
	}
	return fmt.Sprintf("%s: %s. If all instances were restarted since, say --emergency.", o.ring, early.Reason)
}

// at formats an instant and its distance from now.
func at(when, now time.Time) string {
	left := when.Sub(now).Round(time.Second)
	days := left / (24 * time.Hour)
	if left -= days * 24 * time.Hour; days > 0 {
		return fmt.Sprintf("%s (in %d d %s)", when.UTC().Format(clock), days, left)
	}
	return fmt.Sprintf("%s (in %s)", when.UTC().Format(clock), left)
}

// keys formats key ids as the subject of a sentence.
func keys(ids []byte) string {
	words := make([]string, len(ids))
	for i, id := range ids {
		words[i] = fmt.Sprint(id)
	}
	if len(words) == 1 {
		return "key " + words[0] + " is"
	}
	return "keys " + strings.Join(words, ", ") + " are"
}
