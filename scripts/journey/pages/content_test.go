package pages

import (
	"regexp"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/disk"
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
	p.Go(link)
	p.WaitText("Tide tables")
	p.WaitText("scripts do not run")
	frame := p.Frame(d.Origins.Content)
	frame.WaitText("Tides of the week")
	frame.Wait(`getComputedStyle(document.querySelector("h1")).color === "rgb(10, 90, 80)"`) // the text comes first
	frame.Wait(`document.querySelector("img").naturalWidth > 0`)
	p.Screenshot("journey-viewer")
	p.Clean()
	frame.Clean()
}

func TestT58ScriptsOfAnUnclaimedArtifactDoNotRun(t *testing.T) {
	d := harness.NewEnv(t)
	out, _ := newTerminal(t, d).run(t, 0, "", "publish", folderOf(t, map[string]string{
		"index.html": `<!doctype html><p id="p">scripts are off</p><script>document.getElementById("p").textContent = "scripts ran"</script>`,
	}), "--ephemeral")
	p := browser.Open(t)
	p.Go(linkForm.FindString(out))
	frame := p.Frame(d.Origins.Content)
	frame.WaitText("scripts are off")
	frame.WaitViolation("script")
	p.Go(browser.Eval[string](&p.Document, `document.querySelector("iframe").src`))
	p.WaitText("scripts are off")
	p.WaitViolation("script")
}
