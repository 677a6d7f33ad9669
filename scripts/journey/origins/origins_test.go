package origins

import (
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/wire"
)

// status asks for a file in a document and returns the status.
const status = `fetch("/data.json").then(r => r.status)`

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
	p.Click(`[data-part="older"]`)
	p.Wait(`!document.querySelector(".coming")`)
	d = p.Frame("/v/")
	d.WaitText("the first")
	d.WaitText("nothing kept null")
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

// withoutCookie has frames arrive where an opening leads, as if the browser had not kept its cookie.
const withoutCookie = `
const { set, get } = Object.getOwnPropertyDescriptor(HTMLIFrameElement.prototype, "src")
Object.defineProperty(HTMLIFrameElement.prototype, "src", {
	get,
	set(url) { set.call(this, url.replace(/\.vitrine\/open\/[^/]+/, ".vitrine/ready")) },
})`

func TestABrowserWithoutCookiesOpensTheOriginByToken(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	a := e.publish(t, "", wire.File{Path: "index.html", Body: []byte(
		`<!doctype html><body><script src="part.js"></script><script>
document.body.append(" ", typeof localStorage, " ", location.pathname.slice(0, 12))</script>`)}, wire.File{Path: "part.js", Body: []byte(`document.body.append(origin)`)})
	p := browser.Open(t)
	p.Before(withoutCookie)
	p.Go(harness.ShareURL(t, e.agent, a.ArtifactID))
	p.Wait(`document.querySelector("iframe")?.src.includes("/.vitrine/t/")`)
	p.Frame(e.host(a.ArtifactID) + "/.vitrine/t/").WaitText(e.Origins.Of(a.ArtifactID) + " object /.vitrine/t/")
}
