package render_test

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	host "vitrine/functions/render"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/reading"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/address"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/render"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// env is a render host that makes pages of an artifact.
type env struct {
	*reading.Artifact
	app string // origin
}

func newEnv(t testing.TB, files ...string) *env {
	t.Helper()
	e := &env{Artifact: reading.New(t, files...)}
	e.Claims.Scripts = false
	e.State.Link = &link.Link{}
	e.serve(reading.ContentOrigin, reading.AppOrigin)
	return e
}

// serve replaces the host by one with these origins.
func (e *env) serve(contentOrigin, app string) {
	e.T.Helper()
	e.app = app
	h := host.Host{
		Surface:  &web.Server{Title: "Vitrine pages", Origin: contentOrigin, Log: e.Logger()},
		Reader:   e.Reader(contentOrigin),
		Renderer: render.New(),
		Origins:  address.Origins{Content: contentOrigin, App: app},
	}
	e.Handler = h.Handler()
}

// path returns the path of a page with a new token.
func (e *env) path(file string) string {
	return strings.TrimSuffix("/r/"+e.Token()+"/"+file, "/")
}

// get reads the page of a file; headers come in pairs.
func (e *env) get(file string, headers ...string) *httptest.ResponseRecorder {
	e.T.Helper()
	return e.Ask("GET", e.path(file), headers...)
}

var frame = reading.InFrame
