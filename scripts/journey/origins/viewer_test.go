package origins

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/id"
)

func TestAnUnclaimedArtifactHasAnOriginOnceAReaderAsksForItsScripts(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	anonymous := e.NewAgent(t)
	a := harness.Must(anonymous.PublishFiles(ctx, "App", "", app...))(t)
	p := browser.Open(t)
	p.Go(a.UnlistedURL)
	p.Frame("/v/")
	p.Wait(`!document.querySelector('[data-part="unclaimed"]').hidden`)
	if browser.Eval[bool](&p.Document, `document.querySelector("iframe").sandbox.contains("allow-same-origin")`) {
		t.Error("a frame at the shared origin is not sealed")
	}
	p.Click(`[data-part="run"]`)
	p.Frame(e.host(a.ArtifactID)).WaitText("1 1 1 worker-json json refused /")
}

func TestAMemberSeesTheArtifactAtItsOrigin(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first := e.publish(t, "", app...)
	p := browser.Open(t)
	p.Go(e.Origins.App + "/v/" + string(first.ArtifactID))
	p.SignIn("ada@example.org")
	p.Frame(e.host(first.ArtifactID)).WaitText("1 1 1 worker-json json refused /")
	p.Wait(`document.querySelector("iframe").sandbox.contains("allow-same-origin")`)
	p.Clean()
	e.publish(t, first.ArtifactID, wire.File{Path: "index.html", Body: []byte("<!doctype html><p>the second")})
	p.Go(e.Origins.App + "/v/" + string(first.ArtifactID) + "?revision=" + string(first.RevisionID))
	p.Frame("/v/")
	if browser.Eval[bool](&p.Document, `document.querySelector("iframe").sandbox.contains("allow-same-origin")`) {
		t.Error("an older revision is not sealed at the shared origin")
	}
}

// TestAMemberSaysThatFilesAreAnApp publishes a page in the browser that does not look like an app.
func TestAMemberSaysThatFilesAreAnApp(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	page := filepath.Join(t.TempDir(), "page.html")
	const tides = "<!doctype html><title>Tides</title><script>document.write(location.pathname)</script>"
	expect.OK(t, os.WriteFile(page, []byte(tides), 0o600))
	p := browser.Open(t)
	p.Go(e.Origins.App + "/dashboard")
	p.SignIn("grace@example.org")
	p.WaitText("Drop files or a folder here")
	p.Choose(`[data-part="choose-files"] + input`, page)
	p.WaitText("Addresses that are no file")
	browser.Eval[bool](&p.Document, `(document.getElementById("upload-app").value = "true", true)`)
	p.Click(`[data-part="publish"]`)
	p.Wait(`location.pathname.startsWith("/artifacts/")`)
	made := id.Artifact(strings.TrimPrefix(browser.Eval[string](&p.Document, "location.pathname"), "/artifacts/"))
	p.Go(e.Origins.App + "/v/" + string(made) + "?at=ports/7")
	p.Frame(e.host(made)).WaitText("/ports/7")
}

// TestNothingOfAnArtifactOpensElsewhere tries, from the page of one artifact, what reaches another one of the same reader
// where browsers let it.
func TestNothingOfAnArtifactOpensElsewhere(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	secret := e.publish(t, "", wire.File{
		Path: "index.html", Body: []byte(`<!doctype html><title>Secret</title><script>localStorage.secret = "told"</script><p>the secret`),
	}, wire.File{Path: "data.json", Body: []byte(`{"data":"json"}`)})
	hostile := e.publish(t, "", wire.File{Path: "index.html", Body: []byte(`<!doctype html><p>hostile <script>document.write(origin)</script>`)})
	p := browser.Open(t)
	p.Go(harness.ShareURL(t, e.agent, secret.ArtifactID))
	p.Frame(e.host(secret.ArtifactID)).WaitText("the secret")
	token := tokenOf(p)
	p.Go(harness.ShareURL(t, e.agent, hostile.ArtifactID))
	d := p.Frame(e.host(hostile.ArtifactID))
	d.WaitText("hostile")
	own := e.Origins.Of(secret.ArtifactID)
	for name, script := range map[string]string{
		"its files":           `fetch("` + own + `/data.json", {credentials: "include"}).then(r => r.text(), () => "refused")`,
		"its files, unread":   `fetch("` + own + `/data.json", {credentials: "include", mode: "no-cors"}).then(() => "answered", () => "refused")`,
		"its storage":         `Promise.resolve(localStorage.secret ?? "refused")`,
		"its databases":       `indexedDB.databases().then(all => all.length ? "found" : "refused")`,
		"its caches":          `caches.keys().then(all => all.length ? "found" : "refused")`,
		"the page around":     `new Promise(done => { try { done(parent.document.title) } catch { done("refused") } })`,
		"the page's storage":  `new Promise(done => { try { done(top.localStorage.length + "") } catch { done("refused") } })`,
		"its token elsewhere": `fetch("/.vitrine/t/` + token + `/index.html").then(r => r.status === 404 ? "refused" : r.text())`,
	} {
		if got := browser.Eval[string](d, script); got != "refused" {
			t.Errorf("%s: %s", name, got)
		}
	}
	// A frame of the other artifact is blocked by the policies of both.
	browser.Eval[bool](d, `(document.body.append(Object.assign(document.createElement("iframe"), {src: "`+own+`/.vitrine/open/`+
		token+`/index.html"})), true)`)
	d.WaitViolation("frame-src")
	browser.Eval[bool](d, `(location.href = "`+hostile.RevisionContentURL+`", true)`)
	p.Frame("/v/").WaitText("hostile null") // sealed, although the frame is not
	p.Go(own + "/index.html")
	p.WaitText("not_found")
}
