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

// faulty is an artifact with a page that names a missing file, one in other capitals and a script that is blocked.
var faulty = []wire.File{
	{Path: "index.html", Body: []byte(`<!doctype html><html lang="en"><head><title>T</title>
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="style.css"></head>
<img src="Chart.png" alt="x"><script src="https://a.example/x.js"></script>`)},
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
	key := wire.NewKey()
	draft := harness.Must(g.Draft(ctx, key, wire.Declare("Faulty", faulty...), faulty...))(t)
	want := []string{"missing_file:index.html:ii", "wrong_case:index.html:iii", "script_blocked:index.html:iii",
		"script_unclaimed:index.html:iii"}
	if got := codes(draft.Warnings); !reflect.DeepEqual(got, want) || draft.WarningsOmitted != 0 {
		t.Errorf("finalize warns of %v and %d more, want %v", got, draft.WarningsOmitted, want)
	}
	for name, key := range map[string]string{"the same key": key, "another key": wire.NewKey()} {
		again := harness.Must(g.Finalize(ctx, key, draft.UploadSessionID))(t)
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
