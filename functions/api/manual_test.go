package api

import (
	"net/http"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/manual"
)

// TestDocumentsOfTheManualAreAtTheAppHost also keeps a name under which a request came out of the answer.
func TestDocumentsOfTheManualAreAtTheAppHost(t *testing.T) {
	a := withAgents(t)
	app := a.host.URLs.Origins.App
	paths := manual.Paths()
	if len(paths) == 0 || app == "" {
		t.Fatal(paths, app)
	}
	for _, path := range paths {
		r := a.send(t, "GET", path+"?x=1", "", "X-Forwarded-Host", "evil.example")
		if r.StatusCode != http.StatusFound || r.Header.Get("Location") != app+path || r.body != "" ||
			r.Header.Get("Cache-Control") != "public, max-age=300" || r.Header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %s %v %s", path, r.Status, r.Header, r.body)
		}
		if r := a.send(t, http.MethodPost, path, ""); r.StatusCode != http.StatusNotFound {
			t.Errorf("POST %s: %s", path, r.Status)
		}
	}
	beside := a.send(t, "GET", "/.well-known/agent-skills/other.json", "").body
	expect.Has(t, "a path beside them", beside, `"code":"not_found"`)
}
