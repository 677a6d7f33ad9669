package budget

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
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
		// Three counts, the list and what claims left; on the overview the record, the names of keys and the allowance too.
		{"page: overview", "/dashboard", budget{16, 5, 11, 2}},
		{"page: artifacts", "/artifacts", budget{11, 5, 8, 2}},
		{"page: search", "/artifacts?q=paged&sort=title", budget{7, 4, 5, 2}},
		// Session, member, artifact, its links, and what their list leaves out.
		{"page: artifact", at, budget{9, 5, 9, 2}},
		{"page: viewer", "/v/" + string(shown.ArtifactID), budget{6, 4, 5, 2}},
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
	read("page: viewer of a second revision", "/v/"+string(shown.ArtifactID), budget{7, 4, 6, 2})
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
	for n := 1; n < limits.FilesPerTree; n++ {
		out = append(out, wire.File{
			Path: fmt.Sprintf("data/%02d.md", n),
			Body: fmt.Appendf(nil, "# %d\n\nThe word is %s.\n", n, word),
		})
	}
	return out
}
