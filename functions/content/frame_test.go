package content_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/browser"
)

const tall = `<!doctype html><style>body{margin:0}div{height:3000px}</style><div></div>
<p id=out>still</p><script>out.textContent = "moving"</script><img src=pixel.svg>`

// frames is a content host beside two sites that may frame it: the app and another one.
type frames struct {
	*env
	app, other *httptest.Server
}

func newFrames(t *testing.T) *frames {
	f := &frames{env: newEnv(t)}
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f.Handler.ServeHTTP(w, r) }))
	t.Cleanup(own.Close)
	page := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w,
			`<!doctype html><script>heights = []; addEventListener("message", e => e.data.height && heights.push([e.origin, e.data.type, e.data.height]))</script>
<iframe sandbox="allow-scripts allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox" src=%q></iframe>`, r.URL.Query().Get("src"))
	})
	f.app, f.other = httptest.NewServer(page), httptest.NewServer(page)
	t.Cleanup(f.app.Close)
	t.Cleanup(f.other.Close)
	f.serve(strings.Replace(own.URL, "127.0.0.1", "localhost", 1), f.app.URL) // another site than the app's
	f.Add("tall.html", tall)
	f.Add("pixel.svg", `<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>`)
	return f
}

func (f *frames) url(path string) string {
	return f.host.Origins.Content + "/v/" + f.Token() + "/" + path
}

// waitHeight waits for the first height and returns it.
func waitHeight(p *browser.Page) (origin, kind string, height float64) {
	p.Wait("heights.length > 0")
	first := browser.Eval[[]any](&p.Document, "heights[0]")
	return first[0].(string), first[1].(string), first[2].(float64)
}

func TestBrowserRunsTheReporterAloneWhereScriptsAreOff(t *testing.T) {
	f, p := newFrames(t), browser.Open(t)
	f.Claims.Scripts = false
	p.Go(f.app.URL + "/?src=" + f.url("tall.html"))
	if origin, kind, height := waitHeight(p); origin != "null" || kind != "vitrine:viewer-height" || height < 3000 ||
		height > 3200 {
		t.Errorf("told %s %s %v", origin, kind, height)
	}
	d := p.Frame("tall.html")
	d.WaitText("still")
	d.WaitViolation("script-src")
	d.Wait(`document.querySelector("img").naturalWidth === 1`) // the text comes before the picture
}

func TestBrowserRunsScriptsInTheViewerFrame(t *testing.T) {
	f, p := newFrames(t), browser.Open(t)
	p.Go(f.app.URL + "/?src=" + f.url("tall.html"))
	d := p.Frame("tall.html")
	d.WaitText("moving")
	waitHeight(p)
	d.Clean()
	browser.Eval[string](d, `document.querySelector("div").style.height = "5000px"`)
	p.Wait("heights.at(-1)[2] > 5000")
	browser.Eval[string](d, `document.querySelector("div").style.height = "10px"`)
	p.Wait("heights.at(-1)[2] < 1000")
}

func TestBrowserRunsNoScriptOfAPageThatIsOpenedOnItsOwn(t *testing.T) {
	f, p := newFrames(t), browser.Open(t)
	p.Go(f.url("tall.html"))
	p.WaitText("still")
	p.WaitViolation("script-src")
	if got := browser.Eval[int](&p.Document, "document.scripts.length"); got != 1 {
		t.Errorf("%d scripts in the page, want its own", got)
	}
}

func TestBrowserFramesContentForTheAppOnly(t *testing.T) {
	f, p := newFrames(t), browser.Open(t)
	p.Go(f.other.URL + "/?src=" + f.url("tall.html"))
	p.WaitViolation("frame-ancestors")
	if n := browser.Eval[int](&p.Document, "heights.length"); n != 0 {
		t.Errorf("%d messages from a refused frame", n)
	}
}

func TestBrowserReadsDataFromTheSandbox(t *testing.T) {
	f, p := newFrames(t), browser.Open(t)
	f.Add("data.json", `{"answer":42}`)
	f.Add("module.js", `document.title = "loaded"; export default 1`)
	f.Add("app.html", `<!doctype html><p id=out></p><script type=module src=module.js></script>
<script>fetch("data.json").then(r => r.json()).then(d => out.textContent = "answer " + d.answer)</script>`)
	p.Go(f.app.URL + "/?src=" + f.url("app.html"))
	d := p.Frame("app.html")
	d.WaitText("answer 42")
	d.Wait(`document.title === "loaded"`)
	d.Clean()
}

func TestBrowserDoesNotMixTheTwoFormsOfAPage(t *testing.T) {
	f, p := newFrames(t), browser.Open(t)
	p.Go(f.url("tall.html"))
	p.WaitText("still")
	p.Go(f.app.URL + "/?src=" + f.url("tall.html"))
	p.Frame("tall.html").WaitText("moving")
	p.Go(f.url("tall.html"))
	p.WaitText("still")
	resp, err := http.Get(f.url("tall.html"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); string(body) != tall {
		t.Errorf("a direct read got %q", body)
	}
}

const (
	inert      = "script-src 'none'"
	everything = "script-src 'self' http://content.test 'unsafe-inline' 'unsafe-eval' blob: data: " + scriptHosts
	// scriptHosts are the hosts for scripts, and the first of those for styles.
	scriptHosts = "https://cdn.jsdelivr.net https://unpkg.com https://cdnjs.cloudflare.com https://esm.sh " +
		"https://cdn.tailwindcss.com https://code.jquery.com https://cdn.plot.ly https://d3js.org https://cdn.bokeh.org " +
		"https://cdn.datatables.net https://code.highcharts.com https://ajax.googleapis.com " + bootstrapHosts
	packageHosts   = "https://cdn.jsdelivr.net https://unpkg.com https://cdnjs.cloudflare.com"
	bootstrapHosts = "https://stackpath.bootstrapcdn.com https://maxcdn.bootstrapcdn.com https://netdna.bootstrapcdn.com"
	unframed       = "frame-ancestors 'none'"
	byTheApp       = "frame-ancestors http://app.test"
)

// rest is what files load whose scripts do not run, by the contract, and still the same in a frame.
const rest = "style-src 'self' 'unsafe-inline' https://cdn.jsdelivr.net https://unpkg.com " +
	"https://cdnjs.cloudflare.com https://fonts.googleapis.com; font-src 'self' data: https://fonts.gstatic.com; " +
	"img-src 'self' data: blob:; connect-src 'self'; media-src 'self' blob:; " +
	"frame-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'; "

var still = named(rest) + byTheApp

// directives splits a policy by name.
func directives(policy string) map[string]string {
	found := map[string]string{}
	for d := range strings.SplitSeq(policy, "; ") {
		name, _, _ := strings.Cut(d, " ")
		found[name] = d
	}
	return found
}

func TestPolicyOfEveryContext(t *testing.T) {
	s := newEnv(t, "a.html", "<p>", "a.svg", "<svg/>", "a.js", "1", "a.txt", "x", "a.pdf", "x", "a.bin", "x", "A.HTM",
		"<p>")
	const reporterOnly = "script-src 'sha256-"
	for _, tt := range []struct {
		name               string
		headers            []string
		allowed, unclaimed bool
		path               string
		scripts, ancestors string
	}{
		{"direct", nil, true, false, "a.html", inert, unframed},
		{"top-level navigation", []string{"Sec-Fetch-Dest", "document", "Sec-Fetch-Mode", "navigate"}, true, false,
			"a.html", inert, unframed},
		{"viewer frame", frame, true, false, "a.html", everything, byTheApp},
		{"viewer frame, upper case", frame, true, false, "A.HTM", everything, byTheApp},
		{"frame without mode", []string{"Sec-Fetch-Dest", "frame"}, true, false, "a.html", everything, byTheApp},
		{"frame by fetch", []string{"Sec-Fetch-Dest", "iframe", "Sec-Fetch-Mode", "cors"}, true, false, "a.html", inert,
			unframed},
		{"embed", []string{"Sec-Fetch-Dest", "embed", "Sec-Fetch-Mode", "navigate"}, true, false, "a.html", inert, unframed},
		{"script", []string{"Sec-Fetch-Dest", "script", "Sec-Fetch-Mode", "no-cors"}, true, false, "a.js", inert, unframed},
		{"token without scripts", frame, false, false, "a.html", reporterOnly, byTheApp},
		{"unclaimed, of a reader who wants scripts", frame, true, true, "a.html", everything, byTheApp},
		{"T58: unclaimed, direct", nil, true, true, "a.html", inert, unframed},
		{"text in a frame", frame, false, false, "a.txt", inert, byTheApp},
		{"attachment in a frame", frame, true, false, "a.pdf", inert, unframed},
		{"unknown type in a frame", frame, true, false, "a.bin", inert, unframed},
		{"image", nil, true, false, "a.svg", "", unframed},
		{"image in a frame", frame, true, false, "a.svg", "", byTheApp},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.Claims.Scripts = tt.allowed
			s.State.Workspace.ClaimedAt = s.Now
			if tt.unclaimed {
				s.State.Workspace.ClaimedAt = time.Time{}
			}
			w := s.get(tt.path, tt.headers...)
			got := directives(w.Header().Get("Content-Security-Policy"))
			if !strings.HasPrefix(got["script-src"], tt.scripts) || tt.scripts == everything && got["script-src"] != everything {
				t.Errorf("%q, want %q", got["script-src"], tt.scripts)
			}
			if got["frame-ancestors"] != tt.ancestors ||
				(w.Header().Get("X-Frame-Options") == "DENY") != (tt.ancestors == unframed) {
				t.Errorf("%q, X-Frame-Options %q, want %q", got["frame-ancestors"], w.Header().Get("X-Frame-Options"), tt.ancestors)
			}
			if got["default-src"] != "default-src 'none'" || got["form-action"] != "form-action 'none'" ||
				got["base-uri"] != "base-uri 'none'" {
				t.Errorf("%v", got)
			}
		})
	}
}

// named returns a policy with the content origin beside 'self', which WebKit does not know in a sandbox.
func named(policy string) string {
	return strings.ReplaceAll(policy, "'self'", "'self' http://content.test")
}

func TestPoliciesAreThoseOfTheContract(t *testing.T) {
	s := newEnv(t, "a.html", "<p>", "a.svg", "<svg/>")
	const svg = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
	running := "worker-src blob: data:; style-src 'self' 'unsafe-inline' " + scriptHosts +
		" https://fonts.googleapis.com https://use.fontawesome.com; font-src 'self' data: blob: https://fonts.gstatic.com " +
		"https://use.fontawesome.com " + packageHosts + " " + bootstrapHosts + "; img-src 'self' data: blob: " + packageHosts +
		" https://tile.openstreetmap.org https://*.tile.openstreetmap.org https://*.basemaps.cartocdn.com; " +
		"connect-src 'self' data: blob: " + packageHosts + " https://esm.sh; media-src 'self' data: blob:; " +
		"frame-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'; "
	for _, tt := range []struct {
		path    string
		headers []string
		want    string
	}{
		{"a.html", nil, "default-src 'none'; " + inert + "; " + rest + unframed},
		{"a.html", frame, "default-src 'none'; " + everything + "; " + named(running) + byTheApp},
		{"a.svg", nil, svg + unframed},
		{"a.svg", frame, svg + byTheApp},
	} {
		if got := s.get(tt.path, tt.headers...).Header().Get("Content-Security-Policy"); got != tt.want {
			t.Errorf("%s %v: %s\nwant %s", tt.path, tt.headers, got, tt.want)
		}
	}
}

func TestTheScriptOfFramesFollowsAFileThatRunsNone(t *testing.T) {
	const page = "<!doctype html><p>exact\r\n\xff bytes"
	s := newEnv(t, "a.html", page, "a.svg", "<svg/>", "a.txt", "x")
	s.Claims.Scripts = false
	w := s.get("a.html", frame...)
	tail, ok := strings.CutPrefix(w.Body.String(), page)
	script, ok2 := strings.CutPrefix(tail, "\n<script>")
	script, ok3 := strings.CutSuffix(script, "</script>\n")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("%q", w.Body)
	}
	digest := sha256.Sum256([]byte(script))
	want := "default-src 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) + "'; " + still
	if got := w.Header().Get("Content-Security-Policy"); got != want {
		t.Errorf("%s\nwant the script of frames and the contract's hosts alone: %s", got, want)
	}
	wantBody(t, s.get("a.html"), page) // a direct read is exact
	wantBody(t, s.get("a.svg", frame...), "<svg/>")
	wantBody(t, s.get("a.txt", frame...), "x")
}

func TestHandlerWantsAbsoluteOrigins(t *testing.T) {
	for _, app := range []string{"", "app.test", "ftp://app.test", "http://"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("served with the app at %q", app)
				}
			}()
			newEnv(t).serve("http://content.test", app)
		}()
	}
}
