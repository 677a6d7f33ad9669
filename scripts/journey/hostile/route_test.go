package hostile

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// documented are the methods of every path of a host, from its golden document.
func documented(t testing.TB, host string) map[string]map[string]any {
	t.Helper()
	var document struct{ Paths map[string]map[string]any }
	harness.ReadGolden(t, host, &document)
	return document.Paths
}

var parameters = regexp.MustCompile(`\{[a-z_]+\}`)

// TestMethodsThatARouteDoesNotHaveAreNotThere also names another method in headers, to which no host listens.
func TestMethodsThatARouteDoesNotHaveAreNotThere(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	g := p.NewAgent(t)
	var attacks []attack
	for _, host := range []string{"api", "upload", "content"} {
		for path, methods := range documented(t, host) {
			for _, method := range []string{
				"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get",
			} {
				_, is := methods[strings.ToLower(method)]
				if _, get := methods["get"]; method != "get" && is || method == "HEAD" && get {
					continue
				}
				line := method + " " + parameters.ReplaceAllString(path, "x")
				headers := []string{
					bearer(g.Key), "Origin: https://evil.example", "Access-Control-Request-Method: GET", idempotent(),
					"X-HTTP-Method-Override: DELETE", "X-HTTP-Method: DELETE", "X-Method-Override: DELETE",
				}
				attacks = append(attacks, attack{host + " " + line, host, line, "", headers, 404, fault.NotFound})
			}
		}
	}
	before := p.Snapshot(t)
	for _, a := range attacks {
		answer := p.SendRaw(t, a.host, a.line, a.body, a.headers...)
		if strings.HasPrefix(a.line, "HEAD ") {
			if answer.Status != http.StatusNotFound || len(answer.Body) != 0 {
				t.Errorf("%s answers %d with %d bytes", a.name, answer.Status, len(answer.Body))
			}
			continue
		}
		t.Run(a.name, func(t *testing.T) { harness.WantRefused(t, answer, a.status, a.code) })
		for name := range answer.Header {
			if strings.HasPrefix(name, "Access-Control-") || name == "Allow" {
				t.Errorf("%s answers %s", a.name, name)
			}
		}
	}
	p.WantUnchanged(t, before)
	harness.PublishPage(t, g, "after")
}

func TestIdsOfAnyFormAreSimplyUnknown(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	g := p.NewAgent(t)
	forms := map[string]string{
		"a text":          "x",
		"dots":            "%2e%2e",
		"a slash":         "a%2Fb",
		"NUL":             "a%00b",
		"no UTF-8":        "a%ffb",
		"lower case":      strings.ToLower(string(id.NewArtifact())),
		"3000 characters": strings.Repeat("x", 3000),
	}
	var attacks []attack
	for form, x := range forms {
		add := func(host, name, line string, code fault.Code, headers ...string) {
			attacks = append(attacks, attack{name + ", " + form, host, line, "", append(headers, bearer(g.Key)), 404, code})
		}
		art := string(id.NewArtifact())
		rev := string(id.NewRevision())
		idem := idempotent()
		add("api", "view", "GET /v1/artifacts/"+x+"/agent-view", fault.NotFound)
		add("api", "pinned view", "GET /v1/artifacts/"+art+"/revisions/"+x+"/agent-view", fault.NotFound)
		add("api", "pinned view of", "GET /v1/artifacts/"+x+"/revisions/"+rev+"/agent-view", fault.NotFound)
		add("api", "public view", "GET /v1/public/agent-view/"+x, fault.NotFound)
		add("api", "delete", "DELETE /v1/artifacts/"+x, fault.ArtifactNotFound)
		add("api", "delete with key", "DELETE /v1/artifacts/"+x, fault.ArtifactNotFound, idem)
		add("api", "publish", "POST /v1/artifacts/"+art+"/revisions/"+x+"/publish", fault.ArtifactNotFound, idem)
		add("api", "publish of", "POST /v1/artifacts/"+x+"/revisions/"+rev+"/publish", fault.ArtifactNotFound, idem)
		add("api", "links", "GET /v1/artifacts/"+x+"/access-links", fault.ArtifactNotFound)
		add("api", "mint", "POST /v1/access-links/"+x+"/mint", fault.NotFound)
		add("api", "revoke", "POST /v1/access-links/"+x+"/revoke", fault.NotFound)
		add("upload", "finalize", "POST /v1/upload-sessions/"+x+"/finalize", fault.NotFound, idem)
	}
	wantRefusals(t, p, g, attacks)
}

func TestT78OnlyAnOpaqueOriginReadsAndContentAlone(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	g := p.NewAgent(t)
	content := strings.TrimPrefix(harness.PublishPage(t, g, "shared").RevisionContentURL, p.Origins.Content)
	for _, origin := range []string{"https://evil.example", "null", p.Origins.App, p.Origins.Content} {
		for host, line := range map[string]string{
			"api":     "GET /v1/whoami",
			"upload":  "POST /v1/upload-sessions",
			"content": "GET " + content,
		} {
			a := p.SendRaw(t, host, line, "", "Origin: "+origin, "Cookie: __Host-session=x", bearer(g.Key))
			for name := range a.Header {
				may := name == "Access-Control-Allow-Origin" && host == "content" && origin == "null"
				if !may && (strings.HasPrefix(name, "Access-Control-") || name == "Set-Cookie") {
					t.Errorf("%s with Origin %s answers %s", line, origin, name)
				}
			}
		}
	}
	sandbox := p.SendRaw(t, "content", "GET "+content, "", "Origin: null").Header
	if got := sandbox.Get("Access-Control-Allow-Origin"); got != "null" {
		t.Errorf("a sandbox is allowed as %q", got)
	}
}

func TestT59HostNamesInRequestsChangeNoLink(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, func(o *stack.Options) { o.Limits.Off = true })
	g := p.NewAgent(t)
	a := harness.PublishPage(t, g, "linked")
	view := "GET /v1/artifacts/" + string(a.ArtifactID) + "/agent-view"
	plain := p.SendRaw(t, "api", view, "", bearer(g.Key))
	for _, headers := range [][]string{
		{"Host: evil.example"},
		{"Host: evil.example:8080"},
		{"X-Forwarded-Host: evil.example", "X-Forwarded-Proto: https", "Forwarded: host=evil.example"},
		{"X-Original-URL: /v1/whoami", "X-Rewrite-URL: /v1/whoami"},
	} {
		got := p.SendRaw(t, "api", view, "", append(headers, bearer(g.Key))...)
		if got.Status != http.StatusOK || string(got.Body) != string(plain.Body) {
			t.Errorf("%q: %d %s", headers, got.Status, got.Body)
		}
	}
	content := "GET " + strings.TrimPrefix(a.RevisionContentURL, p.Origins.Content)
	for _, name := range []string{"localhost", "LOCALHOST:80"} { // the app's name
		got := p.SendRaw(t, "content", content, "", "Host: "+name)
		if got.Status != http.StatusMisdirectedRequest || got.Code() != fault.NotFound {
			t.Errorf("content under the name %s answers %d %s", name, got.Status, got.Code())
		}
	}
	if got := p.SendRaw(t, "content", content, "", "X-Forwarded-Host: localhost"); got.Status != http.StatusOK {
		t.Errorf("content with X-Forwarded-Host answers %d", got.Status)
	}
}
