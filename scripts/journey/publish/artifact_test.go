package publish

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
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

func TestListsShowTheWorkspacesOwnArtifactsNewestFirst(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t)
	g, other := d.NewAgent(t), d.NewAgent(t)
	var want []id.Artifact
	for i := range 5 {
		want = append(want, harness.PublishPage(t, g, fmt.Sprint("No. ", i)).ArtifactID)
	}
	slices.Reverse(want)
	harness.PublishPage(t, other, "foreign")
	if got := harness.ListArtifacts(t, g, 2); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	list := harness.Call[contract.ArtifactList](t, g, 200, "GET", "/v1/artifacts?limit=2", nil)
	foreign := harness.Do(t, other, "GET", d.Origins.API+"/v1/artifacts?limit=2&cursor="+*list.PageInfo.NextCursor, nil)
	if foreign.Code() != fault.InvalidCursor {
		t.Errorf("F75: another workspace's cursor answers %d %s", foreign.Status, foreign.Code())
	}
}

func TestT48AnotherWorkspacesThingsAreNotThere(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t)
	owner, stranger := d.NewAgent(t), d.NewAgent(t)
	p, draft := harness.PublishPage(t, owner, "mine"), harness.DraftPage(t, owner, "draft")
	revise := wire.Declare("X", harness.Page("x"))
	revise.ArtifactID = p.ArtifactID
	published, sessions := d.Origins.API+"/v1/artifacts/"+string(p.ArtifactID), d.Origins.Upload+"/v1/upload-sessions"
	for _, ask := range []struct {
		method, url string
		body        any
	}{
		{"GET", published + "/agent-view", nil},
		{"GET", published + "/revisions/" + string(p.RevisionID) + "/agent-view", nil},
		{"DELETE", published, nil},
		{
			"POST",
			d.Origins.API + "/v1/artifacts/" + string(draft.ArtifactID) + "/revisions/" + string(draft.RevisionID) + "/publish",
			nil,
		},
		{"POST", sessions + "/" + string(draft.UploadSessionID) + "/finalize", nil},
		{"POST", sessions, revise},
	} {
		foreign := harness.Do(t, stranger, ask.method, ask.url, ask.body, harness.KeyHeader()...)
		random := strings.NewReplacer(
			string(p.ArtifactID), string(id.NewArtifact()),
			string(draft.ArtifactID), string(id.NewArtifact()),
			string(draft.UploadSessionID), string(id.NewSession()),
		).Replace(ask.url)
		if r, revises := ask.body.(contract.CreateSession); revises {
			r.ArtifactID = id.NewArtifact()
			ask.body = r
		}
		missing := harness.Do(t, stranger, ask.method, random, ask.body, harness.KeyHeader()...)
		if foreign.Status != 404 || foreign.Code() != missing.Code() || foreign.Message() != missing.Message() {
			t.Errorf("%s %s: a foreign one answers %s, a random one %s", ask.method, ask.url, foreign.Body, missing.Body)
		}
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

func TestEphemeralArtifactsExpireADayAfterTheirLastPublication(t *testing.T) {
	t.Parallel()
	clock := harness.NewClock()
	d := harness.NewEnv(t, clock.Use)
	g := d.NewAgent(t)
	first := harness.PublishPage(t, g, "one")
	clock.Advance(20 * time.Hour)
	p := harness.Must(g.PublishFiles(ctx, "Brief", first.ArtifactID, harness.Page("two")))(t)
	clock.Advance(23 * time.Hour)
	d.WantContent(t, p.RevisionContentURL, harness.Page("two").Body)
	clock.Advance(time.Hour + time.Second)
	d.WantGone(t, p.RevisionContentURL)
	if _, err := g.AgentView(ctx, p.ArtifactID); err == nil {
		t.Error("an expired artifact has a view")
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
