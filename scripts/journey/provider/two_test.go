package provider

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	idp "vitrine/scripts/testkit/idp/provider"
)

// TestTwoProvidersOfAMemberLeadToOneWorkspace asks the member for each.
func TestTwoProvidersOfAMemberLeadToOneWorkspace(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	w := p.SignedIn(t, "ada@example.org")
	var at []string
	for _, i := range []*idp.Issuer{p.Identity.First, p.Identity.Second} {
		r := p.Interaction(t, i, "ada@example.org")
		page := openLink(t, w, r.Claim.VerificationURI)
		harness.WantPage(t, "the page", page, http.StatusOK, i.Name)
		harness.WantPage(t, "the code", enterCode(t, w, page, r.Claim.UserCode), http.StatusOK, "The agent is in")
		at = append(at, string(whoami(t, p.Env, p.Token(t, harness.ClaimGrant(r.ClaimToken)).AccessToken).Workspace.ID))
	}
	if at[0] != at[1] {
		t.Errorf("the agents work in %v", at)
	}
	for _, i := range []*idp.Issuer{p.Identity.First, p.Identity.Second} {
		got := whoami(t, p.Env, exchanged(t, p.Env, p.Vouched(t, i, "ada@example.org")))
		if string(got.Workspace.ID) != at[0] {
			t.Errorf("%s leads to %s", i.Name, got.Workspace.ID)
		}
	}
	page := w.Get(t, "/connections")
	for _, i := range []*idp.Issuer{p.Identity.First, p.Identity.Second} {
		harness.WantPage(t, "the connections", page, http.StatusOK, i.Name)
	}
}

// keepPath is the page that asks a person which agents to keep.
const keepPath = "/agent-auth/keep"

// askedToKeep signs a person in that only a provider knows, and returns the page that asks which agents to keep. No
// session is open before it is answered.
func askedToKeep(t *testing.T, w *harness.FakeBrowser, back string) string {
	t.Helper()
	a := w.SignIn(t, back, harness.Identity{Email: "ada@example.org"})
	if a.Status != http.StatusSeeOther || a.Header.Get("Location") != keepPath || w.Cookies[harness.SessionCookie] != "" {
		t.Fatalf("the sign-in answers %d %s, to %q", a.Status, a.Body, a.Header.Get("Location"))
	}
	page := w.Get(t, keepPath)
	harness.WantPage(t, "the question", page, http.StatusOK, "Development agents")
	return string(page.Body)
}

// TestT82APersonTakesOverWhatAProviderMade signs in as a person that only a provider knows. Access from before ends in
// any case, and agents that the person does not keep have to ask.
func TestT82APersonTakesOverWhatAProviderMade(t *testing.T) {
	t.Parallel()
	for name, keeps := range map[string]bool{"keeping the agents": true, "ending them": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newEnv(t)
			first := p.Vouched(t, p.Identity.First, "ada@example.org")
			token := exchanged(t, p.Env, first)
			made := harness.PublishPage(t, p.WithBearer(token), "by the agent")
			w := p.NewFakeBrowser()
			page := askedToKeep(t, w, "/dashboard")
			whoami(t, p.Env, token) // until the person answers
			answerKeep(t, w, page, keeps)
			wantDead(t, p.Env, token)
			if code := p.OAuthError(t, harness.JWTBearer(first.IdentityAssertion)); code != "invalid_grant" {
				t.Errorf("the assertion from before answers %s", code)
			}
			next := p.Present(t, harness.Assertion(t, p.Identity.First, "ada@example.org"))
			if keeps && next.Status != http.StatusOK || !keeps && harness.ErrorOf(next) != "interaction_required" {
				t.Errorf("the next assertion answers %d %s", next.Status, next.Body)
			}
			owner := p.WithBearer(w.CLIToken(t).AccessToken)
			a := harness.Do(t, owner, "GET", p.Origins.API+"/v1/web/artifacts/"+string(made.ArtifactID), nil)
			if a.Status != http.StatusOK {
				t.Errorf("what the agent published answers its person %d %s", a.Status, a.Body)
			}
			again := w.SignIn(t, "/dashboard", harness.Identity{Email: "ada@example.org"})
			if again.Header.Get("Location") == keepPath {
				t.Error("the person is asked again")
			}
		})
	}
}

// TestASecondProviderOfAPersonWhomOnlyTheFirstKnowsAsksBoth has the agent of the second wait while the person is asked
// about those of the first, and then types the code.
func TestASecondProviderOfAPersonWhomOnlyTheFirstKnowsAsksBoth(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	first := p.Vouched(t, p.Identity.First, "ada@example.org")
	place := whoami(t, p.Env, exchanged(t, p.Env, first)).Workspace.ID
	r := p.Interaction(t, p.Identity.Second, "ada@example.org")
	w := p.NewFakeBrowser()
	a := openLink(t, w, r.Claim.VerificationURI)
	if a.Status != http.StatusSeeOther && a.Status != http.StatusOK {
		t.Fatalf("the link answers %d %s", a.Status, a.Body)
	}
	to := answerKeep(t, w, askedToKeep(t, w, "/agent-auth/claim"), true)
	if to != "/agent-auth/claim" {
		t.Errorf("the answer leads to %q", to)
	}
	page := w.Get(t, "/agent-auth/claim")
	harness.WantPage(t, "the page", page, http.StatusOK, "Other development agents")
	harness.WantPage(t, "the code", enterCode(t, w, page, r.Claim.UserCode), http.StatusOK, "The agent is in")
	token := p.Token(t, harness.ClaimGrant(r.ClaimToken)).AccessToken
	if at := whoami(t, p.Env, token).Workspace.ID; at != place {
		t.Errorf("the second provider's agent works in %s, not in %s", at, place)
	}
	for _, i := range []*idp.Issuer{p.Identity.First, p.Identity.Second} {
		if at := whoami(t, p.Env, exchanged(t, p.Env, p.Vouched(t, i, "ada@example.org"))).Workspace.ID; at != place {
			t.Errorf("%s leads to %s, not to %s", i.Name, at, place)
		}
	}
}

// answerKeep answers with or without the agents that the page lists, and returns where that leads.
func answerKeep(t *testing.T, w *harness.FakeBrowser, page string, keeps bool) string {
	t.Helper()
	fields := url.Values{}
	for _, f := range hiddenField.FindAllStringSubmatch(page, -1) {
		fields.Add(f[1], f[2])
	}
	boxes := checkbox.FindAllStringSubmatch(page, -1)
	if len(boxes) == 0 {
		t.Fatalf("the page lists no agents: %s", page)
	}
	for _, f := range boxes {
		if keeps {
			fields.Add(f[1], f[2])
		}
	}
	a := w.Post(t, keepPath, fields)
	if a.Status != http.StatusSeeOther || w.Cookies[harness.SessionCookie] == "" {
		t.Fatalf("the answer is answered %d %s", a.Status, a.Body)
	}
	return strings.TrimPrefix(a.Header.Get("Location"), w.Origins.App)
}

var checkbox = regexp.MustCompile(`<input type="checkbox" id="[^"]*" name="([^"]*)" value="([^"]*)"`)
