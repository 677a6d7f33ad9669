package idempotency

import (
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
