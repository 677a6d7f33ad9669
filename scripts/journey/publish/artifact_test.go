package publish

import (
	"bytes"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

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

	deleted := harness.TryDelete(t, g, first.ArtifactID)
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
	if again := harness.TryDelete(t, g, first.ArtifactID); !bytes.Equal(again.Body, deleted.Body) {
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
