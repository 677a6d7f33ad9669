package main

import (
	"strings"
	"testing"

	"vitrine/cmd/vitrine/vault"
	"vitrine/shared/platform/limits"
)

func TestPagingHasBounds(t *testing.T) {
	longest := strings.Repeat("c", limits.CursorLength)
	for p, ok := range map[paging]bool{
		{limit: 1}:                        true,
		{limit: 0}:                        false,
		{limit: maxList}:                  true,
		{limit: maxList + 1}:              false,
		{all: true}:                       true,
		{limit: 1, cursor: longest}:       true,
		{limit: 1, cursor: longest + "c"}: false,
	} {
		if err := p.check("list"); (err == nil) != ok {
			t.Errorf("check of limit %d and a cursor of %d bytes = %v", p.limit, len(p.cursor), err)
		}
	}
}

func TestTheOwnerOfALoginIsNamedIfKnown(t *testing.T) {
	for email, want := range map[string]string{"": "", "ada@example.com": " of ada@example.com"} {
		if got := ownerOf(&vault.Record{MemberEmail: email}); got != want {
			t.Errorf("ownerOf(%q) = %q, want %q", email, got, want)
		}
	}
}
