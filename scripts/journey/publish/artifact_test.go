package publish

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
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
	d := harness.NewEnv(t)
	g := d.NewAgent(t)
	large := harness.RandomBytes(1, 10<<20)
	files := []wire.File{
		harness.Page("first"), {
			Path: "data/large.bin",
			Body: large,
		}, {Path: "empty.txt"}, {Path: "a b/é%2F?#.txt", Body: []byte("odd name")},
	}
	first, err := g.PublishFiles(ctx, "Report", "", files...)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(first.UnlistedURL, d.Origins.App+"/al/") || first.PrivateURL != "" || first.URL != "" {
		t.Errorf("an unclaimed workspace gets %+v", first)
	}
	view, err := g.AgentView(ctx, first.ArtifactID)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range view.Files {
		d.WantContent(t, f.URL, files[i].Body)
		if f.SHA256 != wire.Digest(files[i].Body) || f.Path != files[i].Path {
			t.Errorf("the view says %+v", f)
		}
	}

	second, err := g.PublishFiles(ctx, "Report, second", first.ArtifactID, harness.Page("second"), files[1])
	if err != nil {
		t.Fatal(err)
	}
	if second.ArtifactID != first.ArtifactID || second.RevisionID == first.RevisionID {
		t.Errorf("revising gives %+v", second)
	}
	if second.UnlistedURL[:len(d.Origins.App)+20] != first.UnlistedURL[:len(d.Origins.App)+20] {
		t.Error("a revision gets another share link")
	}
	d.WantContent(t, first.RevisionContentURL, files[0].Body)
	d.WantContent(t, second.RevisionContentURL, harness.Page("second").Body)
	if resolved, err := g.Resolve(ctx, first.UnlistedURL); err != nil ||
		resolved.AgentView.RevisionID != second.RevisionID || resolved.Title != "Report, second" {
		t.Errorf("the old link shows %+v (%v)", resolved.AgentView.RevisionID, err)
	}

	links := []string{
		first.RevisionContentURL, second.RevisionContentURL, first.AgentViewURL, second.AgentViewURL, view.Files[1].URL,
	}
	deleted, err := g.Do(ctx, "DELETE", g.At.APIURL+"/v1/artifacts/"+string(first.ArtifactID), nil)
	if err != nil || deleted.Status != http.StatusOK {
		t.Fatal(deleted.Status, err)
	}
	for _, link := range links {
		d.WantGone(t, link)
	}
	if _, err := g.Resolve(ctx, first.UnlistedURL); err == nil {
		t.Error("the link of a deleted artifact opens")
	}
	if _, err := g.AgentView(ctx, first.ArtifactID); err == nil {
		t.Error("the view of a deleted artifact opens")
	}
	again, _ := g.Do(ctx, "DELETE", g.At.APIURL+"/v1/artifacts/"+string(first.ArtifactID), nil)
	if !bytes.Equal(again.Body, deleted.Body) {
		t.Errorf("deleting again answers %s, first %s", again.Body, deleted.Body)
	}
}

func TestRangesGiveExactlyTheAskedBytes(t *testing.T) {
	d := harness.NewEnv(t)
	body := harness.RandomBytes(2, 1<<20)
	p, err := d.NewAgent(t).PublishFiles(ctx, "Film", "", wire.File{Path: "film.mp4", Body: body})
	if err != nil {
		t.Fatal(err)
	}
	n := len(body)
	for _, tt := range []struct {
		ask    string
		status int
		want   []byte
		says   string
	}{
		{"bytes=0-0", 206, body[:1], fmt.Sprintf("bytes 0-0/%d", n)},
		{"bytes=1000-1999", 206, body[1000:2000], fmt.Sprintf("bytes 1000-1999/%d", n)},
		{"bytes=-500", 206, body[n-500:], fmt.Sprintf("bytes %d-%d/%d", n-500, n-1, n)},
		{"bytes=1048000-", 206, body[1048000:], fmt.Sprintf("bytes 1048000-%d/%d", n-1, n)},
		{"bytes=1048576-", 416, nil, fmt.Sprintf("bytes */%d", n)},
		{"bytes=0-1,5-6", 200, body, ""},
		{"lines=1-2", 200, body, ""},
	} {
		a := d.Get(t, p.RevisionContentURL, "Range", tt.ask)
		if a.Status != tt.status || a.Header.Get("Content-Range") != tt.says ||
			(tt.want != nil && !bytes.Equal(a.Body, tt.want)) {
			t.Errorf("%s: %d %q with %d bytes", tt.ask, a.Status, a.Header.Get("Content-Range"), len(a.Body))
		}
	}
	etag := d.Get(t, p.RevisionContentURL).Header.Get("ETag")
	a := d.Get(t, p.RevisionContentURL, "If-None-Match", `"other", W/`+etag)
	if a.Status != http.StatusNotModified || len(a.Body) != 0 {
		t.Errorf("a known ETag gets %d", a.Status)
	}
}

func TestARevokedKeyIsDeadAtOnce(t *testing.T) {
	d := harness.NewEnv(t)
	g := d.NewAgent(t)
	p, err := g.PublishFiles(ctx, "Kept", "", harness.Page("kept"))
	if err != nil {
		t.Fatal(err)
	}
	a, err := g.Do(ctx, "POST", g.At.APIURL+"/v1/api-keys/current/revoke", nil)
	if err != nil || a.Status != http.StatusOK {
		t.Fatal(a.Status, err)
	}
	for _, host := range []string{
		g.At.APIURL + "/v1/whoami", g.At.APIURL + "/v1/usage-policy", g.At.APIURL + "/v1/artifacts",
	} {
		if a, _ := g.Do(ctx, "GET", host, nil); a.Code() != fault.NotAuthenticated || a.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s answers %d %s", host, a.Status, a.Code())
		}
	}
	if _, err := g.Create(ctx, wire.NewKey(), wire.Declare("X", harness.Page("x"))); err == nil {
		t.Error("a revoked key opens a session")
	}
	d.WantContent(t, p.RevisionContentURL, harness.Page("kept").Body)
}

func TestListsShowTheWorkspacesOwnArtifactsNewestFirst(t *testing.T) {
	d := harness.NewEnv(t)
	g, other := d.NewAgent(t), d.NewAgent(t)
	var want []id.Artifact
	for i := range 5 {
		p, err := g.PublishFiles(ctx, fmt.Sprint("No. ", i), "", harness.Page(fmt.Sprint(i)))
		if err != nil {
			t.Fatal(err)
		}
		want = append([]id.Artifact{p.ArtifactID}, want...)
	}
	if _, err := other.PublishFiles(ctx, "Foreign", "", harness.Page("foreign")); err != nil {
		t.Fatal(err)
	}
	var got []id.Artifact
	cursor := ""
	for {
		a, err := g.Do(ctx, "GET", g.At.APIURL+"/v1/artifacts?limit=2"+cursor, nil)
		var list contract.ArtifactList
		if err != nil || json.Unmarshal(a.Body, &list) != nil || a.Status != http.StatusOK {
			t.Fatal(a.Status, string(a.Body), err)
		}
		for _, row := range list.Data {
			got = append(got, row.ID)
		}
		if !list.PageInfo.HasMore {
			break
		}
		cursor = "&cursor=" + *list.PageInfo.NextCursor
		if a, _ := other.Do(ctx, "GET", g.At.APIURL+"/v1/artifacts?limit=2"+cursor, nil); a.Code() != fault.InvalidCursor {
			t.Errorf("F75: another workspace's cursor answers %d %s", a.Status, a.Code())
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestT48AnotherWorkspacesThingsAreNotThere(t *testing.T) {
	d := harness.NewEnv(t)
	owner, stranger := d.NewAgent(t), d.NewAgent(t)
	p, err := owner.PublishFiles(ctx, "Mine", "", harness.Page("mine"))
	if err != nil {
		t.Fatal(err)
	}
	draft, err := owner.Draft(ctx, wire.NewKey(), wire.Declare("Draft", harness.Page("draft")), harness.Page("draft"))
	if err != nil {
		t.Fatal(err)
	}
	same := func(method, foreign, random string, body any) {
		t.Helper()
		a, err1 := stranger.Do(ctx, method, foreign, body, "Idempotency-Key", wire.NewKey())
		b, err2 := stranger.Do(ctx, method, random, body, "Idempotency-Key", wire.NewKey())
		if err1 != nil || err2 != nil || a.Status != http.StatusNotFound || a.Code() != b.Code() ||
			a.Message() != b.Message() {
			t.Errorf(
				"%s: foreign %d %s %q, random %d %s %q", method, a.Status, a.Code(), a.Message(), b.Status, b.Code(), b.Message(),
			)
		}
	}
	api, none := owner.At.APIURL+"/v1/artifacts/", string(id.NewArtifact())
	same("GET", api+string(p.ArtifactID)+"/agent-view", api+none+"/agent-view", nil)
	rev := "/revisions/" + string(p.RevisionID)
	same("GET", api+string(p.ArtifactID)+rev+"/agent-view", api+none+rev+"/agent-view", nil)
	draftRev := "/revisions/" + string(draft.RevisionID) + "/publish"
	same("POST", api+string(draft.ArtifactID)+draftRev, api+none+draftRev, nil)
	same("DELETE", api+string(p.ArtifactID), api+none, nil)
	sessions := owner.At.UploadURL + "/v1/upload-sessions/"
	same("POST", sessions+string(draft.UploadSessionID)+"/finalize", sessions+string(id.NewSession())+"/finalize", nil)
	r := wire.Declare("X", harness.Page("x"))
	r.ArtifactID = p.ArtifactID
	q := r
	q.ArtifactID = id.NewArtifact()
	a, _ := stranger.Do(ctx, "POST", owner.At.UploadURL+"/v1/upload-sessions", r, "Idempotency-Key", wire.NewKey())
	b, _ := stranger.Do(ctx, "POST", owner.At.UploadURL+"/v1/upload-sessions", q, "Idempotency-Key", wire.NewKey())
	if a.Code() != fault.ArtifactNotFound || a.Code() != b.Code() || a.Message() != b.Message() {
		t.Errorf("revising: foreign %s, random %s", a.Body, b.Body)
	}
}

func TestDiscoveryTellsTheHosts(t *testing.T) {
	d := harness.NewEnv(t)
	a := d.Get(t, d.Origins.API+"/.well-known/vitrine")
	if a.Header.Get("Cache-Control") != "public, max-age=300" || d.Anyone.At.ContentURL != d.Origins.Content ||
		d.Anyone.At.Version != contract.Version {
		t.Errorf("%s %+v", a.Header.Get("Cache-Control"), d.Anyone.At)
	}
}

func TestEphemeralArtifactsExpireADayAfterTheirLastPublication(t *testing.T) {
	clock := &harness.Clock{Now: time.Now()}
	d := harness.NewEnv(t, clock.Use)
	g := d.NewAgent(t)
	p, err := g.PublishFiles(ctx, "Brief", "", harness.Page("one"))
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(20 * time.Hour)
	p, err = g.PublishFiles(ctx, "Brief", p.ArtifactID, harness.Page("two"))
	if err != nil {
		t.Fatal(err)
	}
	clock.Advance(23 * time.Hour)
	d.WantContent(t, p.RevisionContentURL, harness.Page("two").Body)
	clock.Advance(time.Hour + time.Second)
	d.WantGone(t, p.RevisionContentURL)
	if _, err := g.AgentView(ctx, p.ArtifactID); err == nil {
		t.Error("an expired artifact has a view")
	}
}
