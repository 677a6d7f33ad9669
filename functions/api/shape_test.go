package api

import (
	"testing"

	"vitrine/shared/identity/credential"
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
