package pages

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// interactive is a page that shows whether its scripts run, and is taller than any window.
var interactive = wire.File{Path: "index.html", Body: []byte(`<!doctype html><meta charset="utf-8"><title>Tides</title>
	<p id="said">scripts are off</p><button id="add">0</button><div style="height:1800px"></div>
	<script>
		document.getElementById("said").textContent = "scripts ran"
		const add = document.getElementById("add")
		add.onclick = () => add.textContent++
	</script>`)}

// publishAsMember publishes as an agent and claims it as a person who is signed in.
func publishAsMember(t *testing.T, d *harness.Env, email string, f ...wire.File) (*browser.Page, contract.Published) {
	t.Helper()
	agent, provisioned, err := d.Anyone.Provision(ctx)
	harness.NoError(t, err)
	made := harness.Must(agent.PublishFiles(ctx, "Tide tables", "", f...))(t)
	p := browser.Open(t)
	p.Go(d.Origins.App + "/claim#" + provisioned.ClaimToken)
	p.WaitText("kept in this tab")
	p.Click(`main a[href^="/api/auth/sign-in"]`)
	p.SignIn(email)
	p.WaitText("Tide tables")
	p.Click(`form[action="/claim/confirm"] button`)
	p.WaitText("One artifact is yours now.")
	return p, made
}

func TestScriptsOfAClaimedArtifactRunInTheViewerAlone(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	app, content := harness.Must(url.Parse(d.Origins.App))(t), harness.Must(url.Parse(d.Origins.Content))(t)
	if app.Hostname() == content.Hostname() {
		t.Fatalf("app and content are one site: %s, %s", app, content)
	}
	p, made := publishAsMember(t, d, "ada@example.org", interactive)
	p.Go(d.Origins.App + "/v/" + string(made.ArtifactID))
	frame := p.Frame(d.Origins.Content)
	frame.WaitText("scripts ran")
	browser.Eval[bool](frame, `(document.getElementById("add").click(), true)`)
	frame.Wait(`document.getElementById("add").textContent === "1" && self.origin === "null"`)
	p.Wait(`document.querySelector("iframe").clientHeight > 1800`) // the frame told its height
	p.Screenshot("journey-private-viewer")
	frame.Clean()
	p.Clean()

	source := browser.Eval[string](&p.Document, `document.querySelector("iframe").src`)
	alone := browser.Open(t)
	alone.Go(source)
	alone.WaitText("scripts are off")
	alone.WaitViolation("script")
}

func TestAPersonSharesOpensAndRevokesInThePage(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	p, made := publishAsMember(t, d, "ada@example.org", interactive)
	p.Go(d.Origins.App + "/artifacts/" + string(made.ArtifactID))
	p.WaitText("Tide tables")
	for p.Visible(`a[href$="/revoke"]`) { // what the agent was given to hand on
		p.Follow(`a[href$="/revoke"]`, "Revoke this link?")
		p.Follow(".card button", "Who can see it")
	}
	p.WaitText("Private")
	p.Follow(`form[action$="/unlisted"] button`, "Anyone who has this link")
	link := p.Text("#secret")
	if !linkForm.MatchString(link) {
		t.Fatalf("the page shows %q", link)
	}
	other := browser.Open(t)
	other.Go(link)
	frame := other.Frame(d.Origins.Content)
	frame.WaitText("scripts ran")
	source := browser.Eval[string](&other.Document, `document.querySelector("iframe").src`)
	other.Clean()

	p.Go(d.Origins.App + "/artifacts/" + string(made.ArtifactID))
	p.WaitText("Unlisted")
	p.Screenshot("journey-shared")
	p.Follow(`a[href$="/revoke"]`, "Revoke this link?")
	p.Follow(".card button", "Who can see it")
	other.Go("about:blank")
	other.Go(link)
	other.WaitText("This link opens nothing")
	revoked := other.Text("main")
	other.Go("about:blank")
	other.Go(d.Origins.App + "/al/" + string(id.NewPublic()) + "#" + strings.SplitN(link, "#", 2)[1])
	other.WaitText("This link opens nothing")
	if unknown := other.Text("main"); unknown != revoked {
		t.Errorf("a revoked link shows %q, an unknown one %q", revoked, unknown)
	}
	harness.WantRefused(t, d.Get(t, source), 404, fault.NotFound)

	p.Follow(`form[action$="/unlisted"] button`, "Anyone who has this link")
	if fresh := p.Text("#secret"); fresh == link {
		t.Error("the revoked link is back")
	}
	p.Go(d.Origins.App + "/artifacts/" + string(made.ArtifactID) + "/delete")
	p.Follow(".card button", "Everything that")
	p.Go(d.Origins.App + "/v/" + string(made.ArtifactID))
	p.WaitText("Nothing on show here")
}

func TestALinkIsReadWithoutScripts(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	made := harness.Must(d.NewAgent(t).PublishFiles(ctx, "Tide tables", "", interactive))(t)
	page, _, _ := strings.Cut(made.UnlistedURL, "#")
	p := browser.Open(t)
	p.NoScripts()
	p.Go(made.UnlistedURL)
	p.WaitText("Open it without scripts")
	p.Do(chromedp.SendKeys(chromedp.CSS("#pasted"), made.UnlistedURL))
	p.Click("form button")
	p.WaitText("Tide tables")
	p.Frame(d.Origins.Content).WaitText("scripts are off")
	if at := browser.Eval[string](&p.Document, "location.href"); at != page {
		t.Errorf("the page is at %s", at)
	}
	p.Clean()
}

// TestAnAddressLeadsToAPlaceInTheArtifact follows a link inside an artifact as a guest and as a member, and loads the
// page again.
func TestAnAddressLeadsToAPlaceInTheArtifact(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	file := func(path, body string) wire.File {
		return wire.File{Path: path, Body: []byte("<!doctype html><html><head><title>" + path + "</title></head><body>" + body)}
	}
	p, made := publishAsMember(t, d, "ada@example.org", file("index.html", `<a href="two.html#sea">two</a>`),
		file("two.html", `<p>the second page</p><p style="height:3000px"></p><h2 id="sea">Sea</h2><p style="height:3000px">`),
		wire.File{Path: "log.txt", Body: []byte("first line\nsecond line\n")})
	for _, start := range []string{made.UnlistedURL, d.Origins.App + "/v/" + string(made.ArtifactID)} {
		p.Go("about:blank")
		p.Go(start)
		p.Frame("/index.html").Click("a")
		p.Frame("/two.html").WaitText("the second page")
		p.Wait(`location.search === "?at=two.html%23sea" && document.title.startsWith("two.html · ")`)
		p.Reload()
		f := p.Frame("/two.html")
		f.WaitText("the second page")
		if got := browser.Eval[string](f, "location.hash"); got != "#sea" {
			t.Errorf("%s: the reload leads to %q", start, got)
		}
		p.Wait("scrollY > 2800")
		at, secret, _ := strings.Cut(start, "#")
		p.Go("about:blank")
		p.Go(at + "?at=log.txt#" + secret)
		f = p.Frame("/log.txt") // a page of ours, which shows it
		f.WaitText("second line")
		browser.Eval[bool](f, `(location.hash = "L2", true)`)
		p.Wait(`location.search === "?at=log.txt%23L2"`)
	}
}

// TestALinkLeadsToWhatAPageAddsBelow follows a link to the end of a page that grows with the click.
func TestALinkLeadsToWhatAPageAddsBelow(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	p, made := publishAsMember(t, d, "ada@example.org", wire.File{Path: "index.html", Body: []byte(`<!doctype html>
<a href="#sea">down</a><p style="height:3000px"></p><h2 id="sea">Sea</h2><p id="below"></p><script>
document.querySelector("a").onclick = () => setTimeout(() => { below.style.height = "3000px" }, 300)
</script>`)})
	p.Go(made.UnlistedURL)
	p.Frame("/index.html").Click("a")
	p.Wait("scrollY > 2800 && document.body.scrollHeight > 6000")
}

// TestTheFrameLetsAPageDoWhatPeopleClickFor asks a question, copies a text and fills the screen.
func TestTheFrameLetsAPageDoWhatPeopleClickFor(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	p, made := publishAsMember(t, d, "ada@example.org", wire.File{Path: "index.html", Body: []byte(`<!doctype html>
<button id="ask">ask</button> <button id="copy">copy</button> <button id="fill">fill</button> <p id="said">so far:</p><script>
const tell = (text) => said.textContent += " " + text
ask.onclick = () => setTimeout(() => tell(confirm("Sure?") ? "asked" : "unasked"))
copy.onclick = () => navigator.clipboard.writeText("tide").then(() => tell("copied"), tell)
fill.onclick = () => document.body.requestFullscreen().then(() => tell("full"), tell)
</script>`)})
	p.Go(made.UnlistedURL)
	f := p.Frame("/index.html")
	f.Click("#ask")
	p.Accept()
	f.WaitText("so far: asked")
	f.Click("#copy")
	f.WaitText("so far: asked copied")
	f.Click("#fill")
	f.WaitText("so far: asked copied full")
}
