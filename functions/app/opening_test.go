package app

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"vitrine/functions/app/pages"
	"vitrine/scripts/testkit/browser"
	"vitrine/shared/platform/pack"
)

func TestNothingComesBetweenAPageAndItsFrame(t *testing.T) {
	g, server := open(t), startServer(t)
	visitor, member := browser.Open(t), browser.Open(t)
	server.enter(member)
	const order = `performance.getEntriesByType("resource").toSorted((a, b) => a.startTime - b.startTime)
		.map(e => e.name.split("/").at(-1))`
	for _, s := range []struct {
		name, url string
		before    []string // the frame has loaded
		by        *browser.Page
	}{
		{"a link", g.link(blob, g.shows("Seals", "plain", "report.html", htmlType)),
			[]string{"exhibit.js", "resolve", "viewer.js", "vitrine.css"}, visitor},
		{"a member's page", server.appURL + "/v/" + artifactID,
			[]string{"exhibit.js", "private.js", "threads.css", "vitrine.css"}, member},
	} {
		s.by.Go(s.url)
		s.by.Wait(order + `.includes("panel.js")`)
		got := browser.Eval[[]string](&s.by.Document, order)
		late := slices.IndexFunc(got, func(name string) bool { return name == "live.js" || name == "panel.js" })
		before := slices.DeleteFunc(slices.Clone(got[:late]), func(name string) bool {
			return name == "report.html" || name == "healthz" || name == "icon.svg" // browsers ask for the icon when they like
		})
		slices.Sort(before)
		if !slices.Equal(before, s.before) || !slices.Contains(got[:late], "report.html") {
			t.Errorf("%s asks for %v", s.name, got)
		}
		s.by.Clean()
	}
	if n := g.count(blob); n != 1 {
		t.Errorf("the link was resolved %d times", n)
	}
}

var (
	announced = regexp.MustCompile(`<link rel="modulepreload" href="([^"]+)">`)
	started   = regexp.MustCompile(`<script type="module" src="([^"]+)">`)
	imported  = regexp.MustCompile(`(?m)^import [^;]* from "\./([^"]+)";`)
)

// paths returns what an expression finds in a page.
func paths(expression *regexp.Regexp, page string) (found []string) {
	for _, m := range expression.FindAllStringSubmatch(page, -1) {
		found = append(found, m[1])
	}
	return found
}

func TestViewersAnnounceWhatTheyImport(t *testing.T) {
	h, _ := host(nil)
	member := newServices().handler()
	for name, page := range map[string]string{
		"a link":          text(t, send(h.Handler(), "GET", "/al/"+publicID, "")),
		"a member's page": text(t, signedIn(member, "GET", "/v/"+artifactID, nil)),
	} {
		scripts := paths(started, page)
		needs := slices.Clone(scripts)
		for i := 0; i < len(needs); i++ {
			for _, file := range paths(imported, text(t, send(h.Handler(), "GET", needs[i], ""))) {
				if path := asset0(file); !slices.Contains(needs, path) {
					needs = append(needs, path)
				}
			}
		}
		if got := paths(announced, page); len(scripts) != 1 || !slices.Equal(got, needs[1:]) {
			t.Errorf("%s announces %v, want %v", name, got, needs[1:])
		}
		if at := strings.Index(page, "<script"); at < 0 || at > strings.Index(page, "<link") {
			t.Errorf("%s begins with %.300s", name, page)
		}
		for _, c := range pack.Codings {
			size := len(pack.Tightly(c, []byte(page)))
			for _, path := range append(needs, asset0("vitrine.css")) {
				size += len(text(t, send(h.Handler(), "GET", path, "", "Accept-Encoding", string(c))))
			}
			if size > 20_000 {
				t.Errorf("%s with its style and scripts takes %d bytes of %s", name, size, c)
			}
		}
	}
	for _, script := range []pages.Inline{pages.Opening, pages.Early} {
		if len(script) > 1<<10 {
			t.Errorf("a script in a page has %d bytes", len(script))
		}
	}
}

func TestBrowsersKeepThePageOfALink(t *testing.T) {
	h, _ := host(nil)
	handler := h.Handler()
	first := send(handler, "GET", "/al/"+publicID, "")
	tag := first.Header.Get("ETag")
	wantHeaders(t, "the page", first, "Cache-Control", "no-cache", "Vary", "Accept-Encoding")
	zstd := strings.TrimSuffix(tag, `"`) + `-zstd"`
	for _, known := range []string{tag, zstd, `"other", W/` + tag} {
		r := send(handler, "GET", "/al/"+publicID, "", "If-None-Match", known, "Accept-Encoding", "zstd")
		if body := text(t, r); r.StatusCode != 304 || body != "" {
			t.Errorf("%s: %d with %d bytes", known, r.StatusCode, len(body))
		}
		wantHeaders(t, known, r, "Cache-Control", "no-cache", "Vary", "Accept-Encoding", "Referrer-Policy", "no-referrer",
			policyHeader, first.Header.Get(policyHeader))
	}
	h.Origins.Content = "https://elsewhere.example"
	if r := send(h.Handler(), "GET", "/al/"+publicID, "", "If-None-Match", tag); r.StatusCode != 200 {
		t.Errorf("a page with another policy: %d", r.StatusCode)
	}
}

func TestAPageThatWasCutIsSaid(t *testing.T) {
	g, p := open(t), browser.Open(t)
	g.cut.Store(true)
	// What the reader waits for longest comes soon.
	p.Before(`{ const real = setTimeout; setTimeout = (f, ms, ...more) => real(f, ms > 30_000 ? 300 : ms, ...more) }`)
	p.Go(g.link(blob, g.shows("Seals", "plain", "report.html", htmlType)))
	p.WaitText("This page has not arrived completely.")
	g.cut.Store(false)
	p.Click(`[data-part="reload"]`)
	p.Frame("report.html").WaitText("harbour seals")
	p.Wait(`document.querySelector('[data-part="cut"]').hidden`)
}
