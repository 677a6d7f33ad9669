package publish

import (
	"net/http"
	"reflect"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

const faultyPage = `<!doctype html><html lang="en"><head><title>T</title><meta name="viewport" content="width=device-width">
<link rel="stylesheet" href="style.css"></head>
<img src="Chart.png" alt="x"><script src="https://a.example/x.js"></script>`

// faulty is an artifact with a page that names a missing file, one in other capitals and a script that is blocked.
var faulty = []wire.File{
	{Path: "index.html", Body: []byte(faultyPage)},
	{Path: "chart.png", Body: []byte("png")},
}

// codes are those of warnings with their lines.
func codes(warnings []contract.PageWarning) (out []string) {
	for _, w := range warnings {
		out = append(out, w.Code+":"+w.Path+":"+strings.Repeat("i", w.Line))
	}
	return out
}

func TestThePublisherLearnsWhatWillNotWork(t *testing.T) {
	t.Parallel()
	s := harness.NewEnv(t)
	g := s.NewAgent(t)
	u := harness.Must(g.Create(ctx, wire.NewKey(), wire.Declare("Faulty", faulty...)))(t)
	for n, target := range u.Files {
		harness.Must(g.Put(ctx, target, faulty[n].Body))(t)
	}
	key := wire.NewKey()
	draft := harness.Must(g.Finalize(ctx, key, u.UploadSessionID))(t)
	want := []string{"missing_file:index.html:ii", "wrong_case:index.html:iii", "script_blocked:index.html:iii",
		"script_unclaimed:index.html:iii"}
	if got := codes(draft.Warnings); !reflect.DeepEqual(got, want) || draft.WarningsOmitted != 0 {
		t.Errorf("finalize warns of %v and %d more, want %v", got, draft.WarningsOmitted, want)
	}
	for name, key := range map[string]string{"the same key": key, "another key": wire.NewKey()} {
		again := harness.Must(g.Finalize(ctx, key, u.UploadSessionID))(t)
		if !reflect.DeepEqual(again, draft) {
			t.Errorf("again with %s it answers %+v, first %+v", name, again, draft)
		}
	}
	published := harness.Must(g.Publish(ctx, wire.NewKey(), draft.ArtifactID, draft.RevisionID))(t)
	view := harness.Must(g.AgentView(ctx, draft.ArtifactID))(t)
	if !reflect.DeepEqual(view.PageWarnings, draft.Warnings) {
		t.Errorf("the view warns of %v", codes(view.PageWarnings))
	}
	resolved := harness.Must(s.Anyone.Resolve(ctx, published.UnlistedURL))(t)
	if len(resolved.AgentView.SafetyWarnings) > 0 {
		t.Errorf("holders of the link are warned of %v", resolved.AgentView.SafetyWarnings)
	}
	for name, answer := range map[string]wire.Answer{
		"the public view": harness.Must(s.Anyone.Do(ctx, http.MethodGet, published.AgentViewURL, nil))(t),
		"the publication": harness.TryPublish(t, g, wire.NewKey(), draft.ArtifactID, draft.RevisionID, nil),
	} {
		if answer.Status != http.StatusOK || strings.Contains(string(answer.Body), "arnings_") ||
			strings.Contains(string(answer.Body), "page_warnings") || strings.Contains(string(answer.Body), `"warnings"`) {
			t.Errorf("%s answers %d %s", name, answer.Status, answer.Body)
		}
	}
}

func TestPagesThatARevisionInheritsAreReadAgain(t *testing.T) {
	t.Parallel()
	s := harness.NewEnv(t)
	g := s.NewAgent(t)
	first := harness.Must(g.PublishFiles(ctx, "Faulty", "", faulty...))(t)
	style := wire.File{Path: "style.css", Body: []byte("b{}")}
	wanted := harness.Revise(first, "Better")
	wanted.Files = wire.Declare("", style).Files
	draft := harness.Must(g.Draft(ctx, wire.NewKey(), wanted, style))(t)
	want := []string{"wrong_case:index.html:iii", "script_blocked:index.html:iii", "script_unclaimed:index.html:iii"}
	if got := codes(draft.Warnings); !reflect.DeepEqual(got, want) {
		t.Errorf("with the style it warns of %v, want %v", got, want)
	}
	harness.Must(g.Publish(ctx, wire.NewKey(), draft.ArtifactID, draft.RevisionID))(t)
	mended := wire.File{Path: "index.html", Body: []byte(strings.NewReplacer("Chart.png", "chart.png",
		`<script src="https://a.example/x.js"></script>`, "").Replace(faultyPage))}
	wanted = harness.Revise(first, "Good")
	wanted.BaseRevisionID = draft.RevisionID
	wanted.Files = wire.Declare("", mended).Files
	if last := harness.Must(g.Draft(ctx, wire.NewKey(), wanted, mended))(t); len(last.Warnings) > 0 {
		t.Errorf("the mended page has %v", codes(last.Warnings))
	}
}
