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

func TestAFileIsReadBackFromTheRevisionThatIsNamed(t *testing.T) {
	d := harness.NewEnv(t)
	g := d.NewAgent(t)
	noise := wire.File{Path: "bin/noise.txt", Body: harness.RandomBytes(9, 3000)}
	first := harness.Must(g.PublishFiles(ctx, "Files", "", harness.Page("one"), noise))(t)
	second := harness.Must(g.PublishFiles(ctx, "Files", first.ArtifactID, harness.Page("two")))(t)
	read := func(path string, r id.Revision) wire.Answer {
		t.Helper()
		q := url.Values{"path": {path}}
		if r != "" {
			q.Set("revision_id", string(r))
		}
		at := g.At.APIURL + "/v1/artifacts/" + string(first.ArtifactID) + "/file-content?" + q.Encode()
		return harness.Do(t, g, "GET", at, nil)
	}
	for r, words := range map[id.Revision]string{first.RevisionID: "one", second.RevisionID: "two", "": "two"} {
		var got contract.FileContent
		decode(t, read("index.html", r), nil, &got)
		if got.Body == nil || *got.Body != string(harness.Page(words).Body) {
			t.Errorf("%q: %+v, want %s", r, got, words)
		}
	}
	var got contract.FileContent
	decode(t, read(noise.Path, first.RevisionID), nil, &got)
	if !got.IsBinary || got.Body != nil || got.SHA256 != wire.Digest(noise.Body) {
		t.Errorf("%+v", got)
	}
	harness.WantRefused(t, read(noise.Path, second.RevisionID), 404, fault.NotFound)
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
