package app

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// viewOf tells which view is on show.
func viewOf(p *browser.Page) string {
	return browser.Eval[string](&p.Document,
		`[...document.querySelectorAll("[data-view]")].filter(v => !v.hidden).map(v => v.dataset.view).join()`)
}

func waitView(p *browser.Page, name string) {
	p.Wait(`document.querySelector('[data-view="` + name + `"]')?.hidden === false`)
}

// waitDetails waits until the details of a link are there, which come after what the frame shows.
func waitDetails(p *browser.Page) {
	p.Wait(`document.querySelector('[data-field="shown"]').textContent`)
}

func TestViewerShowsAnArtifact(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Go(g.link(blob, g.shows("Seals of the bay", "plain", "report.html", htmlType, unclaimed)))
	waitView(p, "artifact")
	f := p.Frame("report.html")
	f.WaitText("harbour seals")
	waitDetails(p)
	if got := browser.Eval[string](f, "self.origin"); got != "null" {
		t.Errorf("the content runs as origin %q", got)
	}
	type facts struct{ Title, Heading, Sandbox, Referrer, Frame, Allow, Link, Mode, Count, Expires, Remaining string }
	got := browser.Eval[facts](&p.Document, `(() => {
		const of = name => document.querySelector('[data-field="' + name + '"]').textContent, frame = document.querySelector("iframe");
		return { Title: document.title, Heading: of("title"), Sandbox: frame.getAttribute("sandbox"), Referrer: frame.getAttribute("referrerpolicy"),
			Frame: frame.title, Allow: frame.allow, Link: of("link"), Mode: of("mode"), Count: of("count"), Remaining: of("remaining"),
			Expires: document.querySelector('[data-field="expires"]').dateTime }
	})()`)
	want := facts{
		Title:     "Seals of the bay | Vitrine",
		Heading:   "Seals of the bay",
		Frame:     "Artifact: Seals of the bay",
		Referrer:  "no-referrer",
		Sandbox:   stillSandbox,
		Link:      publicID,
		Mode:      "html",
		Count:     "3",
		Remaining: "in 23 hours",
		Expires:   got.Expires,
	}
	if got != want {
		t.Errorf("shows %+v\nwant  %+v", got, want)
	}
	if at, err := time.Parse(time.RFC3339, got.Expires); err != nil || time.Until(at).Round(time.Hour) != 23*time.Hour &&
		time.Until(at).Round(time.Hour) != 24*time.Hour {
		t.Errorf("expires %q: %v", got.Expires, err)
	}
	if shown := p.Text(`[data-part="expiry"]`); !strings.Contains(shown, time.Now().Format("2006")) ||
		!strings.Contains(shown, ":") {
		t.Errorf("no absolute time in %q", shown)
	}
	p.Clean()

	for _, target := range g.targets {
		expect.Lacks(t, "an address", target, blob)
	}
	if strings.Contains(g.lines.String(), blob) {
		t.Errorf("the secret reached the log: %s", &g.lines)
	}
	if got := browser.Eval[string](&p.Document, "document.cookie + localStorage.length + sessionStorage.length"); got != "00" {
		t.Errorf("the page keeps %q", got)
	}
	if others := browser.Eval[[]string](&p.Document, `performance.getEntriesByType("resource").map(e => new URL(e.name).origin)`); slices.ContainsFunc(others, func(o string) bool {
		return o != g.appURL && o != g.content.URL
	}) {
		t.Errorf("the page asked third parties: %v", others)
	}
}

func TestViewerFiles(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Go(g.link(blob, g.shows("Files", "plain", "report.html", htmlType)))
	waitView(p, "artifact")
	if p.Visible(".sheet") || p.Visible(`[data-part="unclaimed"]`) {
		t.Error("details or the notice of unclaimed artifacts show without a reason")
	}
	p.Press(kb.Tab)
	p.Press(kb.Tab)
	p.Wait(`document.activeElement.tagName === "SUMMARY"`)
	p.Press(kb.Enter)
	p.Wait(`document.querySelector(".sheet").checkVisibility()`)
	waitDetails(p)
	type row struct{ Text, Href, Target, Rel string }
	got := browser.Eval[[]row](&p.Document, `[...document.querySelectorAll(".files li")].map(li => { const a = li.querySelector("a");
		return { Text: li.innerText.replace(/\s+/g, " "), Href: a.href, Target: a.target, Rel: a.rel } })`)
	base := g.content.URL + "/v/plain/"
	want := []row{
		{"report.html Page 18 kB", base + "report.html", "_blank", "noopener noreferrer"},
		{"data/counts.csv Table 2.3 MB", base + "data/counts.csv", "_blank", "noopener noreferrer"},
		{"notes.md Markdown 1 byte", base + "notes.md", "_blank", "noopener noreferrer"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("files %+v\nwant  %+v", got, want)
	}
	p.Press(kb.Tab)
	p.Press(kb.Escape)
	p.Wait(`!document.querySelector(".sheet").checkVisibility() && document.activeElement.tagName === "SUMMARY"`)
	p.Press(kb.Enter)
	p.Click(".notice, .wordmark ~ .placard")
	p.Wait(`!document.querySelector(".sheet").checkVisibility()`)
	p.Press(kb.Enter)
	p.Click("summary")
	p.Wait(`document.querySelector(".sheet").checkVisibility()`)
	p.Click(".files li:nth-child(1) a")
	p.WaitTab(base + "report.html")
	p.Clean()
}

// TestTheNoteAboutScriptsIsForPagesThatHaveSome: only the frame knows, and only an answer can say that they do not run.
func TestTheNoteAboutScriptsIsForPagesThatHaveSome(t *testing.T) {
	g, p := open(t), browser.Open(t)
	const note = `[data-part="unclaimed"]`
	p.Go(g.link("scripts", g.shows("Scripts", "plain", "script.html", htmlType, unclaimed)))
	p.WaitText("Somebody without an account made this page.")
	g.link("none", g.shows("None", "plain", "tall.html", htmlType, unclaimed))
	g.link("claimed", g.shows("Claimed", "scripts", "script.html", htmlType))
	g.link("quiet", g.shows("Quiet", "plain", "quiet.html", htmlType, unclaimed))
	p.Do(chromedp.Evaluate[chromedp.Void](`location.hash = "none"`))
	p.Wait(`document.querySelector("iframe")?.clientHeight > 2500`)
	if p.Visible(note) {
		t.Error("the note shows above a page without scripts")
	}
	p.Do(chromedp.Evaluate[chromedp.Void](`location.hash = "claimed"`))
	ran := p.Frame("/v/scripts/script.html")
	ran.WaitText("the script ran")
	browser.Eval[bool](ran, `(parent.postMessage({type: "vitrine:viewer-height", height: 1234, scripts: true}, "*"), true)`)
	p.Wait(`document.querySelector("iframe").style.minHeight === "1234px"`)
	if p.Visible(note) {
		t.Error("the note shows above scripts that run")
	}
	p.Do(chromedp.Evaluate[chromedp.Void](`location.hash = "quiet"`))
	f := p.Frame("quiet.html")
	f.WaitText("says nothing")
	browser.Eval[bool](f, `(parent.postMessage({type: "vitrine:fixed", scripts: true}, "*"), true)`) // which is of something else
	for i, scripts := range []string{`"true"`, "1", "{}", "null", "false"} {
		browser.Eval[bool](f, fmt.Sprintf(`(parent.postMessage({type: "vitrine:viewer-height", height: %d, scripts: %s}, "*"), true)`, 901+i, scripts))
		p.Wait(fmt.Sprintf(`document.querySelector("iframe").style.minHeight === "%dpx"`, 901+i))
		if p.Visible(note) {
			t.Errorf("scripts: %s is believed", scripts)
		}
	}
	browser.Eval[bool](f, `(parent.postMessage({type: "vitrine:viewer-height", height: 990, scripts: true}, "*"), true)`)
	p.Wait(`document.querySelector('[data-part="unclaimed"]').checkVisibility()`)
}

func TestAReaderRunsTheScriptsOfAnUnclaimedPage(t *testing.T) {
	g, p := open(t), browser.Open(t)
	url := g.link("run", g.shows("Run", "plain", "script.html", htmlType, unclaimed))
	p.Go(url)
	p.WaitText("Somebody without an account made this page.")
	p.Frame("/v/plain/script.html").WaitText("silent")
	p.Click(`[data-part="run"]`)
	p.Frame("/v/scripts/script.html").WaitText("the script ran")
	if p.Visible(`[data-part="unclaimed"]`) {
		t.Error("the page asks again")
	}
	const attributes = `[document.querySelector("iframe").getAttribute("sandbox"), document.querySelector("iframe").allow].join("|")`
	if got := browser.Eval[string](&p.Document, attributes); got != runningSandbox+"|clipboard-write; fullscreen" {
		t.Errorf("the frame is %q", got)
	}
	p.Reload() // the tab keeps the wish
	p.Frame("/v/scripts/script.html").WaitText("the script ran")
	other := browser.Open(t) // another one does not
	other.Go(url)
	other.Frame("/v/plain/script.html").WaitText("silent")
	p.Clean()
}

func TestAPageKeepsItsPlaceInTheArtifact(t *testing.T) {
	g, p := open(t), browser.Open(t)
	shows := g.shows("Handbook", "scripts", "report.html", htmlType, func(r *contract.Resolved) {
		at := g.content.URL + "/v/scripts/"
		r.AgentView.Files = append(r.AgentView.Files, viewFile("second.html", htmlType, at+"second.html", 1))
	})
	p.Go(g.link(blob, shows))
	f := p.Frame("report.html")
	f.WaitText("harbour seals")
	tell := func(f *browser.Document, path, hash, title string) {
		at := strings.IndexByte(path+"?", '?')
		browser.Eval[bool](f, fmt.Sprintf(
			`(parent.postMessage({ type: "vitrine:place", path: %q, query: %q, hash: %q, title: %q }, "*"), true)`,
			path[:at], path[at:], hash, title))
	}
	tell(f, "report.html", "#north%20hook", "Chapter 2")
	p.Wait(`location.search === "?at=report.html%23north%2520hook" && document.title === "Chapter 2 · Handbook | Vitrine"`)
	if got := browser.Eval[string](&p.Document, "location.hash"); got != "#"+blob {
		t.Errorf("the secret became %s", got)
	}
	p.Click("summary")
	p.Wait(`document.querySelector('[data-copies="here"]').checkVisibility()`)
	const texts = `[document.getElementById("address"), document.getElementById("here"), document.getElementById("for-agents")].map((e) => e.textContent).join(" ")`
	if got := browser.Eval[string](&p.Document, texts); strings.Count(got, "at=report.html") != 1 {
		t.Errorf("the place is in more than one text: %s", got)
	}
	for _, c := range [][3]string{ // what is not listed, or no place, changes nothing
		{"../other/index.html", "", "a"}, {"gone.html", "", "b"}, {"%", "", "c"}, {"report.html", "#" + strings.Repeat("x", 5000), "d"},
	} {
		tell(f, c[0], c[1], c[2])
	}
	tell(f, "second.html", "", "\u202eevil")
	p.Wait("location.search === '?at=second.html' && document.title === '\uFFFDevil · Handbook | Vitrine'")
	tell(f, "report.html", "", "Start") // its entrypoint is the artifact
	p.Wait(`location.search === "" && document.title === "Handbook | Vitrine"`)
	tell(f, "second.html", "#two", "")
	p.Wait(`location.search === "?at=second.html%23two" && document.title === "Handbook | Vitrine"`)
	tell(f, "second.html?q=ebb", "#two", "")
	p.Wait(`location.search === "?at=second.html%3Fq%3Debb%23two"`)

	p.Reload()
	f = p.Frame("second.html")
	f.WaitText("the second artifact")
	if got := browser.Eval[string](f, "location.search + location.hash"); got != "?q=ebb#two" {
		t.Errorf("the reload leads to %s", got)
	}
	for _, unlisted := range []string{"gone.html", "../x", "//evil.test/", "https://evil.test/"} {
		p.Go("about:blank")
		p.Go(g.appURL + linkPage + "?" + url.Values{"at": {unlisted}}.Encode() + "#" + blob)
		p.Frame("report.html").WaitText("harbour seals")
	}
}

func TestAnOpenPageFollowsAClaim(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Go(g.link("claim", g.shows("Claim", "plain", "script.html", htmlType, unclaimed)))
	p.WaitText("Somebody without an account made this page.")
	g.link("claim", g.shows("Claim", "scripts", "script.html", htmlType))
	g.live.claim()
	p.Frame("/v/scripts/script.html").WaitText("the script ran")
	if p.Visible(`[data-part="unclaimed"]`) {
		t.Error("the page still says that nobody has claimed it")
	}
}

func TestTheOwnerOfADeploymentDecidesAboutScriptsOfUnclaimedPages(t *testing.T) {
	for scripts, want := range map[limits.Scripts]string{
		limits.ScriptsAsk: "Run this page’s scripts",
		limits.ScriptsOff: "Nobody has claimed this artifact yet, so its scripts do not run.",
		limits.ScriptsOn:  `data-scripts="on"`,
	} {
		h, _ := host(nil)
		numbers := limits.Default()
		policy := numbers.Tiers[limits.Ephemeral]
		policy.Scripts = scripts
		numbers.Tiers[limits.Ephemeral] = policy
		h.Operators.Limits = &numbers
		wantAnswer(t, string(scripts), send(h.Handler(), "GET", linkPage, ""), 200, want)
	}
}

func TestTheFrontPageOffersWhatTheDeploymentHas(t *testing.T) {
	for closed, want := range map[bool]string{false: "--ephemeral", true: "vitrine login"} {
		h, _ := host(nil)
		h.AccountsOnly = closed
		body := text(t, send(h.Handler(), "GET", "/", ""))
		if strings.Contains(body, "--ephemeral") == closed || strings.Contains(body, "You need no account") == closed ||
			!strings.Contains(body, want) {
			t.Errorf("without accounts %t: %s", closed, body)
		}
		for agent, first := range map[string]string{"Mozilla/5.0 (Windows NT 10.0; Win64)": "irm ", "curl/8": "curl -fsSL "} {
			body := text(t, send(h.Handler(), "GET", "/", "", "User-Agent", agent))
			expect.Has(t, agent, body, `<code id="install">`+first+h.Origins.App+"/install.")
		}
	}
}

// The sandboxes of frames, by whether the scripts of the content run.
const (
	stillSandbox   = "allow-scripts allow-popups allow-popups-to-escape-sandbox allow-downloads"
	runningSandbox = stillSandbox + " allow-forms allow-modals"
)

func TestViewerTakesTheHeightOfItsFrameAlone(t *testing.T) {
	g, p := open(t), browser.Open(t)
	// The viewer starts the timer fit for each height that it believes. Others, those of polls, start on a slow machine.
	p.Before(`window.heights = 0; window.heard = 0; const real = setTimeout;
		window.setTimeout = (f, ...a) => { if (f.name === "fit") heights++; return real(f, ...a) };
		addEventListener("message", () => real(() => heard++))`)
	p.Go(g.link(blob, g.shows("Tall", "plain", "quiet.html", htmlType)))
	f := p.Frame("quiet.html")
	f.WaitText("says nothing")
	believed := browser.Eval[int](&p.Document, "heights")
	for i, message := range []string{
		`{type: "vitrine:viewer-height", height: 0}`, `{type: "vitrine:viewer-height", height: -5}`, `{type: "vitrine:viewer-height", height: NaN}`,
		`{type: "vitrine:viewer-height", height: Infinity}`, `{type: "vitrine:viewer-height", height: 50000001}`,
		`{type: "vitrine:viewer-height", height: "900"}`, `{type: "vitrine:viewer-height"}`, `{type: "other", height: 900}`, `"900"`, `null`, `900`,
	} {
		browser.Eval[bool](f, "(parent.postMessage("+message+", '*'), true)")
		p.Wait(fmt.Sprintf("heard === %d", i+1))
		if browser.Eval[int](&p.Document, "heights") != believed {
			t.Fatalf("the viewer believed %s", message)
		}
	}
	// The same from the page itself, and from another frame of the content host.
	browser.Eval[bool](&p.Document, `(postMessage({type: "vitrine:viewer-height", height: 900}, "*"), true)`)
	p.Wait("heard === 12")
	browser.Eval[bool](&p.Document, `(() => { const other = document.createElement("iframe"); other.sandbox = "allow-scripts";
		other.src = document.querySelector("iframe").src.replace("quiet", "tall"); document.body.append(other); return true })()`)
	p.Frame("tall.html").WaitText("harbour")
	p.Wait("heard > 12")
	if n := browser.Eval[int](&p.Document, "heights"); n != believed {
		t.Fatalf("the viewer believed another window %d times", n-believed)
	}
	browser.Eval[bool](f, `(parent.postMessage({type: "vitrine:viewer-height", height: 1900.2}, "*"), true)`)
	p.Wait(`document.querySelector(".case iframe").getBoundingClientRect().height === 1901`)
	if browser.Eval[int](&p.Document, "heights") == believed {
		t.Error("a height that the viewer believes is not counted")
	}
	browser.Eval[bool](f, `(parent.postMessage({type: "vitrine:viewer-height", height: 120}, "*"), true)`)
	p.Wait(`document.querySelector(".case iframe").style.minHeight === "120px"`)
	if browser.Eval[bool](&p.Document, `document.documentElement.scrollHeight < 1200 && document.querySelector(".case iframe").clientHeight < 300`) {
		t.Error("a low artifact leaves the case low")
	}
}

func TestAPageThatShowsNothingIsExplained(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Go(g.link(blob, g.shows("Empty", "plain", "quiet.html", htmlType)))
	f := p.Frame("quiet.html")
	f.WaitText("says nothing")
	said := `document.querySelector("[data-part=blank]")`
	browser.Eval[bool](f,
		`(parent.postMessage({type: "vitrine:blank", failed: ["app.js", "\u202eevil", 1, 2, 3, 4]}, "*"), true)`)
	p.Wait(said + ".checkVisibility()")
	p.Wait(said + `.innerText.includes("What failed in it: app.js, \uFFFDevil, 1, 2, 3\n")`)
	p.Screenshot("viewer-blank")
	p.Click("[data-part=raw]")
	p.Wait(`document.querySelector(".drawer .files").checkVisibility()`)
	browser.Eval[bool](f, `(location.reload(), true)`)
	p.Wait("!" + said + ".checkVisibility()")
	p.Clean()
}

func TestAPageThatWaitsForItsReaderIsNotSaidToHaveFailed(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Go(g.link(blob, g.shows("Asleep", "plain", "script.html", htmlType, unclaimed)))
	f := p.Frame("script.html")
	browser.Eval[bool](f, `(parent.postMessage({type: "vitrine:blank", failed: ["inline"]}, "*"), true)`)
	browser.Eval[bool](f, `(parent.postMessage({type: "vitrine:viewer-height", height: 1, scripts: true}, "*"), true)`)
	p.Wait(`document.querySelector("[data-part=unclaimed]").checkVisibility()`)
	if p.Visible("[data-part=blank]") {
		t.Error("the page says that something failed, although nothing ran yet")
	}
}

func TestAPageWithPartsThatStayScrollsByItself(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Go(g.link(blob, g.shows("Tall", "plain", "tall.html", htmlType)))
	p.Wait(`document.querySelector("iframe")?.clientHeight > 2500`)
	f := p.Frame("tall.html")
	browser.Eval[bool](f, `(addEventListener("message", (e) => { if (e.source === parent) window.came = e.data.top }), true)`)
	browser.Eval[bool](&p.Document, `(scrollTo(0, 1000), true)`)
	tell := func(fixed string) {
		browser.Eval[bool](f, `(parent.postMessage({type: "vitrine:fixed", fixed: `+fixed+`}, "*"), true)`)
	}
	const height = `document.querySelector("iframe").clientHeight`
	tell("true")
	p.Wait(height + " < innerHeight")
	f.Wait("came > 700 && came < 1000") // the bar and what is above the frame are less than 300 px
	browser.Eval[bool](f, `(parent.postMessage({type: "vitrine:viewer-height", height: 2999}, "*"), true)`)
	tell("1") // no boolean
	p.Wait(height + " === 2999")
	p.Clean()
}

func TestTallContentScrollsWithThePage(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Go(g.link(blob, g.shows("Tall", "plain", "tall.html", htmlType)))
	p.Wait(`document.querySelector("iframe")?.clientHeight > 2500`)
	f := p.Frame("tall.html")
	f.Wait("innerHeight >= document.documentElement.scrollHeight")
	browser.Eval[bool](&p.Document, `(scrollTo(0, 2000), document.querySelector("iframe").src += "?next", true)`)
	p.Wait(`scrollY < 200`) // another page in the frame begins in sight
	p.Clean()
}

func TestContentThatGrowsWithItsFrameIsStopped(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Before(`window.grown = []; addEventListener("DOMContentLoaded", () => new MutationObserver(list => {
		for (const m of list) if (m.target.tagName === "IFRAME") grown.push(m.target.style.minHeight) })
		.observe(document.body, { attributes: true, attributeFilter: ["style"], subtree: true }))`)
	p.Go(g.link(blob, g.shows("Grows", "plain", "grows.html", htmlType)))
	p.Wait(`grown.length > 6 && grown.at(-1) === ""`)
	if n := browser.Eval[int](&p.Document, "grown.length"); n > 20 {
		t.Errorf("followed %d growths", n)
	}
	p.Frame("grows.html").Wait("document.documentElement.scrollHeight > innerHeight") // it scrolls by itself now

	p.Go(g.link(blob, g.shows("Triple", "plain", "triple.html", htmlType)))
	p.Wait(`grown.length > 3 && grown.at(-1) === ""`)
	if browser.Eval[bool](&p.Document, `grown.some((height) => parseFloat(height) > 1e6)`) {
		t.Error("the frame grew to an absurd height")
	}
}

const gone = "It may have expired or been withdrawn, or a piece of it got lost on the way: everything after the # belongs to it. Ask whoever shared it for a fresh one."

func TestHostileAnswersStayText(t *testing.T) {
	g, p := open(t), browser.Open(t)
	title := "<img src=x onerror=\"document.body.textContent='broken'\"> </title><script>alert(1)</script> \u202Eevil"
	p.Go(g.link(blob, g.shows(title, "plain", "report.html", htmlType, func(r *contract.Resolved) {
		r.RenderMode = "<b>html</b>"
		r.AgentView.Files = append(r.AgentView.Files,
			viewFile(`"><script>alert(2)</script>`, "text/html", "javascript:alert(3)", 1),
			viewFile("elsewhere", "text/html", "https://evil.example/x", 1),
			viewFile("\u202Egpj.exe", "text/html", g.content.URL+"/v/a/b", 1))
	})))
	waitView(p, "artifact")
	waitDetails(p)
	if got := browser.Eval[string](&p.Document, "document.querySelector('h1').textContent"); got != strings.ReplaceAll(title, "\u202E", "\uFFFD") {
		t.Errorf("title %q", got)
	}
	if browser.Eval[bool](&p.Document, `/\u202E/.test(document.documentElement.outerHTML + document.title)`) {
		t.Error("a name turns the direction of writing")
	}
	if n := browser.Eval[int](&p.Document, `document.querySelectorAll("h1 *, .files img, .files script, .files a").length`); n != 4 {
		t.Errorf("%d elements, want the links of the four files on the content host", n)
	}
	p.Clean()
	for name, change := range map[string]func(*contract.Resolved){
		"another-origin": func(r *contract.Resolved) { r.IframeSrc = "https://evil.example/v/a/b" },
		"a-script":       func(r *contract.Resolved) { r.IframeSrc = "javascript:alert(1)" },
		"our-own-origin": func(r *contract.Resolved) { r.IframeSrc = g.appURL + "/" },
		"no-URL":         func(r *contract.Resolved) { r.IframeSrc = "" },
		"no-files":       func(r *contract.Resolved) { r.AgentView.Files = nil },
	} {
		p.Go(g.shape(name, g.shows("x", "plain", "report.html", htmlType, change)))
		p.WaitText("Not available right now")
		if p.Visible("iframe, .placard") {
			t.Errorf("%s is framed", name)
		}
	}
	p.Clean()
}

func TestFilesThatBrowsersDoNotShow(t *testing.T) {
	g, p := open(t), browser.Open(t)
	for name, tt := range map[string]struct {
		contentType, path string
		framed            bool
	}{
		"report.pdf":  {"application/pdf", "", false},
		"data.bin":    {"application/octet-stream", "", false},
		"font.woff2":  {"font/woff2", "", false},
		"counts.csv":  {"text/csv; charset=utf-8", "", false},
		"count.csv":   {"text/csv; charset=utf-8", "/r/plain/report.html", true},
		"data.json":   {"application/json; charset=utf-8", "", true},
		"picture.png": {"image/png", "", true},
		"sound.mp3":   {"audio/mpeg", "", true},
	} {
		p.Go(g.link(name, g.shows(name, "plain", name, tt.contentType, func(r *contract.Resolved) {
			if tt.path != "" {
				r.IframeSrc = g.content.URL + tt.path
			}
		})))
		p.Wait(`document.title === "` + name + ` | Vitrine"`)
		if got := p.Visible("iframe"); got != tt.framed {
			t.Errorf("%s: framed %v", name, got)
		}
		if p.Visible(".parcel") == tt.framed {
			t.Errorf("%s: frame and panel at once, or none", name)
		}
		if !tt.framed {
			if got := p.Text(".parcel h2"); got != name {
				t.Errorf("the panel names %q", got)
			}
			if href := browser.Eval[string](&p.Document, `document.querySelector(".parcel a").href`); href != g.content.URL+"/v/plain/"+name {
				t.Errorf("the panel leads to %s", href)
			}
		}
		p.Clean()
	}
}
