package identity

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

func TestT41NoOtherSiteActsInSomebodysName(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t, harness.Plenty)
	w := p.SignedIn(t, "ada@example.org")
	forms, complete := formsOf(t, w)
	before := p.Snapshot(t)
	pages := appRoutes(t)["GET"]
	for path, fields := range forms {
		for name, headers := range map[string][]string{
			"cross-site":       {"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"},
			"same-site":        {"Sec-Fetch-Site", "same-site"},
			"a foreign origin": {"Origin", "https://evil.example"}, "no origin": {"Origin", "null"},
			"the content host": {"Origin", p.Origins.Content, "Sec-Fetch-Site", "cross-site"},
			"the api host":     {"Origin", p.Origins.API},
		} {
			a := w.Send(
				t, "POST", path, fields.Encode(), append(headers, "Content-Type", "application/x-www-form-urlencoded")...,
			)
			if a.Status != http.StatusForbidden || !strings.Contains(string(a.Body), "Not done") ||
				a.Header.Get("Set-Cookie") != "" {
				t.Errorf("%s of %s: %d", name, path, a.Status)
			}
		}
		// T42: what a form of another kind can send without asking first
		for _, media := range []string{"text/plain", "application/json", "multipart/form-data; boundary=b", ""} {
			a := w.Send(
				t,
				"POST",
				path,
				`{"claim_token":"x"}`,
				"Content-Type",
				media,
				"Origin",
				p.Origins.App,
				"Sec-Fetch-Site",
				"same-origin",
			)
			if a.Status != http.StatusBadRequest && (complete[path] || a.Status != http.StatusNotFound) {
				t.Errorf("%q to %s: %d", media, path, a.Status)
			}
		}
		for _, method := range []string{"GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"} {
			page := slices.ContainsFunc(pages, func(pattern string) bool { return unknownIDs.Replace(pattern) == path })
			if page && (method == "GET" || method == "HEAD") {
				continue
			}
			// T84: and what asks for another method
			a := w.Send(
				t,
				method,
				path,
				nil,
				"X-HTTP-Method-Override",
				"POST",
				"X-HTTP-Method",
				"POST",
				"X-Method-Override",
				"POST",
				"Sec-Fetch-Site",
				"same-origin",
			)
			if a.Status != http.StatusMethodNotAllowed || !strings.Contains(a.Header.Get("Allow"), "POST") {
				t.Errorf("%s %s: %d, Allow %q", method, path, a.Status, a.Header.Get("Allow"))
			}
		}
	}
	p.WantUnchanged(t, before)
	if signedOut(t, w) {
		t.Error("the session ended")
	}
}

func TestT42TheAPIReadsOneKindOfBody(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	form := url.Values{"grant_type": {contract.GrantRefresh}, "client_id": {"cli"}, "refresh_token": {"x"}}
	for path, body := range map[string]string{
		"/oauth2/token":                form.Encode(),
		"/oauth2/revoke":               "token=x",
		"/oauth2/device_authorization": "client_id=cli",
	} {
		for _, media := range []string{"text/plain", "application/json", "multipart/form-data"} {
			a := harness.Do(t, p.Anyone, "POST", p.Origins.API+path, body, "Content-Type", media)
			if a.Status != http.StatusBadRequest || !strings.Contains(string(a.Body), `"invalid_request"`) {
				t.Errorf("%s as %s: %d %s", path, media, a.Status, a.Body)
			}
		}
	}
}

func TestT43NoPageOfOursIsFramed(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	w := p.SignedIn(t, "ada@example.org")
	c := registerClient(t, p, "An app")
	consent := c.authorize(t, c.request("read")).RequestURI()
	s := p.StartClaim(t, p.RegisterAgent(t))
	openAttempt(t, w, s)
	for _, by := range []*harness.FakeBrowser{w, p.NewFakeBrowser()} {
		for _, path := range []string{
			"/", "/claim", "/agent-auth/claim", "/device", consent, "/dashboard", "/artifacts", "/keys", "/keys/ended",
			"/connections", "/settings", "/signed-out", "/none",
			"/api/auth/callback", "/settings/sign-out-everywhere",
		} {
			a := by.Get(t, path)
			if a.Header.Get("X-Frame-Options") != "DENY" ||
				!strings.Contains(a.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
				t.Errorf("%s (%d) may be framed", path, a.Status)
			}
			policy := a.Header.Get("Content-Security-Policy")
			if strings.Contains(policy, "unsafe") || strings.Contains(policy, "*") {
				t.Errorf("%s: the policy is %s", path, policy)
			}
		}
	}
	for _, path := range []string{"/oauth2/authorize?client_id=none", "/agent/identity"} {
		if a := harness.Do(t, p.Anyone, "GET", p.Origins.API+path, nil); a.Header.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s may be framed", path)
		}
	}
}

// TestT84MethodsAreWhatTheyAre asks the api for what only another method does.
func TestT84MethodsAreWhatTheyAre(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	before := p.Snapshot(t)
	for _, path := range []string{
		"/agent/identity", "/agent/identity/claim", "/oauth2/token", "/oauth2/register", "/oauth2/revoke",
		"/oauth2/device_authorization", harness.ClaimPath,
	} {
		for _, method := range []string{"GET", "HEAD", "PUT", "DELETE", "TRACE"} {
			a := p.SendRaw(t, "api", method+" "+path, "", "X-HTTP-Method-Override: POST")
			if a.Status != http.StatusNotFound {
				t.Errorf("%s %s: %d", method, path, a.Status)
			}
		}
	}
	p.WantUnchanged(t, before)
}

// TestT68AClaimPageTellsNothingAboutTokens sends what is wrong in every way, as the page does.
func TestT68AClaimPageTellsNothingAboutTokens(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	w := p.SignedIn(t, "ada@example.org")
	_, made, err := p.Anyone.Provision(ctx)
	harness.NoError(t, err)
	token := harness.Must(harness.ParseClaimToken(made.ClaimToken))(t)
	coded := token
	coded.ClaimCode = "clm_" + strings.Repeat("0", 26)
	_, used, err := p.Anyone.Provision(ctx)
	harness.NoError(t, err)
	confirm := func(text string) wire.Answer {
		return w.Post(t, "/claim/confirm", url.Values{"claim_token": {text}, "once": {fmt.Sprintf("page-%026d", len(text))}})
	}
	harness.WantPage(t, "the first claim", confirm(used.ClaimToken), 200, "Claimed")
	before := p.Snapshot(t)
	var said string
	for name, text := range map[string]string{
		"nonsense":           "x",
		"nothing":            "",
		"another claim code": coded.Reveal(),
		"another secret":     withOtherSecret(t, token.Kind, made.ClaimToken),
		"used":               used.ClaimToken,
	} {
		confirmation := url.Values{"claim_token": {text}, "once": {"page-" + wire.NewKey()}}
		for _, a := range []wire.Answer{
			w.Post(t, "/claim", url.Values{"claim_token": {text}}),
			w.Post(t, "/claim/confirm", confirmation),
		} {
			if harness.WantPage(t, name, a, 404, "does not work"); said != "" && string(a.Body) != said {
				t.Errorf("%s is answered in another way", name)
			}
			said = string(a.Body)
		}
	}
	p.WantUnchanged(t, before)
	harness.WantPage(
		t, "the right one", w.Post(t, "/claim", url.Values{"claim_token": {made.ClaimToken}}), 200, "Claim it",
	)
}
