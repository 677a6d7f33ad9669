package api

import (
	"strings"
	"testing"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

func TestOnlyAnUnclaimedAgentGetsTheShareLinkAsTheURL(t *testing.T) {
	made := artifact.PublishedRevision{ShareURL: "https://app.test/al/share"}
	for agent, want := range map[bool]string{true: made.ShareURL, false: ""} {
		out := published(made, credential.Key{FromAgent: agent})
		if out.URL != want || out.UnlistedURL != made.ShareURL {
			t.Errorf("published to an agent (%t): %q and %q, want the URL %q", agent, out.URL, out.UnlistedURL, want)
		}
	}
}

func TestTheAgentViewTellsPeopleWhenItsArtifactExpires(t *testing.T) {
	v := contract.PublicAgentView{ExpiresAt: contract.At(limits.Never)}
	if got := page(v); !strings.Contains(got, ". Does not expire.</p>") || strings.Contains(got, "2100") {
		t.Errorf("without an end: %s", got)
	}
	v.ExpiresAt = contract.At(limits.Never.AddDate(-1, 0, 0))
	if got := page(v); !strings.Contains(got, ". Expires Thu, 01 Jan 2099 00:00:00 UTC.</p>") {
		t.Errorf("with an end: %s", got)
	}
}
