package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/view"
)

// gallery is a running app host at localhost and a content host at 127.0.0.1, which browsers take for another site.
type gallery struct {
	app, content *httptest.Server
	appURL       string

	mu      sync.Mutex
	links   map[string]answers // by blob; others are not found
	shapes  map[string]answers // the same, of links that the host does not answer
	opened  map[string]int     // how often each blob was resolved
	targets []string           // method and request target of everything the app host was asked for
	lines   bytes.Buffer
	live    *fakeLive
	guests  *fakeGuests
	cut     atomic.Bool  // the content host sends the first half of a page
	broken  atomic.Int32 // so many requests for guest.js break off yet
}

// answers is what a link opens, in the shape that the page of the link gets.
type answers func(context.Context, contract.ResolveRequest) (contract.Resolved, error)

func fails(err error) answers {
	return func(context.Context, contract.ResolveRequest) (contract.Resolved, error) {
		return contract.Resolved{}, err
	}
}

// open opens a link. Its artifact runs scripts where the token says so, and where a reader wants them.
func (g *gallery) open(ctx context.Context, q contract.ResolveRequest, scripts bool) (view.View, error) {
	g.mu.Lock()
	g.opened[q.Blob]++
	answer := g.links[q.Blob]
	g.mu.Unlock()
	if answer == nil || q.PublicID != publicID {
		return view.View{}, fault.NewCode(fault.NotFound)
	}
	resolved, err := answer(ctx, q)
	if scripts {
		resolved.IframeSrc = strings.Replace(resolved.IframeSrc, "/v/plain/", "/v/scripts/", 1)
	}
	shown := viewFrom(resolved)
	shown.Scripts = shown.Scripts || scripts
	g.guests.set(func() { shown.Comments = g.guests.comments })
	if err != nil {
		return shown, err
	}
	return paged(shown, g.content.URL, q.FilesCursor)
}

// viewFrom is a view that has a shape.
func viewFrom(r contract.Resolved) view.View {
	of := r.AgentView
	v := view.View{
		Artifact:   artifact.Artifact{CreatedAt: of.CreatedAt.Time, ExpiresAt: of.ExpiresAt.Time},
		Revision:   artifact.Revision{ID: of.RevisionID, Entrypoint: of.Entrypoint, Mode: media.Mode(r.RenderMode)},
		Title:      r.Title,
		Entrypoint: address.FileURLs{Bytes: r.IframeSrc},
		Frame:      r.IframeSrc,
		Ephemeral:  of.EphemeralTier,
		Scripts:    !of.EphemeralTier && !strings.Contains(r.IframeSrc, "/v/never/"),
		Bundle: artifact.Availability{
			Status:     artifact.BundleStatus(of.Bundle.Status),
			RetryAfter: time.Duration(of.Bundle.RetryAfterSeconds) * time.Second,
			URL:        of.Bundle.URL,
			Size:       of.Bundle.SizeBytes,
		},
	}
	if r.Pinned {
		v.Artifact.PinnedAt = noon
	}
	for _, f := range of.Files {
		v.Files = append(v.Files, fileAt(f.Path, f.URL, f.SizeBytes))
	}
	return v
}

// shape makes a link that is answered by a shape that no view has.
func (g *gallery) shape(blob string, answer answers) string {
	g.mu.Lock()
	g.shapes[blob] = answer
	g.mu.Unlock()
	return g.link(blob, answer)
}

// resolve answers a link whose shape no view has in the place of the host.
func (g *gallery) resolve(w http.ResponseWriter, r *http.Request, host http.Handler) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	var link contract.ResolveRequest
	json.Unmarshal(body, &link) // what is none has no shape
	g.mu.Lock()
	answer := g.shapes[link.Blob]
	g.mu.Unlock()
	if answer == nil {
		host.ServeHTTP(w, r)
		return
	}
	resolved, _ := answer(r.Context(), link)
	writeJSON(w, http.StatusOK, resolved)
}

func (g *gallery) link(blob string, answer answers) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.links[blob] = answer
	return g.appURL + "/al/" + publicID + "#" + blob
}

func (g *gallery) count(blob string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened[blob]
}

func (g *gallery) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.lines.Write(b)
}

// open starts both hosts; contents are served below /v/{token}/ by path.
func open(t *testing.T) *gallery {
	t.Helper()
	g := &gallery{
		links:  map[string]answers{},
		shapes: map[string]answers{},
		opened: map[string]int{},
		live:   &fakeLive{},
		guests: &fakeGuests{},
	}
	var handler http.Handler
	g.content = httptest.NewServer(http.HandlerFunc(g.serveContent))
	g.app = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.mu.Lock()
		g.targets = append(g.targets, r.Method+" "+r.RequestURI)
		g.mu.Unlock()
		if c := r.Header["Cookie"]; len(c) > 0 {
			t.Errorf("the browser sent cookies: %v", c)
		}
		if strings.HasSuffix(r.URL.Path, "/guest.js") && g.broken.Add(-1) >= 0 {
			panic(http.ErrAbortHandler)
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(g.content.Close)
	t.Cleanup(g.app.Close)
	g.appURL = strings.Replace(g.app.URL, "127.0.0.1", "localhost", 1)
	s := newServices()
	s.appURL, s.contentURL = g.appURL, g.content.URL
	s.views.ResolveFn = g.open
	host, _ := s.host()
	host.Surface.Log = slog.New(slog.NewJSONHandler(g, nil))
	host.Live, host.Guests, host.Now = g.live, g.guests, time.Now
	pages := host.Handler()
	handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/access-links/resolve" {
			g.resolve(w, r, pages)
			return
		}
		pages.ServeHTTP(w, r)
	})
	return g
}

// reporter is what the content host appends to framed HTML; the frame of a test may call it again.
const reporter = `
const scripts = document.scripts.length > 1
function tell() { parent.postMessage({type: "vitrine:viewer-height", height: document.documentElement.offsetHeight, scripts}, "*") }
addEventListener("load", tell); new ResizeObserver(tell).observe(document.documentElement)`

const report = `<style>.sheet{font:18px/1.6 Georgia,serif;max-width:38rem;margin:0 auto;padding:2rem 1rem;color:#222}h1{line-height:1.2}</style><div class=sheet>
<h1>Quarterly survey of harbour seals</h1><p>Counts at low tide, by observer and bay. The population is stable; two bays gained, one lost.</p>
<table><tr><th align=left>Bay<th>March<th>June<tr><td>North hook<td align=right>118<td align=right>131<tr><td>Sandbank<td align=right>64<td align=right>59</table>
<p>Method: three observers, binoculars, the same hour of the tide. Differences below five animals are noise.</p></div>`

var contents = map[string]string{
	"report.html": report,
	"second.html": `<p>the second artifact</p>`,
	"tall.html":   report + `<div style="height:2500px">tall</div>`,
	"grows.html":  `<style>html{height:calc(100vh + 60px)}</style><p>as tall as its window and a bit</p>`,
	"triple.html": `<style>html{height:300vh}</style><p>three times as tall as its window</p>`,
	"script.html": `<p id=said>silent</p><script>document.getElementById("said").textContent = "the script ran"</script>`,
	"quiet.html":  `<p>says nothing about its height</p>`,
}

// serveContent behaves like the content host towards a viewer frame: the token says whether scripts may run.
func (g *gallery) serveContent(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/healthz" {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	_, token, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	token, name, _ := strings.Cut(token, "/")
	body, ok := contents[name]
	if !ok || r.Header.Get("Referer") != "" || r.Header.Get("Cookie") != "" {
		http.Error(w, "no", http.StatusNotFound)
		return
	}
	hash := sha256.Sum256([]byte(reporter))
	script := "'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'"
	if token == "scripts" {
		script = "'unsafe-inline'"
	}
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src "+script+"; frame-ancestors "+g.appURL)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if g.cut.Load() {
		w.Header().Set("Content-Length", "100000")
		io.WriteString(w, "<!doctype html><p>half</p>")
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	io.WriteString(w, "<!doctype html><meta name=viewport content='width=device-width'><title>x</title>"+body)
	if name != "quiet.html" {
		io.WriteString(w, "<script>"+reporter+"</script>")
	}
}

// shows is a resolver whose artifact has the given file as entrypoint.
func (g *gallery) shows(title, token, name, contentType string, change ...func(*contract.Resolved)) answers {
	at := func(name string) string { return g.content.URL + "/v/" + token + "/" + name }
	now := time.Now()
	r := contract.Resolved{
		Title:      title,
		RenderMode: "html",
		IframeSrc:  at(name),
		AgentView: contract.PublicAgentView{
			Title:              title,
			RevisionID:         newestID,
			Entrypoint:         name,
			RevisionContentURL: at(name),
			CreatedAt:          contract.At(now.Add(-time.Hour)),
			ExpiresAt:          contract.At(now.Add(23*time.Hour + 30*time.Minute)),
			Files: []contract.AgentViewFile{
				viewFile(name, contentType, at(name), 18_412),
				viewFile("data/counts.csv", "text/csv; charset=utf-8", at("data/counts.csv"), 2_340_000),
				viewFile("notes.md", "text/markdown; charset=utf-8", at("notes.md"), 1),
			},
			SafetyWarnings: []contract.SafetyWarning{},
			Bundle:         contract.Bundle{Status: "disabled"},
		},
	}
	for _, f := range change {
		f(&r)
	}
	return func(context.Context, contract.ResolveRequest) (contract.Resolved, error) { return r, nil }
}

func viewFile(path, contentType, url string, size int64) contract.AgentViewFile {
	return contract.AgentViewFile{
		Path:        path,
		SizeBytes:   size,
		ContentType: contentType,
		URL:         url,
	}
}

// readyBundle is an archive of 1.3 MB.
func readyBundle(url string) artifact.Availability {
	return artifact.Availability{Status: artifact.BundleReady, URL: url, Size: 1_310_000}
}

const htmlType = "text/html; charset=utf-8"

func unclaimed(r *contract.Resolved) { r.AgentView.EphemeralTier = true }
