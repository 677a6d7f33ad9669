package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"vitrine/functions/app/pages"
	"vitrine/functions/wire"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
)

// openPanel opens the panel of a viewer with everything that folds.
const openPanel = `(document.querySelectorAll(".drawer:not([data-part=feedback]), .fold").forEach(d => d.open = true), true)`

func packed(b artifact.Availability) func(*contract.Resolved) {
	return func(r *contract.Resolved) { r.AgentView.Bundle = wire.Bundle(b) }
}

// TestPanelsLook looks at the panel of each viewer, with everything that folds.
func TestPanelsLook(t *testing.T) {
	g, server := open(t), startServer(t)
	visitor, member := browser.Open(t), browser.Open(t)
	server.views.bundle = readyBundle(server.contentURL + "/b/token")
	pending := packed(artifact.Availability{Status: "pending", RetryAfter: 600 * time.Second})
	server.enter(member)
	for _, s := range []struct {
		name, url, until string
		by               *browser.Page
	}{
		{
			"panel-link",
			g.link(blob, g.shows("Seals of the bay", "plain", "report.html", htmlType, pending)),
			`document.querySelector(".drawn img")?.complete`,
			visitor,
		},
		{"panel-private", server.appURL + "/v/" + artifactID + "?revision=" + oldID, "true", member},
	} {
		p := s.by
		p.Media("prefers-reduced-motion", "reduce")
		for _, width := range widths {
			p.Viewport(width, 800)
			p.Go("about:blank")
			p.Go(s.url)
			p.Wait(`document.querySelector("iframe")`)
			browser.Eval[bool](&p.Document, openPanel)
			p.Wait(s.until)
			browser.Eval[bool](&p.Document, `(document.querySelector(".fold").scrollIntoView(), true)`)
			lookAtPanel(t, p, fmt.Sprintf("%s-%d", s.name, width), width)
		}
	}
}

// lookAtPanel takes pictures of what the viewport shows in both themes and measures it.
func lookAtPanel(t *testing.T, p *browser.Page, name string, width int64) {
	t.Helper()
	const low = `[...document.querySelectorAll(".sheet a, .sheet button, .sheet summary")].filter(e => e.checkVisibility())
		.map(e => [e.innerText, e.getBoundingClientRect()]).filter(([, r]) => r.height < 44).map(([t, r]) => t + ": " + r.height)`
	for _, bad := range browser.Eval[[]string](&p.Document, low) {
		t.Errorf("%s: too low for a finger: %s", name, bad)
	}
	if wide := browser.Eval[int](&p.Document, `Math.max(document.documentElement.scrollWidth, document.querySelector(".drawer[open] .sheet").getBoundingClientRect().right)`); int64(wide) > width {
		t.Errorf("%s is %d px wide", name, wide)
	}
	if over := browser.Eval[int](&p.Document, `(s => s.scrollWidth - s.clientWidth)(document.querySelector(".drawer[open] .sheet"))`); over > 0 {
		t.Errorf("%s: the sheet scrolls sideways by %d px", name, over)
	}
	lookInThemes(t, p, name, width)
}

func TestThePanelWorksByKeyboard(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Go(g.link(blob, g.shows("Keys", "plain", "report.html", htmlType, packed(readyBundle(g.content.URL+"/b/token")))))
	waitView(p, "artifact")
	p.Press(kb.Tab)
	p.Press(kb.Tab)
	p.Press(kb.Enter)
	p.Wait(`document.querySelector(".drawer").open`)
	waitDetails(p)
	var got []string
	for range 8 {
		p.Press(kb.Tab)
		got = append(got, browser.Eval[string](&p.Document, `document.activeElement.innerText.split("\n")[0].trim()`))
	}
	want := []string{
		"report.html", "data/counts.csv", "notes.md", "Download everything", "Copy link",
		"QR code and link", "Give this to an agent", "Report abuse",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("Tab goes to %q, want %q", got, want)
	}
	p.Press(kb.Escape)
	p.Wait(`!document.querySelector(".drawer").open && document.activeElement.matches(".drawer > summary")`)

	p.Press(kb.Enter)
	for range 6 {
		p.Press(kb.Tab)
	}
	p.Press(kb.Enter) // on the summary of the code
	p.Wait(`document.querySelector(".drawn img")?.naturalWidth > 0`)
	if alt := browser.Eval[string](&p.Document, `document.querySelector(".drawn img").alt`); alt != "QR code of the link" {
		t.Errorf("the picture is called %q", alt)
	}
	p.Press(kb.Escape)
	p.Wait(`!document.querySelector(".drawer").open && document.activeElement.matches(".drawer > summary")`)
	p.Clean()
}

func TestALongListOfFilesIsSearched(t *testing.T) {
	g, p := open(t), browser.Open(t)
	link := func(files int) string {
		return g.link(fmt.Sprint("files", files), g.shows("Shots", "plain", "report.html", htmlType, func(r *contract.Resolved) {
			for n := len(r.AgentView.Files); n < files; n++ {
				name := fmt.Sprintf("Shots/%d.png", n)
				r.AgentView.Files = append(r.AgentView.Files, viewFile(name, "image/png", g.content.URL+"/v/plain/"+name, 1))
			}
		}))
	}
	const shown = `[...document.querySelectorAll(".files li")].filter((row) => row.checkVisibility()).length`
	p.Viewport(320, 800)
	p.Media("prefers-reduced-motion", "reduce")
	p.Go(link(20))
	p.Wait(`document.querySelector("iframe")`)
	browser.Eval[bool](&p.Document, openPanel)
	waitDetails(p)
	if n := browser.Eval[int](&p.Document, shown); n != 20 || p.Visible("#find") {
		t.Errorf("of 20 files %d are shown, or they can be searched", n)
	}
	p.Go("about:blank")
	p.Go(link(21))
	waitView(p, "artifact")
	waitDetails(p)
	for _, key := range []string{kb.Tab, kb.Tab, kb.Enter, kb.Tab} {
		p.Press(key)
	}
	p.Wait(`document.activeElement.id === "find"`)
	for _, key := range "SHOTS/1" {
		p.Press(string(key))
	}
	p.Wait(shown + ` === 10 && document.querySelector('[data-field="found"]').innerText === "10 of 21"`)
	lookAtPanel(t, p, "panel-search-320", 320)
	for range "SHOTS/1" {
		p.Press(kb.Backspace)
	}
	p.Wait(shown + ` === 21 && document.querySelector('[data-field="found"]').innerText === ""`)
	p.Clean()
}

func TestThePanelCopies(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Before(`window.copied = []; navigator.clipboard.writeText = async text => { if (window.refuses) throw new Error("no"); copied.push(text) }`)
	link := g.link(blob, g.shows("Copies", "plain", "report.html", htmlType))
	p.Go(link)
	waitView(p, "artifact")
	browser.Eval[bool](&p.Document, openPanel)
	for _, button := range []string{"address", "for-agents"} {
		p.Click(`[data-copies="` + button + `"]`)
		p.Wait(`document.querySelector('[data-copies="` + button + `"] ~ [role=status]').textContent === "Copied."`)
	}
	copied := browser.Eval[[]string](&p.Document, "copied")
	if len(copied) != 2 || copied[0] != link {
		t.Fatalf("copied %q", copied)
	}
	expect.Has(t, "the text for agents", copied[1],
		"http://localhost:8701/v1/access-links/resolve", `{"public_id": "`+publicID+`", "blob": "`+blob+`"}`, "vitrine show '"+link+"'")
	browser.Eval[bool](&p.Document, `(window.refuses = true, document.querySelectorAll(".fold").forEach(d => d.open = false), true)`)
	p.Click(`[data-copies="address"]`)
	p.WaitText("select the text below")
	p.Wait(`document.getElementById("address").checkVisibility()`)
	p.Do(chromedp.Evaluate[chromedp.Void](`location.hash = "none"`))
	p.WaitText("This link opens nothing")
	if p.Visible(".drawer") {
		t.Error("the panel of the former link is still there")
	}
}

func TestThePanelAsksForTheArchiveWhileItIsOpen(t *testing.T) {
	g, p := open(t), browser.Open(t)
	pending := g.shows("Packing", "plain", "report.html", htmlType,
		packed(artifact.Availability{Status: "pending", RetryAfter: 1 * time.Second}))
	ready := g.shows("Packing", "plain", "report.html", htmlType, packed(readyBundle(g.content.URL+"/b/token")))
	p.Before(`window.waits = []; const real = setTimeout; window.setTimeout = (f, ms, ...a) => { if (ms === 1000) waits.push(ms); return real(f, ms, ...a) }`)
	p.Go(g.link(blob, func(ctx context.Context, r contract.ResolveRequest) (contract.Resolved, error) {
		switch g.count(blob) {
		case 1, 2:
			return pending(ctx, r)
		case 3:
			return contract.Resolved{}, fault.NewCode(fault.DatabaseUnavailable)
		}
		return ready(ctx, r)
	}))
	waitView(p, "artifact")
	if n := browser.Eval[int](&p.Document, "waits.length"); n != 0 {
		t.Errorf("a panel that is closed waits %d times", n)
	}
	browser.Eval[bool](&p.Document, openPanel)
	p.WaitText("A zip archive of all files is being prepared.")
	p.Wait(`document.querySelector('[data-state="ready"]').checkVisibility()`)
	type link struct{ Text, Href string }
	got := browser.Eval[link](&p.Document, `(a => ({ Text: a.innerText.replace(/\s+/g, " "), Href: a.href }))(document.querySelector('[data-state="ready"] a'))`)
	if want := (link{"Download everything zip, 1.3 MB", g.content.URL + "/b/token"}); got != want {
		t.Errorf("offers %+v, want %+v", got, want)
	}
	if p.Visible(`[data-state="pending"]`) ||
		browser.Eval[int](&p.Document, `document.querySelectorAll("iframe").length`) != 1 {
		t.Error("it says that it is still being packed, or the frame is gone")
	}
	if n := g.count(blob); n != 4 {
		t.Errorf("asked %d times", n)
	}
	p.Clean()
}

func TestAnArchiveElsewhereIsNotOffered(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Go(g.link(blob, g.shows("Elsewhere", "plain", "report.html", htmlType, packed(artifact.Availability{
		Status: "ready",
		URL:    "https://evil.example/b/token",
	}))))
	waitView(p, "artifact")
	browser.Eval[bool](&p.Document, openPanel)
	if href := browser.Eval[string](&p.Document, `document.querySelector('[data-part="bundle"] a').href`); href != "" ||
		p.Visible(`[data-part="bundle"] a`) {
		t.Errorf("the panel leads to %q", href)
	}
}

func TestThePrivatePanelFollowsWhatIsOnShow(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	server.views.bundle = artifact.Availability{Status: "pending", RetryAfter: 1 * time.Second}
	server.enter(p)
	p.Go(server.appURL + "/v/" + artifactID)
	browser.Eval[bool](&p.Document, openPanel)
	p.WaitText("A zip archive of all files is being prepared.")
	server.mu.Lock()
	server.views.bundle = readyBundle(server.contentURL + "/b/token")
	server.mu.Unlock()
	p.Wait(`document.querySelector('[data-state="ready"] a')?.checkVisibility()`)
	if href := browser.Eval[string](&p.Document, `document.querySelector('[data-state="ready"] a').href`); href != server.contentURL+"/b/token" {
		t.Errorf("the panel leads to %s", href)
	}
	browser.Eval[bool](&p.Document, `(window.same = document.querySelector("iframe"), document.querySelector(".files a").focus(),
		document.dispatchEvent(new CustomEvent("vitrine:shown", { detail: { revision_id: "`+oldID+`" } })))`)
	p.Wait(`document.querySelector('[data-part="address"]').textContent.endsWith("?revision=` + oldID + `")`)
	got := browser.Eval[string](&p.Document, `[document.querySelector(".files a").pathname, document.querySelector('[data-part="revisions"] [aria-current]').innerText.split("\n")[0],
		document.querySelector("iframe") === same, document.activeElement.innerText, document.querySelector("#for-agents").innerText.includes("--revision-id `+oldID+`")].join()`)
	if want := "/v/plain/report.html,Revision 2,true,Details,true"; got != want {
		t.Errorf("the panel shows %s, want %s", got, want)
	}
	p.Clean()
}

func TestScriptsAndPagesCallFilesTheSame(t *testing.T) {
	g, p := open(t), browser.Open(t)
	var types, want []string
	for _, name := range []string{
		"html", "css", "csv", "js", "json", "txt", "md", "png", "svg", "mp3", "mp4", "woff", "wasm", "pdf", "zip",
	} {
		types = append(types, media.Of("a."+name).ContentType)
	}
	types = append(types, "IMAGE/HEIC", "", "constructor", "x/y; a=b", "text/rtf")
	p.Go(g.shape(blob, g.shows("Kinds", "plain", "report.html", htmlType, func(r *contract.Resolved) {
		r.AgentView.Files = r.AgentView.Files[:1]
		for _, of := range types {
			file := r.AgentView.Files[0]
			file.ContentType, file.Path = of, "other"
			r.AgentView.Files = append(r.AgentView.Files, file)
			want = append(want, pages.Kind(of))
		}
	})))
	waitView(p, "artifact")
	waitDetails(p)
	got := browser.Eval[[]string](&p.Document,
		`[...document.querySelectorAll(".files .kind")].slice(1).map(e => e.textContent)`)
	if !slices.Equal(got, want) {
		t.Errorf("scripts say %q, pages %q", got, want)
	}
}

func TestALinkOpensWithoutScripts(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.NoScripts()
	link := g.link(blob, g.shows("Seals of the bay", "plain", "report.html", htmlType, packed(readyBundle(g.content.URL+"/b/token"))))
	p.Go(link)
	p.WaitText("Open it without scripts")
	p.WaitText("POST http://localhost:8701/v1/access-links/resolve")
	p.Do(chromedp.SendKeys(chromedp.CSS("#pasted"), link))
	p.Click("form button")
	p.WaitText("Seals of the bay")
	p.Frame("report.html").WaitText("harbour seals")
	p.Click(".drawer > summary")
	p.WaitText("Download everything")
	if p.Visible("[data-copies]") {
		t.Error("a button is there that does nothing")
	}
	p.Click(".fold > summary")
	p.Wait(`document.querySelector(".drawn svg").checkVisibility() && document.querySelector("#address").innerText === "` + link + `"`)
	p.Clean()
	g.link("parcel", g.shows("Minutes", "plain", "minutes.docx", "application/octet-stream"))
	for pasted, want := range map[string]string{"#wrong": "This link opens nothing", "#parcel": "Browsers do not show files of this kind"} {
		p.Go(g.appURL + "/al/" + publicID)
		p.Do(chromedp.SendKeys(chromedp.CSS("#pasted"), g.appURL+"/al/"+publicID+pasted))
		p.Click("form button")
		p.WaitText(want)
	}
	for _, target := range g.targets {
		expect.Lacks(t, "an address", target, blob)
	}
	if strings.Contains(g.lines.String(), blob) {
		t.Errorf("the secret is in the log: %s", &g.lines)
	}
}

// TestPagesWithoutScriptsLook shows what a browser without scripts gets in one that has some, because pictures need
// them.
func TestPagesWithoutScriptsLook(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Media("prefers-reduced-motion", "reduce")
	link := g.link(blob, g.shows("Seals of the bay", "plain", "report.html", htmlType, packed(readyBundle(g.content.URL+"/b/token"))))
	for _, width := range widths {
		p.Viewport(width, 800)
		p.Go("about:blank")
		p.Go(g.appURL + "/al/" + publicID)
		waitView(p, "gone")
		browser.Eval[bool](&p.Document, `(m => { const plain = m.querySelector("noscript").textContent; m.innerHTML = plain; return true })(document.querySelector("main"))`)
		look(t, p, fmt.Sprintf("noscript-paste-%d", width), width)
		browser.Eval[bool](&p.Document, fmt.Sprintf("(document.getElementById('pasted').value = %q, true)", link))
		press("form button")(p)
		p.Frame("report.html").WaitText("harbour seals")
		p.Viewport(width, 800)
		browser.Eval[bool](&p.Document, openPanel)
		lookAtPanel(t, p, fmt.Sprintf("noscript-panel-%d", width), width)
	}
}

func TestThePrivatePanelNeedsNoScript(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	server.views.bundle = readyBundle(server.contentURL + "/b/token")
	server.enter(p)
	p.NoScripts()
	p.Go(server.appURL + "/v/" + artifactID)
	p.Frame("/v/scripts/report.html").WaitText("harbour seals")
	p.Click(".drawer > summary")
	p.WaitText("Download everything")
	got := browser.Eval[[]string](&p.Document,
		`[...document.querySelectorAll('[data-part="drawer"] .sheet a')].map(a => a.pathname + a.search)`)
	want := []string{
		"/v/scripts/report.html", "/v/scripts/data/counts.csv", "/b/token", "/v/" + artifactID, "/v/" + artifactID + "?revision=" + oldID,
		artifactPage, artifactPage, "/report?artifact=" + artifactID,
	}
	if !slices.Equal(got, want) {
		t.Errorf("the panel leads to %q\nwant %q", got, want)
	}
	p.Click(".fold > summary")
	p.Wait(`document.querySelector(".drawn svg").checkVisibility()`)
	if p.Visible("[data-copies]") {
		t.Error("a button is there that does nothing")
	}
	p.Click(`[data-part="revisions"] li:nth-child(2) a`)
	p.WaitText("This is not the newest revision.")
	p.Frame("/v/plain/report.html").WaitText("harbour seals")
	p.Clean()
	server.mu.Lock()
	server.views.bundle = artifact.Availability{Status: "pending", RetryAfter: 45 * time.Second}
	server.mu.Unlock()
	p.Reload()
	p.Click(".drawer > summary")
	p.WaitText("Load the page again in 45 seconds")
}
