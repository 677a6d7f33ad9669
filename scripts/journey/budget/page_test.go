package budget

import (
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
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
	for _, page := range []struct {
		name, path string
		most       budget
	}{
		{"page: settings", "/settings", budget{4, 3, 3, 2}},
		{"page: overview", "/dashboard", budget{7, 4, 5, 2}},
		{"page: artifacts", "/artifacts", budget{7, 4, 5, 2}},
		// Session, member, artifact, its links, and what their list leaves out.
		{"page: artifact", at, budget{9, 5, 9, 2}},
		{"page: viewer", "/v/" + string(shown.ArtifactID), budget{6, 4, 5, 2}},
		{"page: access links", "/access-links", budget{7, 4, 5, 2}},
		{"page: revoke a link?", at + "/links/" + string(link) + "/revoke", budget{7, 5, 5, 2}},
		{"page: keys", "/keys", budget{5, 3, 3.5, 2}},
		{"page: audit log", "/audit", budget{5, 3, 3.5, 2}},
		{"page: connections", "/connections", budget{7, 4, 5.5, 2}}, // agents, providers and apps: three lists
	} {
		l.wantWithin(t, page.name, page.most, func() {
			if a := w.Get(t, page.path); a.Status != 200 || !strings.Contains(string(a.Body), "<!doctype html>") {
				t.Fatalf("%s answers %d %s", page.path, a.Status, a.Body)
			}
		})
	}
}
