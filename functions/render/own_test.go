package render_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	host "vitrine/functions/render"
	"vitrine/scripts/testkit/reading"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/render"
)

// newOwnEnv has a render host where each artifact has an origin of its own. at asks for a path there with a token in the
// cookie; empty: without one.
func newOwnEnv(t *testing.T, files ...string) (
	e *env, at func(a id.Artifact, token, path string, headers ...string) *httptest.ResponseRecorder,
) {
	t.Helper()
	e = newEnv(t, files...)
	h := host.Host{
		Surface:  &web.Server{Title: "Vitrine pages", Origin: reading.ContentOrigin, Log: e.Logger()},
		Reader:   e.Reader(reading.ContentOrigin),
		Renderer: render.New(),
		Origins:  address.Origins{Content: reading.ContentOrigin, App: reading.AppOrigin, Own: "http://*.content.test"},
	}
	e.Handler = h.Handler()
	return e, func(a id.Artifact, token, path string, headers ...string) *httptest.ResponseRecorder {
		if token != "" {
			headers = append([]string{"Cookie", "__Host-v=" + token}, headers...)
		}
		return e.Ask("GET", h.Origins.Of(a)+path, headers...)
	}
}

func TestPagesAtAnOwnOriginNeedTheCookieOfTheirArtifact(t *testing.T) {
	e, at := newOwnEnv(t, "docs/a.md", "# Hi\n\n![](b.png) [c](c.md)", "docs/b.png", "x", "docs/c.md", "c")
	a := e.Claims.Artifact
	w := at(a, e.Token(), "/.vitrine/r/docs/a.md", frame...)
	for _, part := range []string{">Hi</h1>", `src="/docs/b.png"`, `href="/.vitrine/r/docs/c.md"`} {
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), part) {
			t.Errorf("%d without %s: %s", w.Code, part, w.Body)
		}
	}
	policy := w.Header().Get("Content-Security-Policy")
	if strings.Contains(policy, " /") {
		t.Errorf("the policy names a path without a host: %s", policy)
	}
	if !strings.Contains(policy, "frame-ancestors http://app.test 'self'") || w.Header().Get("X-Frame-Options") != "" {
		t.Errorf("%v", w.Header())
	}
	shared := e.get("docs/a.md", frame...).Header().Get("Content-Security-Policy")
	if !strings.Contains(shared, "; sandbox allow-scripts ") || strings.Contains(shared, "same-origin") {
		t.Errorf("the shared origin is not sealed: %s", shared)
	}
	if list := at(a, e.Token(), "/.vitrine/r", frame...); list.Code != http.StatusOK {
		t.Errorf("the list of all files: %d", list.Code)
	}
	for name, w := range map[string]*httptest.ResponseRecorder{
		"no cookie":        at(a, "", "/.vitrine/r/docs/a.md", frame...),
		"another artifact": at(id.NewArtifact(), "", "/.vitrine/r/docs/a.md", frame...),
		"a missing file":   at(a, e.Token(), "/.vitrine/r/none.md", frame...),
		"a path of files":  at(a, e.Token(), "/docs/a.md", frame...),
	} {
		if w.Code != http.StatusNotFound || w.Header().Get("Clear-Site-Data") != "" {
			t.Errorf("%s: %d %v", name, w.Code, w.Header())
		}
	}
	token := e.Token()
	for name, w := range map[string]*httptest.ResponseRecorder{
		"a token of another artifact": at(id.NewArtifact(), token, "/.vitrine/r/docs/a.md", frame...),
		"a revoked artifact": func() *httptest.ResponseRecorder {
			e.State.Artifact.Status = "deleted"
			return at(a, token, "/.vitrine/r/docs/a.md", frame...)
		}(),
	} {
		if w.Code != http.StatusNotFound || w.Header().Get("Clear-Site-Data") != `"cache", "storage"` {
			t.Errorf("%s: %d %v", name, w.Code, w.Header())
		}
	}
}
