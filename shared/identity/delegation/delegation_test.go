package delegation

import (
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/workspace"
)

func TestADelegationLivesInItsWorkspaceAndEpoch(t *testing.T) {
	home := workspace.Workspace{ID: "w", Epoch: 2}
	live := Delegation{Workspace: "w", Epoch: 2, Generation: 1}
	for name, c := range map[string]struct {
		d    Delegation
		want bool
	}{
		"as it was made":       {live, true},
		"ended":                {live.Ended(time.Now()), false},
		"in another workspace": {Delegation{Workspace: "x", Epoch: 2}, false},
		"of an older epoch":    {Delegation{Workspace: "w", Epoch: 1}, false},
	} {
		if got := c.d.Live(home); got != c.want {
			t.Errorf("%s: live is %v", name, got)
		}
	}
	if live.Ended(time.Now()).Term() == live.Term() {
		t.Error("a term goes on after the end")
	}
}

func TestTheHostOfAnIssuer(t *testing.T) {
	expect.Results(t, func(issuer string) string { return (Principal{Issuer: issuer}).Host() }, map[string]string{
		"https://id.example":            "id.example",
		"https://id.example:8443/a/b?c": "id.example:8443",
		"id.example/a":                  "id.example",
		"":                              "",
	})
}
