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
	for _, good := range []string{"cli_publish_1.2:3-4", "azAZ0189"} {
		if err := CheckClient(good); err != nil {
			t.Errorf("CheckClient(%q) = %v, want no error", good, err)
		}
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

var errBroken = errors.New("errBroken")

func TestACommandRunsOnceAndARepetitionGetsItsFirstResult(t *testing.T) {
	now := time.Now()
	c := Command{Key: Key{Actor: "a", Operation: CreateKey, Client: "client-1"}, Fingerprint: Fingerprint{1}}
	other := Command{Key: c.Key, Fingerprint: Fingerprint{2}}
	done := Record{
		Fingerprint: c.Fingerprint,
		Done:        true,
		Result:      []byte(`"first"`),
		Expires:     now.Add(time.Hour),
	}
	running := Record{Fingerprint: c.Fingerprint, Lease: now.Add(time.Minute), Expires: done.Expires}
	over := done
	over.Expires = now
	damaged := done
	damaged.Result = []byte("{")
	for name, tt := range map[string]struct {
		command Command
		record  *Record
		fails   error // of the run
		runs    bool
		want    string
		code    fault.Code
	}{
		"no record":                                {c, nil, nil, true, "now", ""},
		"a finished record":                        {c, &done, nil, false, "first again", ""},
		"a finished record of another request":     {other, &done, nil, false, "", fault.InvalidIdempotencyKey},
		"a record of an attempt that still runs":   {c, &running, nil, true, "now", ""},
		"a record that is over":                    {c, &over, nil, true, "now", ""},
		"a result that cannot be read":             {c, &damaged, nil, false, "", fault.Internal},
		"a run that fails":                         {c, nil, errBroken, true, "", fault.Internal},
		"lost against one that finished":           {c, nil, &AlreadyDone{done}, true, "first again", ""},
		"lost, and the error says where":           {c, nil, fmt.Errorf("here: %w", &AlreadyDone{done}), true, "first again", ""},
		"lost against another request":             {other, nil, &AlreadyDone{done}, true, "", fault.InvalidIdempotencyKey},
		"lost against one that still runs":         {c, nil, &AlreadyDone{running}, true, "", fault.IdempotencyInFlight},
		"lost against one that left no record":     {c, nil, &AlreadyDone{}, true, "", fault.IdempotencyInFlight},
		"lost against one whose record just ended": {c, nil, &AlreadyDone{over}, true, "", fault.IdempotencyInFlight},
	} {
		t.Run(name, func(t *testing.T) {
			ran := false
			got, err := DoWith(tt.command, tt.record, now, func() (string, error) {
				ran = true
				return "now", tt.fails
			}, func(first string) (string, error) { return first + " again", nil })
			if got != tt.want || ran != tt.runs {
				t.Errorf("it answers %q, and ran is %t; want %q and %t", got, ran, tt.want, tt.runs)
			}
			if (err == nil) != (tt.code == "") || err != nil && fault.CodeOf(err) != tt.code {
				t.Errorf("it fails with %v; want %q", err, tt.code)
			}
		})
	}
}

func TestWhatReplayRefusesIsRefused(t *testing.T) {
	now := time.Now()
	r := &Record{Done: true, Result: []byte("{}"), Expires: now.Add(time.Hour)}
	_, err := DoWith(Command{}, r, now, func() (int, error) { return 1, nil }, func(struct{}) (int, error) { return 0, errBroken })
	if !errors.Is(err, errBroken) {
		t.Errorf("it ends with %v", err)
	}
}

func ExampleDo() {
	type made struct{ Name string }
	now := time.Now()
	command := Command{Key: Key{Actor: "key", Operation: CreateKey, Client: "client-key"}}
	create := func(name string) func() (made, error) {
		return func() (made, error) { return made{name}, nil } // and stores it with the record
	}
	first, _ := Do(command, nil, now, create("one"))
	stored := &Record{Done: true, Result: []byte(`{"Name":"one"}`), Expires: now.Add(time.Hour)}
	second, _ := Do(command, stored, now, create("two"))
	fmt.Println(first.Name, second.Name)
	// Output: one one
}
