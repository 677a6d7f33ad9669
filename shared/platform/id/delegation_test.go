package id_test

import (
	"strings"
	"testing"

	"vitrine/shared/platform/id"
)

func TestADelegationIsNamedAfterAllOfItsPerson(t *testing.T) {
	d := id.DelegationOf("https://idp.example", "ada", "https://api.example")
	if !d.Valid() || d != id.DelegationOf("https://idp.example", "ada", "https://api.example") {
		t.Errorf("%q is no stable id", d)
	}
	for _, other := range []id.Delegation{
		id.DelegationOf("https://idp.example/", "ada", "https://api.example"),
		id.DelegationOf("https://idp.example", "ada ", "https://api.example"),
		id.DelegationOf("https://idp.example", "ada", ""),
	} {
		if other == d {
			t.Errorf("%q is the id of two persons", d)
		}
	}
	if d.Term(1) == d.Term(2) || !strings.HasPrefix(string(d.Term(1)), string(d)) {
		t.Error("terms are not told apart")
	}
}

func TestOtherTextsAreNoDelegation(t *testing.T) {
	good := string(id.DelegationOf("i", "s", "a"))
	for _, text := range []string{"", "x", good + "A", good[1:], good + "\n", good[:42] + "_", good[:42] + "*"} {
		if id.Delegation(text).Valid() {
			t.Errorf("%q is valid", text)
		}
	}
}
