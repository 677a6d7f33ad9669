package keyring

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestT79BadRingsAreRefused(t *testing.T) {
	good, _ := json.Marshal(New())
	change := func(f func(*Set)) []byte {
		var s Set
		json.Unmarshal(good, &s)
		f(&s)
		data, _ := json.Marshal(s)
		return data
	}
	for name, data := range map[string][]byte{
		"not JSON":             []byte(`{"content":`),
		"a ring is missing":    []byte(`{}`),
		"no active key":        change(func(s *Set) { s.Links.ActiveID = 9 }),
		"weak key":             change(func(s *Set) { s.Pepper.Keys[0].Secret = make(Secret, 31) }),
		"id zero":              change(func(s *Set) { s.Seal.Keys[0].ID, s.Seal.ActiveID = 0, 0 }),
		"one id twice":         change(func(s *Set) { s.Seal.Keys = append(s.Seal.Keys, s.Seal.Keys[0]) }),
		"unknown state":        change(func(s *Set) { s.Content.Keys[0].State = "old" }),
		"active only verifies": change(func(s *Set) { s.Content.Keys[0].State = Verify }),
	} {
		if _, err := Parse(data); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	s := Secret("hush hush hush")
	if out := fmt.Sprintf("%v %s", s, s); strings.Contains(out, "hush") {
		t.Errorf("printed %s", out)
	}
}

func TestEachUseHasItsOwnKey(t *testing.T) {
	ring := New().Content
	a, _ := ring.Derive("content")
	b, _ := ring.Derive("agent-view")
	kid, ka := a.Active()
	if bytes.Equal(ka, b.Key(kid)) || bytes.Equal(ka, ring.Keys[0].Secret) {
		t.Error("keys are shared between uses")
	}
	if a.Key(kid+1) != nil {
		t.Error("an unknown id has a key")
	}
}

func TestASeedStandsForOneKeyUntilTheFirstRotation(t *testing.T) {
	seed := strings.Repeat("s3", 22)
	a, err := ParseRing([]byte(`{"seed":"` + seed + `"}`))
	b, _ := ParseRing([]byte(`{"seed":"` + seed + `"}`))
	if err != nil || !bytes.Equal(a.Keys[0].Secret, b.Keys[0].Secret) || a.check() != nil {
		t.Error(a, err)
	}
	full, _ := json.Marshal(a)
	if again, err := ParseRing(full); err != nil || !bytes.Equal(again.Keys[0].Secret, a.Keys[0].Secret) {
		t.Error("the full form differs", err)
	}
	for _, bad := range []string{`{"seed":"short"}`, `{}`, `[]`, `{"active":1,"keys":[]}`} {
		if _, err := ParseRing([]byte(bad)); err == nil {
			t.Errorf("T79: %s is accepted", bad)
		}
	}
}
