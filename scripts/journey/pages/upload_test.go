package pages

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
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

// TestTheWorkerComputesWhatTheBrowserDoes compares digests of files around the sizes of blocks and slices.
func TestTheWorkerComputesWhatTheBrowserDoes(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	p := publisher(t, d, "tony@example.org")
	wrong := browser.Eval[string](&p.Document, `(async () => {
		const worker = new Worker(document.querySelector('[data-part="upload"]').dataset.worker);
		const hex = (b) => Array.from(new Uint8Array(b), (n) => n.toString(16).padStart(2, "0")).join("");
		const wrong = [];
		const slice = 1 << 20;
		for (const size of [0, 1, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000, slice - 1, slice, slice + 1, 3_333_333]) {
			const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 31 + (i >> 8)) % 256);
			const want = hex(await crypto.subtle.digest("SHA-256", bytes));
			const got = await new Promise((done) => {
				worker.onmessage = ({ data }) => data.sha256 && done(data.sha256);
				worker.postMessage({ id: 0, file: new File([bytes], "x") });
			});
			if (got !== want) wrong.push(size);
		}
		return wrong.join();
	})()`)
	if wrong != "" {
		t.Errorf("other digests of files of %s bytes", wrong)
	}
	p.Clean()
}

// wantSame expects that a module of the page that publishes finds in a corpus what Go finds. find is an expression over
// corpus and module for what it finds otherwise, as texts.
func wantSame(t *testing.T, email, corpus, module, find string) {
	t.Helper()
	p := publisher(t, harness.NewEnv(t, harness.Unlimited), email)
	text, err := os.ReadFile("../../../shared/publishing/" + corpus)
	harness.NoError(t, err)
	wrong := browser.Eval[string](&p.Document, `(async () => {
		const corpus = `+string(text)+`;
		const { worker, upload } = document.querySelector('[data-part="upload"]').dataset;
		const module = await import(worker.replace("sha256.js", "`+module+`"));
		return (await (`+find+`)).join(", ");
	})()`)
	if wrong != "" {
		t.Errorf("finds otherwise: %s", wrong)
	}
	p.Clean()
}

// TestThePageJudgesNamesLikeTheCommandLine judges the names that the rules in Go are tested with.
func TestThePageJudgesNamesLikeTheCommandLine(t *testing.T) {
	t.Parallel()
	wantSame(t, "john@example.org", "leftout/testdata/names.json", "choose.js", `(() => {
		const judge = new module.Judge(JSON.parse(upload).rules);
		return Object.entries(corpus).flatMap(([kind, paths]) => paths.filter((path) => judge.kind(path) !== kind));
	})()`)
}

// TestThePageFindsTitlesLikeTheCommandLine reads the pages that titles in Go are tested with.
func TestThePageFindsTitlesLikeTheCommandLine(t *testing.T) {
	t.Parallel()
	wantSame(t, "grace@example.org", "lint/testdata/titles.json", "title.js", `(async () => {
		const wrong = [];
		for (const { path, body, title } of corpus) {
			const got = await module.titleOf(path, new Blob([body]));
			if (got !== title) wrong.push(path + " " + body + ": " + got);
		}
		return wrong;
	})()`)
}
