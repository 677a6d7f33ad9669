package budget

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// TestPagesOfMembersStayWithinTheirBudget reads pages as a browser does: session, then member and workspace, then two
// counters beside what the page shows; a counter may reach over into a second read of the page. None was designed in
// figures.
func TestPagesOfMembersStayWithinTheirBudget(t *testing.T) {
	l := newBudgetEnv(t)
	p := l.backend()
	w := p.SignedIn(t, "ada@example.org")
	who := p.WithBearer(w.CLIToken(t).AccessToken)
	key := harness.CallAs[contract.CreatedKey](
		t, &harness.Member{Agent: who}, 201, "POST", "/v1/web/keys", contract.CreateKey{Name: "K"}, harness.KeyHeader()...,
	)
	agent := p.WithBearer(key.Secret)
	shown := harness.PublishPage(t, agent, "paged")
	link := harness.CreateLink(t, agent, shown.ArtifactID, harness.ShareLink).ID
	at := "/artifacts/" + string(shown.ArtifactID)
	for _, path := range []string{"/dashboard", "/settings"} {
		w.Get(t, path)
	}
	read := func(name, path string, most budget) {
		l.wantWithin(t, name, most, func() {
			if a := w.Get(t, path); a.Status != 200 || !strings.Contains(string(a.Body), "<!doctype html>") {
				t.Fatalf("%s answers %d %s", path, a.Status, a.Body)
			}
		})
	}
	for _, page := range []struct {
		name, path string
		most       budget
	}{
		{"page: settings", "/settings", budget{6, 4, 6, 2}},
		// Three counts, the list and what claims left; on the overview the record, the names of keys, the allowance and the
		// inbox too.
		{"page: overview", "/dashboard", budget{17, 5, 12, 2}},
		{"page: artifacts", "/artifacts", budget{11, 5, 8, 2}},
		{"page: search", "/artifacts?q=paged&sort=title", budget{7, 4, 5, 2}},
		// Session, member, artifact, its links, what their list leaves out, and that there are no threads.
		{"page: artifact", at, budget{10, 5, 10, 2}},
		{"page: viewer", "/v/" + string(shown.ArtifactID), budget{7, 4, 6, 2}},
		{"page: feedback", at + "/feedback", budget{6, 4, 5, 2}},
		{"page: inbox", "/feedback", budget{7, 4, 5, 2}},
		{"page: access links", "/access-links", budget{7, 4, 5, 2}},
		{"page: revoke a link?", at + "/links/" + string(link) + "/revoke", budget{7, 5, 5, 2}},
		{"page: keys", "/keys", budget{5, 3, 3.5, 2}},
		{"page: audit log", "/audit", budget{6, 4, 4.5, 2}},
		{"page: connections", "/connections", budget{7, 4, 5.5, 2}}, // agents, providers and apps: three lists
	} {
		read(page.name, page.path, page.most)
	}
	harness.Must(agent.PublishFiles(t.Context(), "Paged", shown.ArtifactID, wire.File{
		Path: "index.html",
		Body: []byte("<p>newer"),
	}))(t)
	// The list of the revisions is read beside the one that is shown.
	read("page: viewer of a second revision", "/v/"+string(shown.ArtifactID), budget{8, 4, 7, 2})
	// The revisions, then the files of two of them, then at most 20 changed files of both.
	read("page: comparison", at+"/compare", budget{11, 6, 7, 2})
	harness.Must(agent.PublishFiles(t.Context(), "Paged", shown.ArtifactID, manyFiles("one")...))(t)
	harness.Must(agent.PublishFiles(t.Context(), "Paged", shown.ArtifactID, manyFiles("two")...))(t)
	read("page: comparison of 100 files", at+"/compare", budget{9 + 2*limits.ComparedFiles, 11, 10, 2})
	ten := harness.Must(agent.PublishFiles(t.Context(), "Ten", shown.ArtifactID, tenFiles("ten")...))(t)
	harness.Must(agent.PublishFiles(t.Context(), "Last", shown.ArtifactID, harness.Page("last")))(t)
	// Session, member, counters, then the artifact with the revision, its files, and the transaction: record, artifact
	// with its index entry, the check of the source, a fence, the revision with its files, event.
	l.wantWithin(t, "page: restore", budget{7, 6, 6, 16}, func() {
		form := at + "/revisions/" + string(ten.RevisionID) + "/restore"
		if a := w.Post(t, form, url.Values{"once": {"page-" + wire.NewKey()}}); a.Status != http.StatusSeeOther {
			t.Fatalf("restoring answers %d %s", a.Status, a.Body)
		}
	})
}

// manyFiles are as many files as an artifact may have, with a word that may differ.
func manyFiles(word string) []wire.File {
	out := []wire.File{{Path: "index.html", Body: []byte("<p>" + word)}}
	for n := 1; n < limits.ViewFiles; n++ {
		out = append(out, wire.File{
			Path: fmt.Sprintf("data/%02d.md", n),
			Body: fmt.Appendf(nil, "# %d\n\nThe word is %s.\n", n, word),
		})
	}
	return out
}

// TestAPollOfAnOpenPageStaysWithinItsBudget polls as open pages do. Where nothing changed a poll is one read of a copy,
// and a permit now and then. What looks like a change is read again, strongly.
func TestAPollOfAnOpenPageStaysWithinItsBudget(t *testing.T) {
	l := newBudgetEnv(t)
	p := l.backend()
	w := p.SignedIn(t, "ada@example.org")
	l.owner = l.NewAgent(t)
	shown := harness.PublishPage(t, l.owner, "polled")
	link := harness.CreateLink(t, l.owner, shown.ArtifactID, harness.ShareLink)
	public, blob, err := wire.SplitLink(harness.MintLink(t, l.owner, link.ID))
	harness.NoError(t, err)
	poll := func(status int, r id.Revision) func() {
		return l.sends(t, l.Anyone, status, "POST", l.Origins.App+"/api/live/access-links/"+string(public),
			map[string]any{"blob": blob, "revision_id": r})
	}
	l.wantWithin(t, "poll of a link, first", budget{2, 2, 1.5, 1}, poll(204, shown.RevisionID))
	l.wantWithin(t, "poll of a link", budget{1, 1, 1.5, 0}, poll(204, shown.RevisionID))
	newer, err := l.owner.PublishFiles(ctx, "polled", shown.ArtifactID, harness.Page("newer"))
	harness.NoError(t, err)
	// The copy, the state, and the revision with its files, which stays in memory.
	l.wantWithin(t, "poll of a link, a newer revision", budget{3, 3, 5.5, 0}, poll(200, shown.RevisionID))
	poll(204, newer.RevisionID)()
	harness.RevokeLink(t, l.owner, link.ID)
	l.wantWithin(t, "poll of a link, closed", budget{3, 3, 4.5, 1}, poll(404, newer.RevisionID))

	who := &harness.Member{Agent: p.WithBearer(w.CLIToken(t).AccessToken)}
	key := harness.CreatedKey(t, harness.TryCreateKey(t, who, "K", wire.NewKey()))
	mine := harness.PublishPage(t, p.WithBearer(key.Secret), "mine")
	path := "/api/live/artifacts/" + string(mine.ArtifactID) + "?revision_id=" + string(mine.RevisionID)
	member := func() {
		if a := w.Get(t, path); a.Status != 204 {
			t.Fatalf("the poll answers %d %s", a.Status, a.Body)
		}
	}
	// Session, member with workspace, then the same copy without a link and with the counts of threads.
	l.wantWithin(t, "poll of a member, first", budget{4, 4, 4.5, 1}, member)
	l.wantWithin(t, "poll of a member", budget{3, 3, 4.5, 0}, member)
}

// TestAHotReadIsOneStrongRead reads a file of a claimed artifact 1,000 times in one window, with the published limits.
func TestAHotReadIsOneStrongRead(t *testing.T) {
	s := harness.NewLinkEnv(t, func(o *stack.Options) { o.Limits = limits.Default() })
	const reads = 1000
	s.WantContent(t, s.Published.RevisionContentURL, harness.Page("shared").Body)
	cold := wantReads(t, s, 1)
	if cold.calls != 4 || cold.rru != 2.5 || cold.wru != 1 { // state, permit, list of files, bytes
		t.Errorf("the first read takes %s", cold)
	}
	for range reads {
		s.WantContent(t, s.Published.RevisionContentURL, harness.Page("shared").Body)
	}
	all := wantReads(t, s, reads+1)
	hot := budget{calls: all.calls - cold.calls, rru: all.rru - cold.rru, wru: all.wru - cold.wru}
	t.Logf("%d reads: %s", reads, hot)
	if hot.rru != 2*reads || hot.wru > reads/20 || hot.calls != reads+int(hot.wru) {
		t.Errorf("%d reads take %s", reads, hot)
	}
}

// wantReads waits until the log has so many reads of files, and returns what they cost together.
func wantReads(t *testing.T, s *harness.LinkEnv, reads int) (sum budget) {
	t.Helper()
	for _, r := range costs(t, s.Env, reads, func(r requestCost) bool { return strings.HasPrefix(r.Route, "/v/") }) {
		sum = sum.plus(r)
	}
	return sum
}

// TestALargeBodyStaysWithinItsBudget reads one file at the size from which streams are counted, and one above it. The
// two slots are taken beside the GET from S3, and given back in a round trip that comes after the last byte.
func TestALargeBodyStaysWithinItsBudget(t *testing.T) {
	l := newBudgetEnv(t)
	l.owner = l.NewAgent(t)
	urls := map[int]string{}
	for _, size := range []int{1 << 20, 2 << 20} {
		urls[size] = harness.Must(l.owner.PublishFiles(ctx, "Large", "", wire.File{
			Path: "large.bin",
			Body: harness.RandomBytes(uint64(size>>20), size),
		}))(t).RevisionContentURL
		l.wantStatus(t, l.Anyone, 200, "HEAD", urls[size]) // the files of the revision are known then
	}
	l.wantWithin(t, "content, 1 MB", budget{3, 2, 2, 1}, func() { l.wantStatus(t, l.Anyone, 200, "GET", urls[1<<20]) })
	l.wantWithin(t, "content, 2 MB", budget{7, 3, 2, 5}, func() { l.wantStatus(t, l.Anyone, 200, "GET", urls[2<<20]) })
	l.wantWithin(t, "content, 1 MB of 2", budget{3, 2, 2, 1}, func() {
		l.wantStatus(t, l.Anyone, 206, "GET", urls[2<<20], "Range", "bytes=0-1048575")
	})
}
