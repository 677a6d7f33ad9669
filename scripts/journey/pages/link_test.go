package pages

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// claimOnPage takes what an agent published over into the workspace of a window, with the form of the page.
func claimOnPage(t testing.TB, w *harness.FakeBrowser, token string) {
	t.Helper()
	harness.WantPage(t, "the claim", w.Post(t, "/claim/confirm", url.Values{
		"claim_token": {token},
		"once":        {"page-" + wire.NewKey()},
	}), 200, "Claimed")
}

// rowOf is the row of a list on a page that holds a text.
func rowOf(t testing.TB, page wire.Answer, text string) string {
	t.Helper()
	for _, row := range strings.Split(string(page.Body), "<li>") {
		if strings.Contains(row, text) {
			return row
		}
	}
	t.Fatalf("no row with %q in %s", text, page.Body)
	return ""
}

func TestThePageOfLinksTellsWhatEachOpens(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t, harness.Unlimited)
	agent, made, err := p.Anyone.Provision(ctx)
	harness.NoError(t, err)
	shown := map[string]contract.Published{}
	for _, title := range []string{"Open", "Shut", "Closed", "Past", "Deleted"} {
		shown[title] = harness.Must(agent.PublishFiles(ctx, title+" exhibit", "", harness.Page(title)))(t)
	}
	w := p.SignedIn(t, "ada@example.org")
	claimOnPage(t, w, made.ClaimToken)
	at := func(title string) string { return "/artifacts/" + string(shown[title].ArtifactID) }
	once := func() url.Values { return url.Values{"once": {"page-" + wire.NewKey()}} }
	for _, path := range []string{at("Shut") + "/lockdown", at("Deleted") + "/delete"} {
		if a := w.Post(t, path, once()); a.Status != 303 {
			t.Fatalf("%s answers %d %s", path, a.Status, a.Body)
		}
	}
	p.Update(t, "A#"+string(shown["Closed"].ArtifactID), "META", map[string]any{
		"lock":    "lkd_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9",
		"lock_at": p.Options.Now(),
	})
	p.Update(t, "A#"+string(shown["Past"].ArtifactID), "META", map[string]any{"exp": p.Options.Now().Add(-time.Minute)})
	list := w.Get(t, "/access-links")
	for title, state := range map[string]string{
		"Open":    "Live",
		"Shut":    "Locked",
		"Closed":  "Locked",
		"Past":    "Ended",
		"Deleted": "Ended",
	} {
		row := rowOf(t, list, title+" exhibit")
		if !strings.Contains(row, ">"+state+"</span>") || strings.Contains(row, "/address") != (state == "Live") {
			t.Errorf("%s: the row is %s", title, row)
		}
		if _, err := p.Anyone.Resolve(ctx, shown[title].UnlistedURL); (err == nil) != (state == "Live") {
			t.Errorf("%s: the link says %v", title, err)
		}
	}
	a := w.Get(t, "/v/"+string(shown["Closed"].ArtifactID))
	if a.Status != 404 || !strings.Contains(string(a.Body), "Closed by the operator") ||
		strings.Contains(string(a.Body), p.Origins.Content) {
		t.Errorf("the viewer of what an operator closed answers %d %s", a.Status, a.Body)
	}
}
