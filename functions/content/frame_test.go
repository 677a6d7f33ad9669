package content_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

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
			`<!doctype html><script>heights = []; addEventListener("message", e => heights.push([e.origin, e.data.type, e.data.height]))</script>
<iframe sandbox="allow-scripts" src=%q></iframe>`, r.URL.Query().Get("src"))
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
