package pages

import (
	"context"
	"fmt"
	"html"
	"net/url"
	"os"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

func TestAnAgentRegistersPublishesAndIsClaimedByAPerson(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	r := d.RegisterAgent(t)
	before := d.Token(t, harness.JWTBearer(r.IdentityAssertion))
	agent := d.WithBearer(before.AccessToken)
	made := harness.Must(agent.PublishFiles(ctx, "Tide tables", "", harness.Page("tides")))(t)
	if made.URL == "" || made.URL != made.UnlistedURL {
		t.Errorf("the agent is told the URL %q and the unlisted URL %q", made.URL, made.UnlistedURL)
	}
	started := d.StartClaim(t, r)
	if started.UserCode != started.Claim.UserCode || !strings.HasPrefix(started.Claim.VerificationURI, d.Origins.App+"/") {
		t.Errorf("the claim is %+v", started.Claim)
	}
	if code := d.OAuthError(t, harness.ClaimGrant(r.ClaimToken)); code != "authorization_pending" {
		t.Errorf("before the person came the poll says %s", code)
	}

	p := browser.Open(t)
	p.Go(started.Claim.VerificationURI)
	p.SignIn("ada@example.org")
	p.WaitText("Let this agent in?")
	p.WaitText("Tide tables")
	if at := browser.Eval[string](&p.Document, `location.href`); strings.Contains(at, "ap_ca_") {
		t.Error("the attempt token stays in the address bar")
	}
	p.Screenshot("journey-agent-claim")
	p.Fill("#user_code", started.UserCode)
	p.Click(`form[action="/agent-auth/claim"] button:not([formaction])`)
	p.Wait(`document.querySelector("h1") !== null && document.querySelector("#user_code") === null`)
	p.Clean()

	after := d.Token(t, harness.ClaimGrant(r.ClaimToken))
	if after.IdentityAssertion == "" || after.AssertionExpires == nil {
		t.Error("the claim grant brings no new assertion")
	}
	harness.WantRefused(t, harness.Do(t, agent, "GET", agent.At.APIURL+"/v1/whoami", nil), 401, fault.NotAuthenticated)
	if code := d.OAuthError(t, harness.JWTBearer(r.IdentityAssertion)); code != "invalid_grant" {
		t.Errorf("T27: the assertion from before the claim answers %s", code)
	}
	owner := d.WithBearer(after.AccessToken)
	var who contract.Whoami
	harness.Decode(t, harness.Do(t, owner, "GET", owner.At.APIURL+"/v1/whoami", nil), &who)
	if who.Workspace.Name != "ada's Workspace" || who.Actor.Type != "api_key" {
		t.Errorf("the new token is for %+v", who.Workspace)
	}
	if view := harness.Must(owner.AgentView(ctx, made.ArtifactID))(t); view.Title != "Tide tables" {
		t.Errorf("the claimed artifact is %q", view.Title)
	}
	second := harness.Must(owner.PublishFiles(ctx, "Tide tables", made.ArtifactID, harness.Page("tomorrow")))(t)
	if second.PrivateURL == "" || second.URL != "" {
		t.Errorf("after the claim publishing answers %+v", second)
	}
	if again := d.Token(t, harness.JWTBearer(after.IdentityAssertion)); again.AccessToken == after.AccessToken {
		t.Error("the new assertion brings the same token")
	}
	p.Go(d.Origins.App + "/dashboard")
	p.WaitText("Tide tables")
	p.Screenshot("journey-dashboard")
}

// settings are the fields of the form for a workspace.
func settings(name string, days int) url.Values {
	return url.Values{"name": {name}, "days": {fmt.Sprint(days)}, "once": {"page-" + wire.NewKey()}}
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

func TestWhatIsSetOnThePageHoldsAndIsToldInTheRecord(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t, harness.Unlimited)
	w := p.SignedIn(t, "ada@example.org")
	asked := settings("Harbour <b>Survey</b>", 5)
	for range 2 { // the second is a double click
		if a := w.Post(t, "/settings", asked); a.Status != 303 || a.Header.Get("Location") != "/settings" {
			t.Fatalf("the form answers %d %s", a.Status, a.Body)
		}
	}
	harness.WantPage(t, "the page", w.Get(t, "/settings"), 200, `value="Harbour <b>Survey</b>"`)
	who := &harness.Member{Agent: p.WithBearer(w.CLIToken(t).AccessToken)}
	s := harness.CallAs[contract.Settings](t, who, 200, "GET", "/v1/web/settings", nil)
	if s.WorkspaceName != "Harbour <b>Survey</b>" || s.AutoDeletionDays != 5 {
		t.Errorf("the API tells %+v", s)
	}
	record := w.Get(t, "/audit")
	row := rowOf(t, record, "changed the settings")
	if !strings.Contains(row, html.EscapeString(`"Harbour <b>Survey</b>"`)) || !strings.Contains(row, "You changed") ||
		strings.Count(string(record.Body), "changed the settings") != 1 {
		t.Errorf("the record is %s", record.Body)
	}
}
