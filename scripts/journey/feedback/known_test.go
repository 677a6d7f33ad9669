package feedback

import (
	"net/http"
	"slices"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// TestAListThatTheCallerKnowsIsNotSentAgain polls as clients do.
func TestAListThatTheCallerKnowsIsNotSentAgain(t *testing.T) {
	t.Parallel()
	d := newDiscussed(t)
	for range 51 {
		d.write(t, contract.CreateThread{Body: "A remark"})
	}
	if got := d.agent.At.Features; !slices.Equal(got, []string{contract.FeatureFeedback}) {
		t.Errorf("discovery lists %q", got)
	}
	list := d.agent.At.APIURL + harness.FeedbackPath(d.ArtifactID)
	get := func(query string, headers ...string) wire.Answer {
		t.Helper()
		return harness.Do(t, d.agent, "GET", list+query, nil, headers...)
	}
	if a := get(""); a.Header.Get("ETag") != "" {
		t.Errorf("a page with a cursor, which ends, has the tag %s", a.Header.Get("ETag"))
	}
	for _, query := range []string{"?since=51", "?since=1", "?state=resolved"} {
		if a := get(query, "Accept-Encoding", "identity"); a.Status != http.StatusOK || a.Header.Get("ETag") != `"51"` {
			t.Errorf("%s: %d %q", query, a.Status, a.Header.Get("ETag"))
		}
		a := get(query, "If-None-Match", `"51"`)
		if a.Status != http.StatusNotModified || len(a.Body) > 0 || a.Header.Get("ETag") != `"51"` ||
			a.Header.Get("Retry-After") != "10" || a.Header.Get("Content-Type") != "" {
			t.Errorf("%s: %d %q %v", query, a.Status, a.Body, a.Header)
		}
		if a := get(query, "If-None-Match", `"50"`); a.Status != http.StatusOK {
			t.Errorf("%s after an earlier change: %d", query, a.Status)
		}
	}
	other := d.NewAgent(t)
	foreign := harness.Do(t, other, "GET", other.At.APIURL+harness.FeedbackPath(d.ArtifactID), nil, "If-None-Match", `"51"`)
	harness.WantRefused(t, foreign, http.StatusNotFound, fault.ArtifactNotFound)
	harness.DeleteArtifact(t, d.agent, d.ArtifactID)
	gone := get("?since=51", "If-None-Match", `"51"`)
	harness.WantRefused(t, gone, http.StatusNotFound, fault.ArtifactNotFound)
}
