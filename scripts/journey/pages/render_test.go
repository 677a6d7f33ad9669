package pages

import (
	"os"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/fault"
)

// report are files that browsers show as bytes or not at all.
var report = []wire.File{
	{Path: "README.md", Body: []byte("# Tides\n\nSee the [table](data/tides.csv) and ![a chart](chart.svg).\n\n<script>document.title='ran'</script>\n")},
	{Path: "data/tides.csv", Body: []byte("place,height\nBrest,7.1\nDover,6.5\n")},
	{Path: "chart.svg", Body: []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><rect width="40" height="20"/></svg>`)},
}

func TestMarkdownIsShownInTheViewers(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	agent := d.NewAgent(t)
	made := harness.Must(agent.PublishFiles(ctx, "Tides", "", report...))(t)
	p := browser.Open(t)
	p.Go(made.UnlistedURL)
	frame := p.Frame(d.Origins.Content)
	frame.WaitText("See the table")
	frame.Wait(`document.images[0].naturalWidth === 40 && document.title === "README.md"`)
	p.Screenshot("journey-rendered")
	source := browser.Eval[string](&p.Document, `document.querySelector("iframe").src`)
	if !strings.HasPrefix(source, d.Origins.Content+"/r/") {
		t.Errorf("the viewer frames %s", source)
	}
	frame.Clean()
	frame.Click(`main a[href$="tides.csv"]`)
	p.Frame(d.Origins.Content).WaitText("2 rows, 2 columns")
	p.Screenshot("journey-rendered-table")
	p.Clean()

	view := harness.Must(agent.AgentView(ctx, made.ArtifactID))(t)
	harness.DeleteArtifact(t, agent, made.ArtifactID)
	for _, target := range []string{source, view.RenderedURL, view.TextURL} {
		harness.WantRefused(t, d.Get(t, target), 404, fault.NotFound)
	}
}

// The programs come from the app host, across sites, into frames that have no origin.
func TestDiagramsAndDocumentsAreDrawnInTheViewers(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	agent := d.NewAgent(t)
	document := harness.Must(os.ReadFile("../../../functions/render/testdata/specimens/report.pdf"))(t)
	for name, c := range map[string]struct {
		file  wire.File
		drawn string
	}{
		"flow": {
			wire.File{Path: "flow.md", Body: []byte("# Flow\n\n```mermaid\nflowchart LR\n  A[Ebb] --> B[Flood]\n```\n")},
			`document.querySelector("figure > img")?.naturalWidth > 100`,
		},
		"document": {
			wire.File{Path: "report.pdf", Body: document},
			`document.querySelector(".v-text")?.textContent.includes("Seals of the bay")`,
		},
	} {
		made := harness.Must(agent.PublishFiles(ctx, name, "", c.file))(t)
		p := browser.Open(t)
		p.Go(made.UnlistedURL)
		frame := p.Frame(d.Origins.Content)
		frame.Wait(c.drawn)
		p.Screenshot("journey-drawn-" + name)
		frame.Clean()
		p.Clean()
	}
}

func TestViewsNameThePagesAndTheTextsOfFiles(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	agent := d.NewAgent(t)
	made := harness.Must(agent.PublishFiles(ctx, "Tides", "", report...))(t)
	view := harness.Must(agent.AgentView(ctx, made.ArtifactID))(t)
	for _, f := range view.Files {
		wantText := f.Path != "chart.svg"
		if f.RenderedURL == "" || (f.TextURL != "") != wantText {
			t.Errorf("%s: %q, %q", f.Path, f.RenderedURL, f.TextURL)
		}
		if a := d.Get(t, f.RenderedURL); a.Status != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %d %v", f.RenderedURL, a.Status, a.Header)
		}
	}
	if view.RenderedURL != view.Files[0].RenderedURL || view.TextURL != view.Files[0].TextURL {
		t.Errorf("the view names %s and %s", view.RenderedURL, view.TextURL)
	}
	if a := d.Get(t, view.Files[1].TextURL); string(a.Body) != "place\theight\nBrest\t7.1\nDover\t6.5\n" {
		t.Errorf("the text of the table is %q", a.Body)
	}
	if a := d.Get(t, strings.TrimSuffix(view.RenderedURL, "/README.md")); !strings.Contains(string(a.Body), "data/</a>") {
		t.Errorf("the files are not listed: %d %.300s", a.Status, a.Body)
	}
	page := harness.Must(agent.PublishFiles(ctx, "Page", "", harness.Page("x")))(t)
	if own := harness.Must(agent.AgentView(ctx, page.ArtifactID))(t); own.RenderedURL != "" ||
		own.Files[0].RenderedURL != "" {
		t.Errorf("HTML has a page of ours: %+v", own)
	}
}
