//go:build conformance

package conformance

import (
	"net/http/httptest"
	"testing"
)

// TestEveryScoredScenarioPassesAroundTheFixture also holds what is pending to the suite: it does not count yet.
func TestEveryScoredScenarioPassesAroundTheFixture(t *testing.T) {
	r := runFixture(t, true)
	wantScore(t, r, 121, nil)
	for _, name := range []string{
		"json-schema-2020-12", "http-header-validation", "http-custom-header-server-validation",
	} {
		if s := r[name]; s == nil || s.failed > 0 || !s.unscored {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestAnswersInJSONLackProgressAlone leaves the server without subscriptions, which it then does not announce.
func TestAnswersInJSONLackProgressAlone(t *testing.T) {
	wantScore(t, runFixture(t, false), 114, map[string]string{
		"tools-call-with-progress": "undelivered message",
	})
}

func runFixture(t *testing.T, streams bool) report {
	t.Helper()
	h, err := newHandler(streams)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return runSuite(t, nil, "server", "--url", s.URL+"/", "--requirements", revision)
}
