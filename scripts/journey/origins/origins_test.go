package origins

import (
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// status asks for a file in a document and returns the status.
const status = `fetch("/data.json").then(r => r.status)`

// forgets is the sentence in the details that what a page stores goes with it.
const forgets = `document.querySelector('[data-part="forgets"]')`

// tokenOf is the token by which a page opens the artifact in its frame.
func tokenOf(p *browser.Page) string {
	source := browser.Eval[string](&p.Document, `document.querySelector("iframe").src`)
	_, rest, _ := strings.Cut(source, "/.vitrine/open/")
	token, _, _ := strings.Cut(rest, "/")
	return token
}

func TestAWebAppRunsAsItWasBuilt(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first, second := e.publish(t, "", app...), e.publish(t, "", app...)
	p := browser.Open(t)
	l := harness.CreateLink(t, e.agent, first.ArtifactID, harness.ShareLink)
	url := harness.MintLink(t, e.agent, l.ID)
	p.Go(url)
	p.Frame(e.host(first.ArtifactID)).WaitText("1 1 1 worker-json json refused /")
	p.Reload()
	p.Frame(e.host(first.ArtifactID)).WaitText("2 2 2 worker-json json refused /")

	p.Go(harness.ShareURL(t, e.agent, second.ArtifactID))
	p.Frame(e.host(second.ArtifactID)).WaitText("1 1 1 worker-json json refused /")
	p.Go(url)
	d := p.Frame(e.host(first.ArtifactID))
	d.WaitText("3 3 3 worker-json json refused /")
	if got := browser.Eval[int](d, status); got != http.StatusOK {
		t.Errorf("before the revocation: %d", got)
	}
	token := tokenOf(p)
	harness.RevokeLink(t, e.agent, l.ID)
	a := harness.Do(t, e.Anyone, "GET", e.Origins.Of(first.ArtifactID)+"/data.json", nil, "Cookie", "__Host-v="+token)
	if got := a.Header.Get("Clear-Site-Data"); a.Status != http.StatusNotFound || got != `"cache", "storage"` {
		t.Errorf("after the revocation: %d %q", a.Status, got)
	}
	if got := browser.Eval[int](d, status); got != http.StatusNotFound {
		t.Errorf("after the revocation: %d", got)
	}
	p.Go(harness.ShareURL(t, e.agent, first.ArtifactID))
	p.Frame(e.host(first.ArtifactID)).WaitText("1 1 1 worker-json json refused /")
}

// TestAPageOfALinkShowsANewRevisionAtTheSameOrigin steps back to the older one, which is at the shared origin.
func TestAPageOfALinkShowsANewRevisionAtTheSameOrigin(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	page := func(mark string) wire.File {
		return wire.File{Path: "index.html", Body: []byte(`<!doctype html><body><p>` + mark + `</p><script>
document.body.append(localStorage.kept ?? "nothing kept", " ", origin); localStorage.kept = "kept"</script>`)}
	}
	first := e.publish(t, "", page("the first"))
	own := e.Origins.Of(first.ArtifactID)
	p := browser.Open(t)
	p.Go(harness.ShareURL(t, e.agent, first.ArtifactID))
	p.Frame(e.host(first.ArtifactID)).WaitText("nothing kept " + own)
	p.Wait(`document.querySelector(".strip-text").innerText.includes("The newest revision")`)
	e.publish(t, first.ArtifactID, page("the second"))
	p.Wait(`document.querySelector("[data-field=announcement]").textContent === "Updated to revision 2"`)
	p.Wait(`!document.querySelector(".coming")`)
	d := p.Frame(e.host(first.ArtifactID))
	d.WaitText("the second")
	d.WaitText("kept " + own)
	if !browser.Eval[bool](&p.Document, forgets+".hidden") {
		t.Error("the details say that the browser forgets what it keeps")
	}
	p.Click(`[data-part="older"]`)
	p.Wait(`!document.querySelector(".coming")`)
	d = p.Frame("/v/")
	d.WaitText("the first")
	d.WaitText("nothing kept null")
	p.Wait("!" + forgets + ".hidden")
	p.Click(`[data-part="later"]`)
	p.Wait(forgets + ".hidden")
}

func TestAPageThatWeMakeIsAtTheOriginOfTheArtifact(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	a := e.publish(t, "", app...)
	url, fragment, _ := strings.Cut(harness.ShareURL(t, e.agent, a.ArtifactID), "#")
	p := browser.Open(t)
	p.Go(url + "?at=docs/a.md#" + fragment)
	d := p.Frame(e.host(a.ArtifactID) + "/.vitrine/r/docs/a.md")
	d.WaitText("A page")
	d.Follow(`a[href$="b.md"]`, "The other page")
	p.Wait(`new URLSearchParams(location.search).get("at") === "docs/b.md"`)
	d.Clean()
}

// TestAPlaceKeepsThePathOfAPageThatRoutesByIt opens a page whose extension is left out, beside a folder of its name.
func TestAPlaceKeepsThePathOfAPageThatRoutesByIt(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	page := []byte(`<!doctype html><body><a href="/ports/brest?day=2">Brest</a><script>
document.body.append(" at ", location.pathname, location.search)</script>`)
	a := e.publish(t, "", wire.File{Path: "index.html", Body: page}, wire.File{Path: "ports/brest.html", Body: page},
		wire.File{Path: "ports/brest/data.json", Body: []byte("{}")})
	p := browser.Open(t)
	p.Go(harness.ShareURL(t, e.agent, a.ArtifactID))
	d := p.Frame(e.host(a.ArtifactID))
	d.WaitText("at /")
	d.Follow("a", "at /ports/brest?day=2")
	p.Wait(`new URLSearchParams(location.search).get("at") === "ports/brest?day=2"`)
	p.Reload()
	p.Frame(e.host(a.ArtifactID)).WaitText("at /ports/brest?day=2")
}

// router is an app of one page, which chooses by its path what it shows.
var router = []wire.File{
	{Path: "index.html", Body: []byte(`<!doctype html><title>Ports</title><base href="/"><script type="module" src="main.js"></script>
<body><main></main>`)},
	{Path: "main.js", Body: []byte(`
const show = () => (document.querySelector("main").innerHTML =
	"<p>at " + location.pathname + location.search + "</p><a href=/ports/7?day=2 id=route>A port</a> <a href=/ports/8 id=load>Another</a>")
document.addEventListener("click", (event) => {
	if (event.target.id !== "route") return
	event.preventDefault()
	history.pushState({}, "", event.target.href)
	show()
})
addEventListener("popstate", show)
show()`)},
	{Path: "data/ports.json", Body: []byte("[]")},
}

// TestAnAppKeepsItsPlaceOverReloadAndBack opens an app by links to its routes, which no file has.
func TestAnAppKeepsItsPlaceOverReloadAndBack(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	a := e.publish(t, "", router...)
	view := harness.CallAs[contract.AgentView](t, &harness.Member{Agent: e.agent}, 200, "GET",
		"/v1/artifacts/"+string(a.ArtifactID)+"/agent-view", nil)
	if !view.App {
		t.Fatal("the artifact is no app")
	}
	p := browser.Open(t)
	url, fragment, _ := strings.Cut(harness.ShareURL(t, e.agent, a.ArtifactID), "#")
	p.Go(url + "?at=ports/9#" + fragment)
	d := p.Frame(e.host(a.ArtifactID))
	d.WaitText("at /ports/9")
	d.Click("#route")
	d.WaitText("at /ports/7?day=2")
	p.Wait(`new URLSearchParams(location.search).get("at") === "ports/7?day=2"`)
	d.Follow("#load", "at /ports/8") // of a whole document
	p.Wait(`new URLSearchParams(location.search).get("at") === "ports/8"`)
	p.Reload()
	d = p.Frame(e.host(a.ArtifactID))
	d.WaitText("at /ports/8")
	d.Click("#route")
	d.WaitText("at /ports/7")
	browser.Eval[bool](d, "(history.back(), true)")
	d.WaitText("at /ports/8")
	p.Wait(`new URLSearchParams(location.search).get("at") === "ports/8"`)
	p.Clean()
}

// TestALinkToATabOpensTheViewer follows a link inside the artifact whose target is a new tab, where nothing would be shown
// without the viewer around.
func TestALinkToATabOpensTheViewer(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	const link = `<!doctype html><a href="/b%20c.html?day=2#x" target="_blank">B</a>`
	const page = `<!doctype html><body><script>
document.body.append("at ", location.pathname, location.search, location.hash)</script>`
	a := e.publish(t, "", wire.File{Path: "index.html", Body: []byte(link)}, wire.File{Path: "b c.html", Body: []byte(page)})
	p := browser.Open(t)
	p.Go(harness.ShareURL(t, e.agent, a.ArtifactID))
	d := p.Frame(e.host(a.ArtifactID))
	d.Wait(`document.querySelector("a")`)
	browser.Eval[bool](&p.Document, `(window.open = (url, ...how) => (window.opened = [url.href, ...how]), true)`)
	d.Click("a")
	p.Wait(`window.opened`)
	opened := browser.Eval[[]string](&p.Document, `window.opened`)
	if how := strings.Join(opened[1:], " "); how != "_blank noopener" {
		t.Errorf("the tab opens as %s", how)
	}
	p.Go("about:blank")
	p.Go(opened[0])
	p.Frame(e.host(a.ArtifactID)).WaitText("at /b%20c.html?day=2#x")
}

// withoutCookie has frames arrive where an opening leads, as if the browser had not kept its cookie.
const withoutCookie = `
const { set, get } = Object.getOwnPropertyDescriptor(HTMLIFrameElement.prototype, "src")
Object.defineProperty(HTMLIFrameElement.prototype, "src", {
	get,
	set(url) { set.call(this, url.replace(/\.vitrine\/open\/[^/]+/, ".vitrine/ready")) },
})`

// withoutReferrer has frames name no page that opens them, as some browsers are set to.
const withoutReferrer = `Object.defineProperty(HTMLIFrameElement.prototype, "referrerPolicy", {
	set() { this.setAttribute("referrerpolicy", "no-referrer") },
})`

func TestABrowserWithoutCookiesOpensTheOriginByToken(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	a := e.publish(t, "", wire.File{Path: "index.html", Body: []byte(
		`<!doctype html><body><script src="part.js"></script><script>
document.body.append(" ", typeof localStorage, " ", location.pathname.slice(0, 12))</script>`)}, wire.File{Path: "part.js", Body: []byte(`document.body.append(origin)`)})
	for _, setting := range []string{withoutCookie, withoutReferrer} {
		p := browser.Open(t)
		p.Before(setting)
		p.Go(harness.ShareURL(t, e.agent, a.ArtifactID))
		p.Wait(`document.querySelector("iframe")?.src.includes("/.vitrine/t/")`)
		p.Frame(e.host(a.ArtifactID) + "/.vitrine/t/").WaitText(e.Origins.Of(a.ArtifactID) + " object /.vitrine/t/")
	}
}

// TestAClaimKeepsWhatAnOriginHasStored has a reader run the scripts of an artifact, which then is claimed.
func TestAClaimKeepsWhatAnOriginHasStored(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	anonymous, provisioned, err := e.Anyone.Provision(ctx)
	harness.NoError(t, err)
	a := harness.Must(anonymous.PublishFiles(ctx, "App", "", app...))(t)
	other := harness.Must(anonymous.PublishFiles(ctx, "Other", "", app...))(t)
	p := browser.Open(t)
	p.Go(a.UnlistedURL)
	p.Click(`[data-part="run"]`)
	p.Frame(e.host(a.ArtifactID)).WaitText("1 1 1 worker-json json refused /")
	const frame = `document.querySelector('[data-part="case"] iframe')`
	browser.Eval[bool](&p.Document, "("+frame+".old = true)")
	if claimed := harness.TryClaim(t, e.member, provisioned.ClaimToken); claimed.Status != http.StatusOK {
		t.Fatalf("the claim answers %d %s", claimed.Status, claimed.Body)
	}
	p.Wait(frame + " && !" + frame + ".old") // the page has heard of it
	p.Wait(`document.querySelector('[data-part="unclaimed"]').hidden`)
	p.Frame(e.host(a.ArtifactID)).WaitText("2 2 2 worker-json json refused /")
	p.Go(harness.ShareURL(t, e.agent, a.ArtifactID))
	p.Frame(e.host(a.ArtifactID)).WaitText("3 3 3 worker-json json refused /")
	p.Go(harness.ShareURL(t, e.agent, other.ArtifactID))
	p.Frame(e.host(other.ArtifactID)).WaitText("1 1 1 worker-json json refused /")
}
