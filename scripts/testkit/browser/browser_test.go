package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/chromedp"

	"vitrine/scripts/testkit/output"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

func TestFindNamesTheInstallCommand(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv(chromiumVariable, "")
	path, err := Find()
	if err == nil {
		t.Fatalf("found %s on an empty PATH", path)
	}
	if !strings.Contains(err.Error(), Install) || strings.ContainsAny(err.Error(), "\n") {
		t.Errorf("not one sentence with %q: %q", Install, err)
	}
	if _, err := Start(); err == nil {
		t.Error("Start succeeded without Chromium")
	}
	t.Setenv(chromiumVariable, "/opt/chromium")
	if path, err := Find(); path != "/opt/chromium" || err != nil {
		t.Errorf("found %q, %v; want the one that is named", path, err)
	}
}

// site serves pages by path; policy is sent with each.
func site(t *testing.T, policy string, pages map[string]string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		if policy != "" {
			w.Header().Set("Content-Security-Policy", policy)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><title>t</title><link rel=icon href='data:,'>"+body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// elsewhere is the same server under a name of another site.
func elsewhere(url string) string { return strings.Replace(url, "127.0.0.1", "localhost", 1) }

func TestPageReportsWhatHappens(t *testing.T) {
	url := site(t, "script-src 'nonce-a'", map[string]string{
		"/clean": `<h1>Glass</h1><p hidden>dark</p><button>b</button>`,
		"/error": `<script nonce=a>console.error("broken", 7); throw new Error("escaped")</script>`,
		"/inert": `<script>document.title = "ran"</script>`,
	})
	p := Open(t)
	p.Go(url + "/clean")
	if got := p.Text("h1"); got != "Glass" {
		t.Errorf("Text = %q", got)
	}
	if !p.Visible("h1") || p.Visible("p") || p.Visible("nav") {
		t.Error("Visible is wrong for a shown, a hidden or a missing element")
	}
	p.Clean()

	p.Go(url + "/error")
	p.until("both messages", func() (bool, error) {
		all := fmt.Sprint(p.Messages())
		return strings.Contains(all, "console error: broken 7") && strings.Contains(all, "escaped"), nil
	})

	p = Open(t)
	p.Go(url + "/inert")
	p.WaitViolation("script-src")
	if got := Eval[string](&p.Document, "document.title"); got != "t" {
		t.Errorf("the blocked script ran: title %q", got)
	}
}

func TestFrameOfAnotherSiteInASandbox(t *testing.T) {
	content := site(t, "script-src 'none'", map[string]string{
		"/inside": `<p>behind glass</p><script>document.body.textContent = "escaped"</script>`,
	})
	app := site(t, "", map[string]string{
		"/": `<iframe sandbox="allow-scripts" src="` + content + `/inside"></iframe><iframe src="` + content +
			`/none"></iframe>`,
	})
	p := Open(t)
	p.Go(elsewhere(app))
	f := p.Frame("/inside")
	f.WaitText("behind glass")
	f.WaitViolation("script-src")
	if got := Eval[string](f, "self.origin"); got != "null" {
		t.Errorf("the frame has origin %q", got)
	}
	p.Frame("/none").WaitText("404")
}

// verdict is a test that may fail.
type verdict struct {
	testing.TB
	said []string
}

func (v *verdict) Errorf(format string, args ...any) {
	v.said = append(v.said, fmt.Sprintf(format, args...))
}

func TestALoadThatTheOriginOfAFrameMayNotMakeFails(t *testing.T) {
	content := site(t, "", map[string]string{"/inside": `<svg><use href="/drawing.svg#a"/></svg><p>drawn</p>`})
	p := Open(t)
	p.Go(elsewhere(site(t, "", map[string]string{
		"/": `<iframe sandbox="allow-scripts" src="` + content + `/inside"></iframe>`,
	})))
	f := p.Frame("/inside")
	f.WaitText("drawn")
	f.WaitViolation("Unsafe attempt to load URL " + content + "/drawing.svg from frame with URL " + content + "/inside.")
	v := &verdict{TB: t}
	f.t = v
	f.Clean()
	if len(v.said) != 1 {
		t.Errorf("%d failures: %q", len(v.said), v.said)
	}
}

func TestOnlyTheFetchOfTheDriverIsNoMessage(t *testing.T) {
	const of, tail = "http://content.test/a.html", ". Domains, protocols and ports must match.\n"
	const said = "Unsafe attempt to load URL " + of + " from frame with URL "
	for name, tt := range map[string]struct {
		source, text string
		kept         int
	}{
		"the document again":   {"security", said + of + tail, 0},
		"another file":         {"security", said + of + "l" + tail, 1},
		"another reason":       {"security", said + of + ". 'file:' URLs are treated as unique security origins.\n", 1},
		"more than that":       {"security", said + of + tail + "Blocked.", 1},
		"another part of it":   {"javascript", said + of + tail, 1},
		"a page that says it":  {"console", said + of + tail, 1},
		"a policy's violation": {"security", "Refused to load " + of, 1},
	} {
		d := &Document{t: t}
		d.collect(&log.EventEntryAdded{Entry: &log.Entry{Source: log.EntrySource(tt.source), Text: tt.text}})
		if got := len(d.Messages()); got != tt.kept {
			t.Errorf("%s: %d messages, want %d", name, got, tt.kept)
		}
	}
}

func TestEmulation(t *testing.T) {
	p := Open(t)
	p.Go(site(t, "", map[string]string{"/": "<noscript>plain</noscript>"}))
	p.Viewport(320, 640)
	p.Scheme("dark")
	p.Media("prefers-reduced-motion", "reduce")
	p.Wait(`innerWidth === 320 && matchMedia("(prefers-color-scheme: dark) and (prefers-reduced-motion: reduce)").matches`)
	p.Before(`window.early = true`)
	p.Reload()
	if !Eval[bool](&p.Document, "window.early") {
		t.Error("Before did not run")
	}

	p.NoScripts()
	p.Reload()
	p.WaitText("plain")
}

func TestATextIsWaitedForUntilItsDocumentIsWhole(t *testing.T) {
	const early = `<!doctype html><link rel=icon href="data:,"><p>early</p><script>
		const { get } = Object.getOwnPropertyDescriptor(Document.prototype, "readyState");
		let asked;
		Object.defineProperty(document, "readyState", { get() {
			asked ??= fetch("/rest"); // whoever asks waits for the rest
			return get.call(document);
		} });
	</script>`
	rest := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/rest" {
			close(rest)
			return
		}
		fmt.Fprint(w, early)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-rest:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, "<input value=late>")
	}))
	t.Cleanup(server.Close)
	p := Open(t)
	Eval[bool](&p.Document, fmt.Sprintf("!!(location = %q)", server.URL))
	p.Wait(`document.querySelector("p")?.innerText === "early"`)
	p.WaitText("early")
	if got := Eval[string](&p.Document, `document.querySelector("input")?.value ?? ""`); got != "late" {
		t.Errorf("the field of a page whose text was waited for holds %q", got)
	}
}

func TestPicturesAreSavedWhereAFolderForThemIsNamed(t *testing.T) {
	dir := t.TempDir()
	p := Open(t)
	t.Setenv(output.BuildVariable, "")
	if path := p.Screenshot("none"); path != "" {
		t.Errorf("saved %s, though no folder is named", path)
	}
	t.Setenv(output.BuildVariable, dir)
	path := p.Screenshot("one")
	if want := filepath.Join(dir, "screenshots", "one.png"); path != want {
		t.Errorf("saved %s, want %s", path, want)
	}
	if b, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(b), "\x89PNG") {
		t.Errorf("no PNG at %s: %v", path, err)
	}
}

func TestAxeFindsWhatIsWrongUnderAPolicy(t *testing.T) {
	url := site(t, "default-src 'none'", map[string]string{
		"/good": `<html lang=en><main><h1>Glass</h1><label>Name <input></label></main>`,
		"/bad":  `<html lang=en><main><h1>Glass</h1><input><img src="data:,"></main>`,
	})
	p := Open(t)
	p.Go(url + "/good")
	if found := p.Axe(); len(found) > 0 {
		t.Errorf("a good page breaks %v", found)
	}
	p.Go(url + "/bad")
	if all := fmt.Sprint(p.Axe(), p.Axe()); strings.Count(all, "label (critical)") != 2 ||
		!strings.Contains(all, "image-alt (critical)") {
		t.Errorf("found %s", all)
	}
}

func TestRequestsOfATabGoThroughItsProxy(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it needs a browser")
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "<!doctype html><link rel=icon href='data:,'><p>%s", r.RequestURI)
	}))
	defer proxy.Close()
	b, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	tab, closeTab, err := b.Tab(t.Context(), proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer closeTab()
	for _, url := range []string{"http://localhost:8001/a", "http://127.0.0.1:8001/b", "http://example.org/c"} {
		if err := chromedp.Do(tab, chromedp.Navigate(url)); err != nil {
			t.Fatal(err)
		}
		got, err := chromedp.Run(tab, chromedp.Evaluate[string]("document.body.innerText"))
		if got != url || err != nil {
			t.Errorf("the proxy was asked for %q (%v), want %q", got, err, url)
		}
	}
}
