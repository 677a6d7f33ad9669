package pages

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/expect"
)

// The parts of the page that publishes.
const (
	uploadZone    = `[data-part="zone"]`
	uploadFiles   = `[data-part="choose-files"] + input`
	uploadFolder  = `[data-part="choose-folder"] + input`
	publishButton = `[data-part="publish"]`
	againButton   = `[data-part="again"]`
	pauseButton   = `[data-part="pause"]`
)

// publisher opens the overview of a new member.
func publisher(t *testing.T, d *harness.Env, email string) *browser.Page {
	t.Helper()
	p := browser.Open(t)
	p.Go(d.Origins.App + "/dashboard")
	p.SignIn(email)
	p.WaitText("Drop files or a folder here")
	return p
}

// writeFolder makes a folder of files by path.
func writeFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tides")
	for name, body := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o755)
		if err == nil {
			err = os.WriteFile(path, []byte(body), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// wantAccessible expects a page that axe finds nothing in and that fits into the window.
func wantAccessible(t *testing.T, p *browser.Page) {
	t.Helper()
	for _, v := range p.Axe() {
		t.Error(v)
	}
	if wide := browser.Eval[int](&p.Document, "document.documentElement.scrollWidth - innerWidth"); wide > 0 {
		t.Errorf("the page is %d pixels wider than the window", wide)
	}
}

func TestAFolderIsPublishedFromABrowserThatLosesItsConnection(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	large := make([]byte, 3<<20)
	rand.Read(large)
	files := map[string]string{
		"index.html": "<!doctype html><title>Tides</title><img src=missing.png>", "data/large.bin": string(large),
		"empty.txt": "", ".env": "SECRET=1", ".git/config": "x", "node_modules/a/index.js": "x", ".DS_Store": "x",
	}
	for n := range 20 {
		files[fmt.Sprintf("pages/%d é+.html", n)] = fmt.Sprint("<p>", n)
	}
	p := publisher(t, d, "grace@example.org")
	p.Screenshot("upload-empty")
	p.Viewport(320, 640)
	wantAccessible(t, p)
	p.Screenshot("upload-empty-narrow")
	p.Drop(uploadZone, writeFolder(t, files))
	p.WaitText("23 files, 3.1 MB")
	if title := browser.Eval[string](&p.Document, `document.getElementById("upload-title").value`); title != "Tides" {
		t.Errorf("the title is %q", title)
	}
	for _, fold := range []string{"Files that will be published", "Left out"} {
		browser.Eval[bool](&p.Document, `[...document.querySelectorAll("summary")].find(s => s.textContent === "`+fold+
			`").parentElement.open = true`)
	}
	left := p.Text(`[data-part="left"]`)
	expect.Has(t, "what is left out", left, ".env: may contain a secret", ".git/: ", "node_modules/: ", ".DS_Store: ")
	wantAccessible(t, p)
	p.Screenshot("upload-plan-narrow")

	p.Upload(400_000)
	p.Click(publishButton)
	p.Wait(`document.querySelector('[data-part="bar"]').value > 300000`)
	p.Click(pauseButton)
	p.WaitText("Paused")
	wantAccessible(t, p)
	p.Click(pauseButton)
	p.WaitText("Sending the files")
	p.Upload(0)
	p.WaitText("Waiting for the network")
	p.Screenshot("upload-offline-narrow")
	p.Upload(-1)
	p.WaitText("What may not work")
	p.WaitText("missing.png")
	p.Frame(d.Origins.Content).Wait(`document.title === "Tides"`)
	if at := browser.Eval[string](&p.Document, "location.pathname"); !strings.HasPrefix(at, "/artifacts/art_") {
		t.Errorf("the page is %s", at)
	}
	p.WaitText("23 files")
	p.Viewport(1280, 800)
	p.Screenshot("upload-artifact")
	p.Go(d.Origins.App + "/dashboard")
	p.WaitText("Drop files or a folder here")
	wantAccessible(t, p)
	p.Screenshot("upload-overview")
}

func TestARevisionIsPublishedFromABrowserUnlessItChangesNothing(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	p := publisher(t, d, "alan@example.org")
	dir := writeFolder(t, map[string]string{"report.md": "# One", "two.md": "# Two"})
	p.Choose(uploadFiles, filepath.Join(dir, "report.md"))
	p.WaitText("1 file, 5 bytes")
	p.Click(publishButton)
	p.WaitText("Publish a new revision")
	p.Wait(`document.readyState === "complete"`) // or the page may still be taking its place
	p.Choose(uploadFiles, filepath.Join(dir, "report.md"))
	p.Click(publishButton)
	p.WaitText("Nothing changed")
	if strings.Contains(p.Text("main"), "Revision 2") {
		t.Error("a revision was made")
	}
	p.Choose(uploadFolder, dir)
	p.WaitText("2 files, 10 bytes")
	// The keyboard alone: from the plan, which has the focus, to its button.
	p.Wait(`document.activeElement.dataset.part === "plan"`)
	for range 4 {
		p.Press(kb.Tab)
	}
	p.Wait(`document.activeElement.dataset.part === "publish"`)
	p.Press(kb.Enter)
	p.WaitText("Revision 2")
	p.WaitText("the list of its files")
	p.Clean()
}

func TestPastesArePublishedFromABrowser(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	p := publisher(t, d, "edsger@example.org")
	paste := func(fill string) {
		browser.Eval[bool](&p.Document, `(() => {
			const data = new DataTransfer(); `+fill+`
			document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
			return true })()`)
	}
	const dot = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	paste(`const bytes = Uint8Array.from(atob("` + dot + `"), c => c.charCodeAt());
		data.items.add(new File([bytes], "image.png", { type: "image/png" }))`)
	p.WaitText("1 file, 70 bytes")
	p.Click(publishButton)
	p.WaitText("Pasted image")
	p.WaitText("image.png")
	p.Go(d.Origins.App + "/dashboard")
	p.WaitText("Drop files or a folder here")
	paste(`data.setData("text/plain", "<!doctype html><title>A page</title>")`)
	p.WaitText("1 file, 36 bytes")
	p.Click(publishButton)
	p.WaitText("A page")
	p.WaitText("index.html")
	p.Clean()
}

// spoilURLs makes S3 refuse the first uploads of a page, as it does when their URLs have expired.
const spoilURLs = `(() => {
	const { open } = XMLHttpRequest.prototype;
	let left = 3;
	XMLHttpRequest.prototype.open = function (method, url) {
		const other = (_, name, first) => name + (first === "0" ? "1" : "0");
		return open.call(this, method, left-- > 0 ? url.replace(/(X-Amz-Signature=)(.)/, other) : url);
	};
	return true })()`

func TestURLsThatExpiredAreRenewedAndAnUploadIsStopped(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	p := publisher(t, d, "ken@example.org")
	dir := writeFolder(t, map[string]string{
		"README.md": "# Read me", "a.txt": strings.Repeat("a", 300_000), "b.txt": "b",
	})
	p.Upload(50_000)
	p.Choose(uploadFolder, dir)
	p.Click(publishButton)
	p.WaitText("Sending the files")
	p.Click(`[data-part="sending"] [data-restart]`)
	p.WaitText("Drop files or a folder here")
	p.Upload(-1)
	browser.Eval[bool](&p.Document, spoilURLs)
	p.Choose(uploadFolder, dir)
	p.WaitText("3 files, 300 kB")
	p.Click(publishButton)
	p.WaitText("Publish a new revision")
	p.WaitText("README.md")
}

func TestTheLimitThatFilesPassIsNamedBeforeTheyAreSent(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	p := publisher(t, d, "barbara@example.org")
	large := filepath.Join(t.TempDir(), "large.bin")
	harness.NoError(t, os.WriteFile(large, nil, 0o600))
	harness.NoError(t, os.Truncate(large, 5<<30))
	p.Choose(uploadFiles, large)
	p.WaitText("“large.bin” has 5,368,709,120 bytes; a file may have ")
	p.Wait(`document.querySelector('[data-part="publish"]').disabled`)
	p.Clean()
}

func TestWithoutScriptsThePageNamesTheCommand(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	p := publisher(t, d, "niklaus@example.org")
	p.NoScripts()
	p.Reload()
	p.WaitText("vitrine publish ./report")
	if p.Visible(uploadZone) {
		t.Error("the page shows what does not work")
	}
}

func TestFilesThatHoldSecretsAreLeftOutBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	p := publisher(t, d, "margaret@example.org")
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("Ab+/", 16) + "\n-----END PRIVATE KEY-----\n"
	dir := writeFolder(t, map[string]string{
		"index.html": "<title>Apollo</title>", "notes.txt": key, "keys/large.txt": strings.Repeat(".", 1<<20-30) + key,
		"a.log": "x", ".gitignore": "*.log\nout/\n", "out/a.html": "x", "out/b.html": "x",
	})
	p.Choose(uploadFolder, dir)
	p.WaitText("4 files, 1 MB")
	p.Fill("#upload-title", "Moon")
	p.Click(publishButton)
	p.WaitText("Files that hold a secret are left out now.")
	p.WaitText("2 files, 32 bytes")
	expect.Has(t, "what is left out", p.Text(`[data-part="left"]`), "a.log: excluded by .gitignore",
		"out/: excluded by .gitignore", "notes.txt: holds a private key", "keys/large.txt: holds a private key")
	if sent := browser.Eval[int](&p.Document, `performance.getEntriesByType("resource").
		filter(({ name }) => name.includes("upload-sessions")).length`); sent > 0 {
		t.Errorf("sent %d requests", sent)
	}
	p.Viewport(320, 900)
	wantAccessible(t, p)
	p.Screenshot("upload-secrets-narrow")
	p.Click(publishButton)
	p.WaitText("Publish a new revision")
	p.WaitText("Moon")
	p.WaitText("2 files")
	p.Choose(uploadFiles, filepath.Join(dir, "notes.txt"))
	p.WaitText("1 file, ")
	p.Click(publishButton)
	p.WaitText("“notes.txt” is to open first, but it is not published, because it holds a private key.")
	p.Wait(`document.querySelector('[data-part="publish"]').disabled`)
	p.Choose(uploadFiles, filepath.Join(dir, "notes.txt"), filepath.Join(dir, "keys/large.txt"))
	p.WaitText("2 files, ")
	p.Click(publishButton)
	p.WaitText("There is nothing to publish")
	p.Clean()
}

func TestIgnoreFilesThatDoNotApplyAreSaid(t *testing.T) {
	t.Parallel()
	p := publisher(t, harness.NewEnv(t, harness.Unlimited), "dennis@example.org")
	p.Choose(uploadFolder, writeFolder(t, map[string]string{".gitignore": "*", "index.html": "x"}))
	p.WaitText(".gitignore was not applied, because it excludes “index.html”.")
	p.WaitText("2 files, 2 bytes")
	browser.Eval[bool](&p.Document, `Boolean(Blob.prototype.text = () => Promise.reject(new Error("gone")))`)
	p.Click(`[data-part="plan"] [data-restart]`)
	p.Choose(uploadFolder, writeFolder(t, map[string]string{".gitignore": "*", "index.html": "x"}))
	p.WaitText("The files cannot be read. Choose them again.")
	p.Clean()
}

// loseStorage lets S3 be gone once it has stored a file, and does not wait between attempts. It records sessions and
// what S3 has stored.
const loseStorage = `(() => {
	const { fetch, setTimeout: later } = window;
	window.setTimeout = (act, time) => later(act, time < 60_000 ? 0 : time);
	window.fetch = async (path, request) => {
		const answer = await fetch(path, request);
		if (path.endsWith("/upload-sessions")) record("sessions", (await answer.clone().json()).upload_session_id);
		return answer;
	};
	const record = (what, entry) => sessionStorage[what] = (sessionStorage[what] ?? "") + entry + " ";
	const { open, send } = XMLHttpRequest.prototype;
	const stored = Promise.withResolvers();
	let first;
	window.gone = true;
	XMLHttpRequest.prototype.open = function (method, url) {
		first ??= this;
		this.addEventListener("load", () => { record("stored", new URL(url).pathname); stored.resolve(); });
		return open.call(this, method, gone && this !== first ? "/gone" : url);
	};
	XMLHttpRequest.prototype.send = async function (body) {
		if (this !== first) await stored.promise;
		if (gone && this !== first) this.dispatchEvent(new Event("error"));
		else send.call(this, body);
	};
	return true })()`

func TestAnUploadThatFailedIsTriedAgain(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	p := publisher(t, d, "frances@example.org")
	browser.Eval[bool](&p.Document, loseStorage)
	p.Choose(uploadFolder, writeFolder(t, map[string]string{"index.html": "1", "b.txt": "2", "c.txt": "3"}))
	p.WaitText("3 files, 3 bytes")
	p.Click(publishButton)
	p.WaitText("could not be sent.")
	p.Wait(`document.activeElement.dataset.part === "again"`)
	recorded := func(what string) []string {
		return strings.Fields(browser.Eval[string](&p.Document, "sessionStorage."+what))
	}
	if stored := recorded("stored"); len(stored) != 1 {
		t.Errorf("stored %q before", stored)
	}
	wantAccessible(t, p)
	browser.Eval[bool](&p.Document, "!(gone = false)")
	p.Click(againButton)
	p.WaitText("Publish a new revision")
	stored, sessions := recorded("stored"), recorded("sessions")
	slices.Sort(stored)
	if len(stored) != 3 || len(slices.Compact(stored)) != 3 {
		t.Errorf("stored %q", stored)
	}
	if len(sessions) != 2 || sessions[0] != sessions[1] {
		t.Errorf("sessions %q", sessions)
	}
	p.Go(d.Origins.App + "/artifacts")
	p.WaitText("tides")
	if made := browser.Eval[int](&p.Document, `new Set(Array.from(document.querySelectorAll("main a"), (a) => a.pathname).
		filter((path) => path.startsWith("/artifacts/art_"))).size`); made != 1 {
		t.Errorf("%d artifacts", made)
	}
}
