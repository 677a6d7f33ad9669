package idempotency

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"vitrine/shared/platform/fault"
)

func TestT50MalformedClientKeysAreRefused(t *testing.T) {
	for _, bad := range []string{"", "short", "with space", "sl/ashes", "é-umlaut-key", strings.Repeat("a", 201)} {
		if fault.CodeOf(CheckClient(bad)) != fault.InvalidIdempotencyKey {
			t.Errorf("%q passed", bad)
		}
	}
	if err := CheckClient("cli_publish_1.2:3-4"); err != nil {
		t.Error(err)
	}
}

func TestFingerprintsIgnoreTheOrderOfKeysOnly(t *testing.T) {
	of := func(body string) Fingerprint { return FingerprintOf("POST", "/x", []byte(body)) }
	if of(`{"a":1,"b":[1,2]}`) != of(` {"b":[1,2], "a":1} `) {
		t.Error("order of keys matters")
	}
	if of(`{"a":1}`) == of(`{"a":2}`) || of(`[1,2]`) == of(`[2,1]`) || of(``) == of(`{}`) {
		t.Error("different bodies are alike")
	}
	if of(`{"n":9007199254740993}`) == of(`{"n":9007199254740992}`) {
		t.Error("large numbers are rounded")
	}
	if FingerprintOf("POST", "/y", nil) == FingerprintOf("POST", "/x", nil) {
		t.Error("routes are alike")
	}
}

func TestARecordAnswersOnlyItsOwnBodyUntilItExpires(t *testing.T) {
	now := time.Now()
	c := Command{Fingerprint: FingerprintOf("POST", "/x", []byte(`{"a":1}`))}
	r := &Record{
		Done:        true,
		Expires:     now.Add(time.Hour),
		Fingerprint: c.Fingerprint,
		Result:      []byte(`{"n":7}`),
	}
	var out struct{ N int }
	if err := r.Replay(c, &out); err != nil || out.N != 7 {
		t.Error(out, err)
	}
	if first, err := First[struct{ N int }](r, c); err != nil || first.N != 7 {
		t.Error(first, err)
	}
	c.Fingerprint[0]++
	if err := r.Replay(c, &out); fault.CodeOf(err) != fault.InvalidIdempotencyKey {
		t.Error("F76: another body is replayed", err)
	}
	if !r.Finished(now) || r.Finished(r.Expires) || (*Record)(nil).Finished(now) ||
		(&Record{Expires: r.Expires}).Finished(now) {
		t.Error("F54: a record is judged by more than its values")
	}
}

func TestALostCommandGoesOnWithWhatTheOtherAttemptLeft(t *testing.T) {
	now, moved := time.Now(), errors.New("moved")
	taken := func(r Record) error { return fmt.Errorf("commit: %w", &AlreadyDone{r}) }
	for _, c := range []struct {
		name     string
		err      error
		finished bool
		want     fault.Code
	}{
		{"finished", taken(Record{Done: true, Expires: now.Add(time.Hour), Result: []byte("7")}), true, ""},
		{"over", taken(Record{Done: true, Expires: now}), false, fault.IdempotencyInFlight},
		{"in flight", taken(Record{Expires: now.Add(time.Hour)}), false, fault.IdempotencyInFlight},
	} {
		r, err := lost(c.err, now)
		if (r != nil) != c.finished || (err == nil) != c.finished || err != nil && fault.CodeOf(err) != c.want {
			t.Error(c.name, r, err)
		}
		if r != nil && string(r.Result) != "7" {
			t.Error(c.name, "another record answers")
		}
	}
	if r, err := lost(moved, now); r != nil || !errors.Is(err, moved) {
		t.Error("another failure becomes", r, err)
	}
	if r, err := lost(nil, now); r != nil || err != nil {
		t.Error("no failure becomes", r, err)
	}
}
