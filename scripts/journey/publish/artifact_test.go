package publish

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

func TestAnAgentPublishesRevisesAndDeletes(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t)
	g := d.NewAgent(t)
	files := []wire.File{
		harness.Page("first"),
		{Path: "data/large.bin", Body: harness.RandomBytes(1, 10<<20)},
		{Path: "empty.txt"},
		{Path: "a b/é%2F?#.txt", Body: []byte("odd name")},
	}
	first := harness.Must(g.PublishFiles(ctx, "Report", "", files...))(t)
	if !strings.HasPrefix(first.UnlistedURL, d.Origins.App+"/al/") || first.PrivateURL != "" || first.URL != "" {
		t.Errorf("an unclaimed workspace gets %+v", first)
	}
	view := harness.Must(g.AgentView(ctx, first.ArtifactID))(t)
	for i, f := range view.Files {
		d.WantContent(t, f.URL, files[i].Body)
		if f.SHA256 != wire.Digest(files[i].Body) || f.Path != files[i].Path {
			t.Errorf("the view says %+v", f)
		}
	}
	part := d.Get(t, view.Files[1].URL, "Range", "bytes=1000-1999")
	if part.Status != 206 || !bytes.Equal(part.Body, files[1].Body[1000:2000]) {
		t.Errorf("a range answers %d with %d bytes", part.Status, len(part.Body))
	}

	second := harness.Must(g.PublishFiles(ctx, "Report, second", first.ArtifactID, harness.Page("second"), files[1]))(t)
	if second.ArtifactID != first.ArtifactID || second.RevisionID == first.RevisionID {
		t.Errorf("revising gives %+v", second)
	}
	if harness.PublicID(t, second.UnlistedURL) != harness.PublicID(t, first.UnlistedURL) {
		t.Error("a revision gets another share link")
	}
	d.WantContent(t, first.RevisionContentURL, files[0].Body)
	d.WantContent(t, second.RevisionContentURL, harness.Page("second").Body)
	opened := harness.Must(g.Resolve(ctx, first.UnlistedURL))(t)
	if opened.AgentView.RevisionID != second.RevisionID || opened.Title != "Report, second" {
		t.Errorf("the old link shows %+v", opened.AgentView.RevisionID)
	}

	deleted := harness.Must(harness.Delete(g, first.ArtifactID))(t)
	if deleted.Status != 200 {
		t.Fatalf("deleting answers %d %s", deleted.Status, deleted.Body)
	}
	for _, url := range []string{
		first.RevisionContentURL, second.RevisionContentURL, first.AgentViewURL, second.AgentViewURL, view.Files[1].URL,
	} {
		d.WantGone(t, url)
	}
	if _, err := g.Resolve(ctx, first.UnlistedURL); err == nil {
		t.Error("the link of a deleted artifact opens")
	}
	if again := harness.Must(harness.Delete(g, first.ArtifactID))(t); !bytes.Equal(again.Body, deleted.Body) {
		t.Errorf("deleting again answers %s, first %s", again.Body, deleted.Body)
	}
}

func TestWhatThereIsToKnowBeforeSigningInMayBeKeptForAWhile(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t)
	for path, want := range map[string]string{
		"/.well-known/vitrine":   contract.Version,
		"/v1/public/cli-version": contract.Release,
	} {
		a := d.Get(t, d.Origins.API+path)
		if !strings.Contains(string(a.Body), `"`+want+`"`) || a.Header.Get("Cache-Control") != "public, max-age=300" {
			t.Errorf("%s answers %v %s", path, a.Header, a.Body)
		}
	}
}

func TestABrowserSeesThePublicAgentViewAsAPage(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t)
	hostile := wire.File{Path: `a"b'<c>.html`, Body: []byte("x")}
	p := harness.Must(d.NewAgent(t).PublishFiles(ctx, `<img src=x onerror=alert(1)>"`, "", hostile))(t)
	a := d.Get(t, p.AgentViewURL, "Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	text := string(a.Body)
	if a.Status != 200 || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") ||
		strings.Contains(text, "<img") || strings.Contains(text, "<c>") {
		t.Errorf("T85: %d %s", a.Status, text)
	}
	if a.Header.Get("X-Robots-Tag") != "noindex, nofollow" ||
		!strings.Contains(a.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("headers %v", a.Header)
	}
	if !strings.Contains(text, string(p.ArtifactID)) {
		t.Error("the page does not name the artifact")
	}
	for _, accept := range []string{"application/json", "text/html, application/json", "*/*", ""} {
		a := d.Get(t, p.AgentViewURL, "Accept", accept)
		if !strings.HasPrefix(a.Header.Get("Content-Type"), "application/json") {
			t.Errorf("Accept %q gets %s", accept, a.Header.Get("Content-Type"))
		}
	}
	if a := d.Get(t, p.AgentViewURL[:len(p.AgentViewURL)-1], "Accept", "text/html"); a.Status != 404 {
		t.Errorf("a bad token gets %d", a.Status)
	}
}

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
	if got := codes(draft.Warnings); !slices.Equal(got, want) || draft.WarningsOmitted != 0 {
		t.Errorf("finalize warns of %v and %d more, want %v", got, draft.WarningsOmitted, want)
	}
	for name, key := range map[string]string{"the same key": key, "another key": wire.NewKey()} {
		again := harness.Must(g.Finalize(ctx, key, draft.UploadSessionID))(t)
		if diff := cmp.Diff(draft, again); diff != "" {
			t.Errorf("again with %s (-first +again):\n%s", name, diff)
		}
	}
	published := harness.Must(g.Publish(ctx, wire.NewKey(), draft.ArtifactID, draft.RevisionID))(t)
	view := harness.Must(g.AgentView(ctx, draft.ArtifactID))(t)
	if !cmp.Equal(view.PageWarnings, draft.Warnings) {
		t.Errorf("the view warns of %v", codes(view.PageWarnings))
	}
	resolved := harness.Must(s.Anyone.Resolve(ctx, published.UnlistedURL))(t)
	if len(resolved.AgentView.SafetyWarnings) > 0 {
		t.Errorf("holders of the link are warned of %v", resolved.AgentView.SafetyWarnings)
	}
	for name, answer := range map[string]wire.Answer{
		"the public view": harness.Must(s.Anyone.Do(ctx, http.MethodGet, published.AgentViewURL, nil))(t),
		"the publication": harness.Must(harness.Publish(g, wire.NewKey(), draft.ArtifactID, draft.RevisionID))(t),
	} {
		if answer.Status != http.StatusOK || strings.Contains(string(answer.Body), "arnings_") ||
			strings.Contains(string(answer.Body), "page_warnings") || strings.Contains(string(answer.Body), `"warnings"`) {
			t.Errorf("%s answers %d %s", name, answer.Status, answer.Body)
		}
	}
}

// TestAZipIsDownloadedOnceItIsReady downloads what was published a moment ago, so that the command waits for the zip. Only
// the policy allows a zip of that size.
func TestAZipIsDownloadedOnceItIsReady(t *testing.T) {
	t.Parallel()
	policy := filepath.Join(t.TempDir(), "policy.json")
	harness.NoError(t, os.WriteFile(policy, fmt.Appendf(nil, `{"anonymous": {"file_bytes": %d, "artifact_bytes": %[1]d}}`,
		30*limits.MiB), 0o600))
	d := harness.NewEnv(t, harness.WithJobs, func(o *stack.Options) {
		o.Limits.Bundles = time.Second
		o.PolicyFile = policy
	})
	g := d.NewAgent(t)
	files := map[string]string{"index.html": "<p>page</p>", "data/big.bin": string(harness.RandomBytes(1, 26*limits.MiB))}
	var sent []wire.File
	for path, body := range files {
		sent = append(sent, wire.File{Path: path, Body: []byte(body)})
	}
	p := harness.Must(g.PublishFiles(ctx, "Zipped", "", sent...))(t)
	to := filepath.Join(t.TempDir(), "out.zip")
	var said strings.Builder
	run := d.Command(t, t.TempDir(), "", "download", "--json", p.UnlistedURL, "--output", to)
	run.Stderr = &said
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v %s", err, &said)
	}
	var told struct {
		RevisionID string `json:"revision_id"`
		SizeBytes  int64  `json:"size_bytes"`
	}
	harness.NoError(t, json.Unmarshal(out, &told))
	z := harness.Must(zip.OpenReader(to))(t)
	defer z.Close()
	for _, f := range z.File {
		r := harness.Must(f.Open())(t)
		if got := harness.Must(io.ReadAll(r))(t); string(got) != files[f.Name] {
			t.Errorf("%s has other bytes", f.Name)
		}
		r.Close()
	}
	if status := harness.Must(g.AgentView(ctx, p.ArtifactID))(t).Bundle.Status; status != "ready" {
		t.Errorf("the zip of the server is %s", status)
	}
	info := harness.Must(os.Stat(to))(t)
	if len(z.File) != len(files) || told.SizeBytes != info.Size() || told.RevisionID != string(p.RevisionID) {
		t.Errorf("%d files, %d bytes, told %+v", len(z.File), info.Size(), told)
	}
}
