package publish

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// manifest is the files of an artifact's newest revision, by path.
func manifest(t *testing.T, p *harness.BackendEnv, g *wire.Agent, a id.Artifact) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, f := range harness.Must(g.AgentView(ctx, a))(t).Files {
		answer := p.Get(t, f.URL)
		if answer.Status != http.StatusOK || wire.Digest(answer.Body) != f.SHA256 || int64(len(answer.Body)) != f.SizeBytes {
			t.Errorf("%s: %d with %d bytes, the view says %d", f.Path, answer.Status, len(answer.Body), f.SizeBytes)
		}
		files[f.Path] = string(answer.Body)
	}
	return files
}

func TestARevisionInheritsReplacesDeletesAndPatches(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	before := harness.Lines(2000, "line")
	after := strings.Replace(before, "line 1000\n", "another line\n", 1) + "no newline at the end"
	first := harness.Must(g.PublishFiles(ctx, "T", "", harness.Page("one"), wire.File{
		Path: "log.txt",
		Body: []byte(before),
	},
		wire.File{
			Path: "old.txt",
			Body: []byte("goes"),
		}, wire.File{Path: "kept.txt", Body: []byte("stays")}, wire.File{Path: "empty.txt"}))(t)

	r := harness.Revise(first, "T2")
	declared, diff := harness.Patch("log.txt", before, after)
	added := wire.File{Path: "new.txt", Body: []byte("comes")}
	r.Files = append([]contract.DeclaredFile{declared}, wire.Declare("", added).Files...)
	r.DeletedPaths = []string{"old.txt"}
	draft := harness.Must(g.Draft(ctx, wire.NewKey(), r, diff, added))(t)
	if draft.FileCount != 5 ||
		draft.SizeBytes != int64(len(harness.Page("one").Body)+len(after)+len("stays")+len("comes")) {
		t.Errorf("the draft has %d files with %d bytes", draft.FileCount, draft.SizeBytes)
	}
	second := harness.Must(g.Publish(ctx, wire.NewKey(), draft.ArtifactID, draft.RevisionID))(t)
	want := map[string]string{
		"index.html": string(harness.Page("one").Body),
		"log.txt":    after,
		"kept.txt":   "stays",
		"new.txt":    "comes",
		"empty.txt":  "",
	}
	if got := manifest(t, p, g, first.ArtifactID); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the revision holds %d files, want %d, or other bytes", len(got), len(want))
	}

	back := harness.Revise(first, "T3") // the first tree again, without sending a byte
	back.Files = wire.Declare("", harness.Page("one")).Files
	s := harness.Must(g.Create(ctx, wire.NewKey(), back))(t)
	if s.Files[0].Status != "reused" {
		t.Errorf("the entrypoint of the base is %s", s.Files[0].Status)
	}
	restored := harness.Must(g.Finalize(ctx, wire.NewKey(), s.UploadSessionID))(t)
	harness.Must(g.Publish(ctx, wire.NewKey(), restored.ArtifactID, restored.RevisionID))(t)
	if got := manifest(t, p, g, first.ArtifactID); got["old.txt"] != "goes" || got["log.txt"] != before || len(got) != 5 {
		t.Errorf("restoring gave %d files", len(got))
	}
	p.WantContent(t, second.RevisionContentURL, harness.Page("one").Body)
}
