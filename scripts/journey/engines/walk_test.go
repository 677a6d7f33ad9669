package engines

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/media"
)

// TestReadersSeeWhatALinkShows is the short walk: a site, a page with a diagram and a formula, and a document.
func TestReadersSeeWhatALinkShows(t *testing.T) {
	inBoth(t, func(t *testing.T, d *harness.LinkEnv, s *session) {
		s.Go(share(t, d, "Tide tables", site(t)...))
		s.WaitInFrame(loaded + `.length === 7`)
		if got := value[[]string](s, "blocked"); len(got) > 0 {
			t.Errorf("the policy blocks %q", got)
		}
		s.Wait(`document.querySelector("h1").innerText === "Tide tables"`)
		s.Screenshot("engine-site")

		flow := []wire.File{
			{Path: "flow.md", Body: []byte("# Flow\n\n$$\\frac{a}{b}$$\n\n![c](chart.svg)\n\n" +
				"```mermaid\nflowchart LR\n  A[Ebb] --> B[Flood]\n```\n")},
			{Path: "chart.svg", Body: read(t, "testdata/site", "img/chart.svg").Body},
		}
		s.Go(share(t, d, "Flow", flow...))
		s.WaitInFrame(drawn + ` && document.querySelector("mfrac").getBoundingClientRect().height > 20`)
		s.Screenshot("engine-flow")
		s.Go(share(t, d, "Report", read(t, specimens, "report.pdf")))
		s.WaitInFrame(pages)
		s.Screenshot("engine-document")

		// Alone, these pages have an opaque origin too.
		s.Go(alone(t, d, flow...))
		s.Wait(drawn)
		s.Go(alone(t, d, read(t, specimens, "report.pdf")))
		s.Wait(pages)
	})
}

func TestReadersSeeASiteInChromium(t *testing.T) {
	d, p := harness.NewLinkEnv(t), browser.Open(t)
	p.Go(share(t, d, "Tide tables", site(t)...))
	f := p.Frame(d.Origins.Content)
	f.Wait(loaded + `.length === 7`)
	f.Clean()
	p.Clean()
}

// What the page of a file with a diagram and a picture shows, and that of a document.
const (
	drawn = `document.querySelector("figure > img")?.naturalWidth > 100 &&
		document.querySelector("img[src$='chart.svg']").naturalWidth === 200`
	pages = `document.querySelector("main").dataset.drawn === "yes" &&
		document.querySelector(".v-text").textContent.includes("Seals of the bay")`
)

// alone publishes files and returns the URL of the page of the first.
func alone(t testing.TB, d *harness.LinkEnv, files ...wire.File) string {
	t.Helper()
	made := harness.Must(d.Agent.PublishFiles(ctx, "Alone", "", files...))(t)
	return harness.Must(d.Agent.AgentView(ctx, made.ArtifactID))(t).RenderedURL
}

// TestWebKitLoadsNothingByPoliciesThatNameNoOrigin shows that the walk would see it.
func TestWebKitLoadsNothingByPoliciesThatNameNoOrigin(t *testing.T) {
	s := newWebKit(t)
	s.Go(framed(t, "'self'"))
	s.WaitInFrame(`document.readyState === "complete" && blocked.length > 5`)
	if got := value[[]string](s, loaded); len(got) > 0 {
		t.Errorf("%q load, so that the policies need no origin any more", got)
	}
	s.Go(framed(t, "'self' ORIGIN"))
	s.WaitInFrame(loaded + `.length === 7`)
}

// framed serves a page that frames the site in the viewers' sandbox, under a policy with these sources.
func framed(t *testing.T, sources string) string {
	t.Helper()
	files := map[string][]byte{}
	for _, f := range site(t) {
		files["/"+f.Path] = f.Body
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<!doctype html><iframe sandbox="allow-scripts" src="/index.html"></iframe>`)
			return
		}
		own := strings.ReplaceAll(sources, "ORIGIN", "http://"+r.Host)
		w.Header().Set("Content-Security-Policy", "default-src "+own+"; script-src 'unsafe-inline' "+own)
		w.Header().Set("Access-Control-Allow-Origin", "null")
		w.Header().Set("Content-Type", media.Of(r.URL.Path).ContentType)
		_, _ = w.Write(files[r.URL.Path])
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// works is a page that stores, sends a form, follows links, asks and changes its address.
const works = `<!doctype html><html><head><title>Works</title></head><body>
<a id="out" href="https://outside.test/">out</a> <a id="down" href="#sea">down</a>
<form id="sent" method="post" action="https://outside.test/"><button>send</button></form>
<form id="search" action="search.html"><input name="q" value="ebb"></form>
<p style="height:3000px"></p><h2 id="sea">Sea</h2><p style="height:3000px"></p>
<script>
localStorage.mark = "kept"
document.cookie = "mark=kept"
sent.onsubmit = () => window.handled = true
setTimeout(() => window.agreed = confirm("Sure?"))
</script>`

func TestPagesWorkAsInATabOfTheirOwn(t *testing.T) {
	inBoth(t, func(t *testing.T, d *harness.LinkEnv, s *session) {
		found := `<!doctype html><html><head><title>Found</title></head><body>
<h1 id="hit"></h1><script>hit.innerText = location.search</script>`
		link := share(t, d, "Works", wire.File{Path: "index.html", Body: []byte(works)},
			wire.File{Path: "search.html", Body: []byte(found)})
		s.Go(link)
		s.WaitInFrame(`localStorage.getItem("mark") === "kept" && document.cookie === "mark=kept"`)
		s.WaitInFrame(`window.agreed === true`)
		s.WaitInFrame(`(sent.requestSubmit(), window.handled)`)
		s.WaitInFrame(`!out.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }))`)
		s.WaitInFrame(`(down.click(), location.hash === "#sea")`)
		s.Wait(`scrollY > 2500 && location.search === "?at=index.html%23sea"`)
		s.WaitInFrame(`(history.pushState({ n: 1 }, "", "search.html?pushed"), history.state.n === 1)`)
		if s.name == "webkit" { // the frame may not change its path there
			s.WaitInFrame(`location.pathname.endsWith("/index.html")`)
		} else {
			s.Wait(`location.search === "?at=search.html%3Fpushed" && document.title.startsWith("Works")`)
		}
		s.WaitInFrame(`(search.requestSubmit(), true)`)
		s.WaitInFrame(`document.getElementById("hit").innerText === "?q=ebb"`)
		s.Wait(`location.search === "?at=search.html%3Fq%3Debb" && document.title.startsWith("Found · Works")`)

		at, secret, _ := strings.Cut(link, "#")
		s.Go("about:blank")
		s.Go(at + "?at=index.html%23sea#" + secret)
		s.WaitInFrame(`location.hash === "#sea"`)
		s.Wait(`scrollY > 2500`)
		s.Screenshot("engine-works")
	})
}
