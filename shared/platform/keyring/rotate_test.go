package keyring

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/limits"
)

var start = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// flippedRing returns a ring that was staged at start and flipped as soon as possible.
func flippedRing(t *testing.T, drain time.Duration) (before, after Ring) {
	t.Helper()
	before = newRing()
	staged, err := before.Stage(start)
	expect.OK(t, err)
	after, err = staged.Flip(start.Add(StageAge), drain, Patient)
	expect.OK(t, err)
	return before, after
}

// states describes the keys of a ring.
func states(r Ring) string {
	var all []string
	for _, k := range r.Keys {
		all = append(all, fmt.Sprint(k.ID, " ", k.State))
	}
	return strings.Join(all, ", ")
}

func TestARotationGoesInSteps(t *testing.T) {
	ring := newRing()
	staged, err := ring.Stage(start)
	if err != nil || states(staged) != "1 active, 2 next" || states(ring) != "1 active" || staged.check() != nil {
		t.Fatal(states(staged), states(ring), err)
	}
	if len(staged.Keys[1].Secret) != keyBytes || bytes.Equal(staged.Keys[1].Secret, staged.Keys[0].Secret) {
		t.Error("the staged key is not a fresh one")
	}
	if _, err := staged.Stage(start); err == nil {
		t.Error("two keys are staged at once")
	}
	flipped, err := staged.Flip(start.Add(StageAge), time.Hour, Patient)
	if err != nil || states(flipped) != "1 verify, 2 active" || flipped.ActiveID != 2 || flipped.check() != nil {
		t.Fatal(states(flipped), err)
	}
	until := start.Add(StageAge + time.Hour)
	if k := flipped.Keys[0]; !k.VerifyUntil.Equal(until) || !k.Since.Equal(start.Add(StageAge)) ||
		!bytes.Equal(k.Secret, ring.Keys[0].Secret) {
		t.Errorf("the key before is %+v", k)
	}
	left, dropped, err := flipped.Drop(until, Patient)
	if err != nil || states(left) != "2 active" || !slices.Equal(dropped, []byte{1}) || left.check() != nil {
		t.Fatal(states(left), dropped, err)
	}
	if states(staged) != "1 active, 2 next" || states(flipped) != "1 verify, 2 active" {
		t.Error("a step changed the ring that it was given")
	}
}

func TestStepsThatComeTooEarlySayWhenTheyArePossible(t *testing.T) {
	staged, _ := newRing().Stage(start)
	_, flipped := flippedRing(t, time.Hour)
	_, endless := flippedRing(t, 0)
	unknown := staged.clone()
	unknown.Keys[1].Since = time.Time{}
	drop := func(r Ring, h Urgency) func(time.Time) error {
		return func(now time.Time) error { _, _, err := r.Drop(now, h); return err }
	}
	flip := func(r Ring) func(time.Time) error {
		return func(now time.Time) error { _, err := r.Flip(now, time.Hour, Patient); return err }
	}
	for name, c := range map[string]struct {
		do func(time.Time) error
		at time.Time
	}{
		"a flip":                         {flip(staged), start.Add(StageAge)},
		"a flip to a key of unknown age": {flip(unknown), time.Time{}},
		"a drop":                         {drop(flipped, Patient), start.Add(StageAge + time.Hour)},
		"a drop of a key without end":    {drop(endless, Patient), time.Time{}},
		"a drop of one nobody uses":      {drop(endless, Unused), start.Add(StageAge + restartTime)},
		"unused is not for other keys":   {drop(flipped, Unused), start.Add(StageAge + time.Hour)},
	} {
		when := c.at
		if when.IsZero() {
			when = start.AddDate(9, 0, 0)
		}
		var early *NotYet
		if err := c.do(when.Add(-time.Second)); !errors.As(err, &early) || !early.At.Equal(c.at) || early.Error() == "" {
			t.Errorf("%s: got %+v, want a refusal until %s", name, err, c.at)
		}
		if !c.at.IsZero() && c.do(c.at) != nil {
			t.Errorf("%s: refused when its time had come", name)
		}
	}
}

func TestAnEmergencyWaitsForNothing(t *testing.T) {
	staged, _ := newRing().Stage(start)
	flipped, err := staged.Flip(start, time.Hour, Emergency)
	if err != nil || states(flipped) != "1 verify, 2 active" {
		t.Fatal(states(flipped), err)
	}
	again, _ := flipped.Stage(start)
	left, dropped, err := again.Drop(start, Emergency)
	if err != nil || states(left) != "2 active" || !slices.Equal(dropped, []byte{1, 3}) {
		t.Error(states(left), dropped, err)
	}
	if _, _, err := left.Drop(start, Emergency); err == nil {
		t.Error("the active key can be dropped")
	}
	if _, err := left.Flip(start, time.Hour, Emergency); err == nil {
		t.Error("a flip without a staged key")
	}
}

func TestIdsComeBackAsLateAsTheyCan(t *testing.T) {
	ring := newRing()
	seen := map[byte]bool{1: true}
	for range 254 {
		staged, err := ring.Stage(start)
		expect.OK(t, err)
		ring, _ = staged.Flip(start, 0, Emergency)
		ring, _, _ = ring.Drop(start, Emergency)
		if seen[ring.ActiveID] {
			t.Fatalf("id %d came back after %d others", ring.ActiveID, len(seen))
		}
		seen[ring.ActiveID] = true
	}
	if next, err := ring.Stage(start); err != nil || next.Keys[1].ID != 1 || next.check() != nil {
		t.Error("after 255 comes 1:", states(next), err)
	}
	full := Ring{ActiveID: 1}
	for id := 1; id <= 255; id++ {
		full.Keys = append(full.Keys, Key{ID: byte(id), State: Verify})
	}
	if _, err := full.Stage(start); err == nil {
		t.Error("a full ring took another key")
	}
}

func TestStepsTellWhatComesNext(t *testing.T) {
	staged, _ := newRing().Stage(start)
	_, flipped := flippedRing(t, time.Hour)
	_, endless := flippedRing(t, 0)
	for name, c := range map[string]struct {
		ring Ring
		want []Step
	}{
		"a fresh ring":      {newRing(), []Step{{"stage", 0, start}}},
		"after a stage":     {staged, []Step{{"flip", 2, start.Add(StageAge)}}},
		"after a flip":      {flipped, []Step{{"stage", 0, start}, {"drop", 1, start.Add(StageAge + time.Hour)}}},
		"without a due day": {endless, []Step{{"stage", 0, start}, {"drop", 1, time.Time{}}}},
	} {
		if got := c.ring.Steps(start); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestAKeyDrainsAsLongAsWhatItSignedLives(t *testing.T) {
	for name, longest := range map[string]time.Duration{
		"content":   limits.TokenLife + time.Hour,
		"seal":      limits.ReplayLife,
		"assertion": limits.RegistrationLife + limits.AssertionLeeway,
	} {
		if Drain(name) < longest+StageAge {
			t.Errorf("%s drains for %s, and what it signs lives %s", name, Drain(name), longest)
		}
	}
	if Drain("pepper") != 0 || Drain("links") != 0 || Drain("seal") < limits.CursorLife {
		t.Error("API keys and links have no end, and cursors have one")
	}
}

func TestTheInstantsOfAKeySurviveItsJSONForm(t *testing.T) {
	_, ring := flippedRing(t, time.Hour)
	data, err := json.Marshal(ring)
	expect.OK(t, err)
	back, err := ParseRing(data)
	if err != nil || !back.Keys[0].VerifyUntil.Equal(ring.Keys[0].VerifyUntil) ||
		!back.Keys[1].Since.Equal(ring.Keys[1].Since) {
		t.Errorf("%s became %+v: %v", data, back, err)
	}
	if fresh, _ := json.Marshal(newRing()); bytes.Contains(fresh, []byte("since")) ||
		bytes.Contains(fresh, []byte("verify_until")) {
		t.Errorf("a fresh ring says %s", fresh)
	}
}

func TestASetThatIsOlderThanARingGetsOne(t *testing.T) {
	whole, _ := json.Marshal(New())
	var members map[string]json.RawMessage
	json.Unmarshal(whole, &members)
	without := func(name string) []byte {
		delete(members, name)
		data, _ := json.Marshal(members)
		json.Unmarshal(whole, &members)
		return data
	}
	set, added, err := Complete(without("assertion"))
	if err != nil || !slices.Equal(added, []string{"assertion"}) || set.Assertion.check() != nil {
		t.Fatal(added, err)
	}
	var before Set
	json.Unmarshal(whole, &before)
	if !bytes.Equal(set.Pepper.Keys[0].Secret, before.Pepper.Keys[0].Secret) {
		t.Error("another ring changed")
	}
	if _, added, err := Complete(whole); err != nil || added != nil {
		t.Error("a whole set is not whole:", added, err)
	}
	for _, name := range []string{"content", "links", "pepper", "seal"} {
		if _, _, err := Complete(without(name)); err == nil {
			t.Errorf("T79: a set that lost ring %s got a fresh one", name)
		}
	}
	broken := bytes.Replace(whole, []byte(`"assertion":{"active":1`), []byte(`"assertion":{"active":9`), 1)
	for _, bad := range [][]byte{broken, []byte("null"), []byte("["), nil} {
		if _, _, err := Complete(bad); err == nil {
			t.Errorf("T79: %s is accepted", bad)
		}
	}
}

func TestWhatANewerVersionKeepsInASetStays(t *testing.T) {
	set := New()
	data, err := set.Over([]byte(`{"content":{"old":1},"later":{"active":1}}`))
	if err != nil || !bytes.Contains(data, []byte(`"later"`)) || bytes.Contains(data, []byte(`"old"`)) {
		t.Errorf("%s, %v", data, err)
	}
	if back, err := Parse(data); err != nil || !bytes.Equal(back.Seal.Keys[0].Secret, set.Seal.Keys[0].Secret) {
		t.Error(err)
	}
	if fresh, err := set.Over(nil); err != nil || json.Unmarshal(fresh, &set) != nil {
		t.Error(err)
	}
}
