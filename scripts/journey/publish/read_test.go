package publish

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// decode unpacks an answer of 200.
func decode(t testing.TB, a wire.Answer, err error, out any) {
	t.Helper()
	if err != nil || a.Status != http.StatusOK {
		t.Fatalf("%d %.300s %v", a.Status, a.Body, err)
	}
	if err := json.Unmarshal(a.Body, out); err != nil {
		t.Fatal(err)
	}
}

func TestFilesAreReadBackAsTextWhereTheyAreText(t *testing.T) {
	d := harness.NewEnv(t)
	g := d.NewAgent(t)
	long := strings.Repeat("line\n", 1<<20) // 5 MiB of text do not fit an answer of 5 MiB
	files := []wire.File{
		harness.Page("one"), {Path: "empty.txt"}, {
			Path: "bin/noise.txt",
			Body: harness.RandomBytes(9, 3000),
		}, {Path: "long.txt", Body: []byte(long)},
		{Path: "escapes.json", Body: []byte(`{"a":"<&>\u2028"}`)},
	}
	first, err := g.PublishFiles(ctx, "Files", "", files...)
	if err != nil {
		t.Fatal(err)
	}
	second, err := g.PublishFiles(ctx, "Files", first.ArtifactID, harness.Page("two"))
	if err != nil {
		t.Fatal(err)
	}
	read := func(path string, r id.Revision) (wire.Answer, error) {
		q := url.Values{"path": {path}, "revision_id": {string(r)}}
		if r == "" {
			q.Del("revision_id")
		}
		return g.Do(ctx, "GET", g.At.APIURL+"/v1/artifacts/"+string(first.ArtifactID)+"/file-content?"+q.Encode(), nil)
	}
	for _, f := range files {
		var got contract.FileContent
		a, err := read(f.Path, first.RevisionID)
		decode(t, a, err, &got)
		if got.SHA256 != wire.Digest(f.Body) || got.SizeBytes != int64(len(f.Body)) {
			t.Errorf("%s: %+v", f.Path, got)
		}
		text := f.Path != "bin/noise.txt"
		inline := text && f.Path != "long.txt"
		if got.IsBinary == text || (got.Body != nil) != inline || (inline && *got.Body != string(f.Body)) {
			t.Errorf("%s: binary %v, body %v", f.Path, got.IsBinary, got.Body != nil)
		}
	}
	var newest contract.FileContent
	a, err := read("index.html", "")
	decode(t, a, err, &newest)
	if *newest.Body != string(harness.Page("two").Body) {
		t.Error("without revision_id another revision than the newest is read")
	}
	for path, r := range map[string]id.Revision{
		"":              "",
		"none.txt":      "",
		"empty.txt":     second.RevisionID,
		"index.html":    id.NewRevision(),
		"../index.html": "",
	} {
		if a, _ := read(path, r); a.Code() != fault.NotFound {
			t.Errorf("%q of %s: %d %s", path, r, a.Status, a.Code())
		}
	}
}

func TestRevisionsAreListedDraftsFirst(t *testing.T) {
	d := harness.NewEnv(t)
	g := d.NewAgent(t)
	var want []id.Revision
	var art id.Artifact
	for _, text := range []string{"one", "two", "three"} {
		p, err := g.PublishFiles(ctx, text, art, harness.Page(text))
		if err != nil {
			t.Fatal(err)
		}
		art, want = p.ArtifactID, append([]id.Revision{p.RevisionID}, want...)
	}
	r := wire.Declare("draft", harness.Page("draft"))
	r.ArtifactID = art
	draft, err := g.Draft(ctx, wire.NewKey(), r, harness.Page("draft"))
	if err != nil {
		t.Fatal(err)
	}
	want = append([]id.Revision{draft.RevisionID}, want...)
	var list contract.RevisionList
	a, err := g.Do(ctx, "GET", g.At.APIURL+"/v1/artifacts/"+string(art)+"/revisions", nil)
	decode(t, a, err, &list)
	for i, item := range list.Items {
		if item.RevisionID != want[i] || (item.RevisionNumber == nil) != (i == 0) {
			t.Errorf("row %d: %+v", i, item)
		}
	}
	if len(list.Items) != len(want) || list.PageInfo.HasMore {
		t.Errorf("%d rows", len(list.Items))
	}
}

func TestABrowserSeesThePublicAgentViewAsAPage(t *testing.T) {
	d := harness.NewEnv(t)
	p, err := d.NewAgent(t).PublishFiles(ctx, `<img src=x onerror=alert(1)>"`, "", wire.File{
		Path: `a"b'<c>.html`,
		Body: []byte("x"),
	})
	if err != nil {
		t.Fatal(err)
	}
	a := d.Get(t, p.AgentViewURL, "Accept", "text/html,application/xhtml+xml,*/*;q=0.8")
	text := string(a.Body)
	if a.Status != http.StatusOK || !strings.HasPrefix(a.Header.Get("Content-Type"), "text/html") ||
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
	if a := d.Get(t, p.AgentViewURL[:len(p.AgentViewURL)-1], "Accept", "text/html"); a.Status != http.StatusNotFound {
		t.Errorf("a bad token gets %d", a.Status)
	}
}

func TestTheCLIVersionsArePublic(t *testing.T) {
	d := harness.NewEnv(t)
	a := d.Get(t, d.Origins.API+"/v1/public/cli-version")
	var v contract.CLIVersion
	decode(t, a, nil, &v)
	if v.Latest != contract.Release || a.Header.Get("Cache-Control") != "public, max-age=300" {
		t.Errorf("%+v %v", v, a.Header)
	}
}
