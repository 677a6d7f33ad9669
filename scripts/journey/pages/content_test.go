package pages

import (
	"regexp"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/disk"
	"vitrine/scripts/testkit/wire"
)

// folderOf writes files to a new folder.
func folderOf(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	disk.Write(t, folder, files)
	return folder
}

var linkForm = regexp.MustCompile(`http://localhost:\d+/al/\S+#\S+`)

func TestAPersonOpensWhatTheCommandPublished(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t)
	folder := folderOf(t, map[string]string{
		"index.html": `<!doctype html><meta charset="utf-8"><title>Tides</title><link rel="stylesheet" href="css/style.css">
			<h1>Tides of the week</h1><img src="chart.svg" alt="chart" width="400" height="160">`,
		"css/style.css": `body { font-family: sans-serif; margin: 3rem } h1 { color: rgb(10, 90, 80) }`,
		"chart.svg":     `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 80"><path d="M0 60 Q50 0 100 40 T200 20" fill="none" stroke="teal" stroke-width="4"/></svg>`,
	})
	out, _ := newTerminal(t, d).run(t, 0, "", "publish", folder, "--ephemeral", "--title", "Tide tables")
	link := linkForm.FindString(out)
	if link == "" {
		t.Fatalf("no link in %q", out)
	}
	p := browser.Open(t)
	p.Before(listens)
	p.Go(link)
	p.WaitText("Tide tables")
	frame := p.Frame(d.Origins.Content)
	frame.WaitText("Tides of the week")
	frame.Wait(`getComputedStyle(document.querySelector("h1")).color === "rgb(10, 90, 80)"`) // the text comes first
	frame.Wait(`document.querySelector("img").naturalWidth > 0`)
	p.Wait(heard) // after that the page knows whether there are scripts
	if p.Visible(`[data-part="unclaimed"]`) {
		t.Error("the page tells of scripts, and there are none")
	}
	p.Screenshot("journey-viewer")
	p.Clean()
	frame.Clean()
}

// heard is an expression for the page: the frame told how tall it is.
const heard = `window.told`

// listens makes the page note what its frame tells.
const listens = `addEventListener("message", e => { window.told ||= e.data.type === "vitrine:viewer-height" && "scripts" in e.data })`

// TestTheNoteAboutScriptsCountsWhatWouldRun looks at what the reporter of the content host calls a script.
func TestTheNoteAboutScriptsCountsWhatWouldRun(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	agent, p := d.NewAgent(t), browser.Open(t)
	p.Before(listens)
	for name, tt := range map[string]struct {
		page  string
		wants bool
	}{
		"a classic script":   {`<script src="a.js"></script>`, true},
		"an empty type":      {`<script type="">1</script>`, true},
		"a module":           {`<script type="module">1</script>`, true},
		"another case":       {`<SCRIPT TYPE="Text/JavaScript">1</SCRIPT>`, true},
		"a script in SVG":    {`<svg><script>1</script></svg>`, true},
		"an event handler":   {`<button onclick="go()">Go</button>`, true},
		"a javascript: link": {`<a href="JavaScript:go()">Go</a>`, true},
		"nothing":            {`<p>words about onclick and &lt;script&gt;</p>`, false},
		"data":               {`<script type="application/ld+json">{}</script><script type="text/plain">x</script>`, false},
		"an import map":      {`<script type="importmap">{}</script>`, false},
		"a clobbered name":   {`<form name="querySelector"></form><form name="currentScript"></form><form name="title"></form><p>still tells its height</p>`, false},
	} {
		file := wire.File{Path: "index.html", Body: []byte("<!doctype html><title>x</title><h1>Page</h1>" + tt.page)}
		p.Go("about:blank")
		p.Go(harness.Must(agent.PublishFiles(ctx, name, "", file))(t).UnlistedURL)
		p.Frame(d.Origins.Content).WaitText("Page")
		p.Wait(heard)
		if got := p.Visible(`[data-part="unclaimed"]`); got != tt.wants {
			t.Errorf("%s: the note shows: %v", name, got)
		}
	}
}

func TestT58ScriptsOfAnUnclaimedArtifactDoNotRun(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t)
	made := harness.Must(d.NewAgent(t).PublishFiles(ctx, "Tides", "", interactive))(t)
	p := browser.Open(t)
	p.Go(made.UnlistedURL)
	frame := p.Frame(d.Origins.Content)
	frame.WaitText("scripts are off")
	frame.WaitViolation("script")
	p.WaitText("Somebody without an account made this page.")
	p.Click(`[data-part="run"]`)
	p.Wait(`document.querySelector("iframe")?.getAttribute("sandbox").includes("allow-modals")`)
	p.Frame(d.Origins.Content).WaitText("scripts ran")
	p.Go(browser.Eval[string](&p.Document, `document.querySelector("iframe").src`))
	p.WaitText("scripts are off") // the reader's wish is for the viewer alone
	p.WaitViolation("script")
}
