package member

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/limits"
)

func TestAWorkspaceIsCalledAfterThePerson(t *testing.T) {
	expect.Results(t, nameFor, map[string]string{
		"ada@example.org":   "ada's Workspace",
		`"a@b"@example.org`: `"a@b"'s Workspace`,
		"ada":               "ada's Workspace",
		"@x":                "@x's Workspace",
	})
	long := nameFor(strings.Repeat("ä", 200) + "@example.org")
	if utf8.RuneCountInString(long) != limits.WorkspaceNameRunes || !strings.HasSuffix(long, "ä's Workspace") {
		t.Errorf("%q", long)
	}
}

func TestAnIdentityWithoutAPersonEntersNowhere(t *testing.T) {
	r := Service{Now: time.Now} // without a store: an invalid identity must not reach it
	for _, who := range []Identity{
		{},
		{Issuer: "i", Subject: "s"},
		{Issuer: "i", Email: "a@b"},
		{Subject: "s", Email: "a@b"},
	} {
		if _, err := r.SignIn(t.Context(), who, "req"); err == nil {
			t.Errorf("%+v enters", who)
		}
	}
}
