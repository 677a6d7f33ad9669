package content_test

import (
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/testkit/browser"
	"vitrine/shared/platform/fault"
)

func TestAFrameIsLedToThePageThatAWebServerShows(t *testing.T) {
	s := newEnv(t, "index.html", "<p>", "guide/index.html", "<p>", "old/index.htm", "<p>", "about.html", "<p>",
		"a&b/index.html", "<p>", "data/x.csv", "1", "both/index.html", "<p>", "both.html", "<p>")
	files, pages := "/v/"+s.Token()+"/", "/r/"+s.Token()
	for path, want := range map[string]string{
		"guide/":         files + "guide/index.html",
		"guide":          files + "guide/index.html",
		"guide/?q=a%20b": files + "guide/index.html?q=a%20b",
		"old/":           files + "old/index.htm",
		"about":          files + "about.html",
		"about/":         files + "about.html",
		"a&b/":           files + "a&b/index.html",
		"both":           files + "both/index.html",
		"":               files + "index.html",
		"data/":          pages + "/data",
		"data":           pages + "/data",
	} {
		w := s.get(path, frame...)
		if got := w.Header().Get("Location"); w.Code != http.StatusFound || got != want ||
			w.Header().Get("X-Frame-Options") != "" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%q in a frame answers %d, Location %q, want %q", path, w.Code, got, want)
		}
		wantRefused(t, s.get(path), http.StatusNotFound, fault.NotFound)
	}
}

func TestAFrameShowsThatAFileIsMissing(t *testing.T) {
	s := newEnv(t, "index.html", "<p>")
	w := s.get("%3Cb%3Egone", frame...)
	policy := w.Header().Get("Content-Security-Policy")
	if w.Code != http.StatusNotFound || w.Header().Get("X-Frame-Options") != "" ||
		!strings.Contains(policy, "script-src 'sha256-") || !strings.HasSuffix(policy, s.host.Origins.App) ||
		!strings.Contains(w.Body.String(), `&lt;b&gt;gone. <a href="/r/`+s.Token()+`">`) {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
	for _, path := range []string{"guide//", "../", "a/../b/"} {
		wantRefused(t, s.get(path, frame...), http.StatusNotFound, fault.NotFound)
	}
	s.Claims.Link = "0123456789ABCDEF" // which the store does not have
	wantRefused(t, s.get("index", frame...), http.StatusNotFound, fault.NotFound)
}

func TestAFrameShowsThatTooManyPeopleRead(t *testing.T) {
	s := newEnv(t, "index.html", "<p>")
	limitReads(s, 1)
	wantBody(t, s.get("index.html"), "<p>")
	w := s.get("index.html", frame...)
	if w.Code != http.StatusTooManyRequests || w.Header().Get("X-Frame-Options") != "" ||
		w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "Too many people read this at once.") {
		t.Errorf("%d %v %s", w.Code, w.Header(), w.Body)
	}
}

func TestBrowserFollowsALinkToAFolder(t *testing.T) {
	f, p := newFrames(t), browser.Open(t)
	f.Add("start.html", `<a href="guide/?q=1#b">guide</a>`)
	f.Add("guide/index.html", `<p id=b>guided</p><a href="../nothing">nothing</a>`)
	p.Go(f.app.URL + "/?src=" + f.url("start.html"))
	d := p.Frame("start.html")
	browser.Eval[any](d, `document.querySelector("a").click()`)
	d = p.Frame("guide/index.html")
	d.WaitText("guided")
	holds(t, d, `location.search + location.hash === "?q=1#b"`)
	browser.Eval[any](d, `document.querySelector("a").click()`)
	p.Frame("nothing").WaitText("This artifact has no file nothing. See its files.")
}

func TestAPageReadsItsFilesByRequestsWithHeadersOfItsOwn(t *testing.T) {
	_, _, d := runs(t, `<script>
fetch("data.json", {headers: {"X-Requested-With": "XMLHttpRequest"}}).then(r => r.json()).then(v => out = v)</script>`,
		"data.json", `"read"`)
	d.Wait(`window.out === "read"`)
}
