package oauth_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
)

// spellings are resources that mean the MCP host.
var spellings = []string{
	"", mcpOrigin, mcpOrigin + "/", "https://MCP.Example.com", "HTTPS://mcp.example.com:443/",
}

func TestT34TheTokenOfAnAppIsForTheMCPHostAndNothingElse(t *testing.T) {
	s := newEnv(t)
	s.withDocument(documentOf(documentID, "Robot"))
	for _, a := range []oauth.Authorization{s.robot(t), described()} {
		for _, resource := range spellings {
			a.Resource = resource
			r := s.code(t, a)
			for _, bad := range []string{apiOrigin, "https://evil.example", mcpOrigin + "/other", mcpOrigin + " " + apiOrigin} {
				r.Resource = bad
				s.refuses(t, "a code for "+bad, r, fault.OAuthInvalidTarget)
			}
			r.Resource = resource
			out := s.token(t, r)
			if !s.works(out.AccessToken, mcpOrigin) || s.works(out.AccessToken, apiOrigin) {
				t.Errorf("%q: the token works elsewhere than on the MCP host", resource)
			}
			again := refreshing(a.ClientID, out)
			again.Resource = apiOrigin
			s.refuses(t, "a refresh for the api", again, fault.OAuthInvalidTarget)
			again.Resource = mcpOrigin + "/"
			s.token(t, again)
		}
		for what, change := range map[string]func(*oauth.Authorization){
			"the api":    func(a *oauth.Authorization) { a.Resource = apiOrigin },
			"a stranger": func(a *oauth.Authorization) { a.Resource = "https://evil.example" },
			"two":        func(a *oauth.Authorization) { a.Resource, a.Repeated = mcpOrigin, "resource" },
		} {
			b := a
			change(&b)
			wantError(t, what, s.refusal(t, what, s.by, b).RedirectTo, b, fault.OAuthInvalidTarget)
		}
	}
}

func TestAnAppThatAsksForMoreIsAskedAboutAnew(t *testing.T) {
	s := newEnv(t)
	s.withDocument(documentOf(documentID, "Robot"))
	a := described()
	a.Scope = "read"
	less := s.signIn(t, a)
	s.wantScope(t, "at first", less, mcpOrigin, "read")
	wider := refreshing(documentID, less)
	wider.Scope = "read publish"
	s.refuses(t, "a refresh that widens", wider, fault.OAuthInvalidScope)
	a.Scope = "read publish"
	if shown, err := s.Consent(ctx, s.consent(t, a)); err != nil || len(shown.Scopes) != 2 {
		t.Errorf("the page shows %+v %v", shown, err)
	}
	s.wantScope(t, "then", s.signIn(t, a), mcpOrigin, "publish read")
	s.wantScope(t, "the first grant", s.token(t, refreshing(documentID, less)), mcpOrigin, "read")
	if listed, _, err := s.Grants(ctx, s.by, cursor.Page{}); err != nil || len(listed) != 2 {
		t.Errorf("%d grants, %v", len(listed), err)
	}
	s.WantEvents(t, event.ConsentGranted, 2)
}

func TestEveryAnswerOfAnAuthorizationNamesItsIssuer(t *testing.T) {
	s := newEnv(t)
	s.withDocument(documentOf(documentID, "Robot"))
	answers := map[string]string{}
	var err error
	if answers["a code"], err = s.Allow(ctx, s.by, s.consent(t, described())); err != nil {
		t.Error(err)
	}
	if answers["a refusal"], err = s.Deny(ctx, s.by, s.consent(t, described())); err != nil {
		t.Error(err)
	}
	bad := described()
	bad.ResponseType = "token"
	answers["an error of an app"] = s.refusal(t, "an error", s.by, bad).RedirectTo
	own := authorization()
	own.Challenge = ""
	if answers["an error of our own client"], err = s.Authorize(ctx, own); err != nil {
		t.Error(err)
	}
	for what, to := range answers {
		u, err := url.Parse(to)
		if err != nil {
			t.Fatal(err)
		}
		if q := u.Query(); !slices.Equal(q["iss"], []string{apiOrigin}) || q.Get("state") != "st&te" ||
			q.Has("code") == q.Has("error") {
			t.Errorf("%s: %s", what, to)
		}
	}
}

func TestTheMetadataNameWhatADeploymentHas(t *testing.T) {
	o := address.Origins{API: apiOrigin, MCP: mcpOrigin, App: "https://app.example.com"}
	all := oauth.Metadata(o, oauth.Features{People: true, Documents: true, Agents: true})
	if !all.ClientDocuments || !all.IssParameter || all.Issuer != apiOrigin || all.Resource != apiOrigin ||
		!slices.Equal(all.ResponseModes, []string{"query"}) || !slices.Equal(all.CodeChallengeMethods, []string{"S256"}) ||
		!slices.Contains(all.GrantTypes, contract.GrantCode) || len(all.AgentAuth.IdentityTypes) != 1 {
		t.Errorf("%+v", all)
	}
	closed := oauth.Metadata(o, oauth.Features{People: true, Agents: true})
	if closed.ClientDocuments || closed.RegistrationEndpoint == "" {
		t.Errorf("where no document can be fetched: %+v", closed)
	}
	none := oauth.Metadata(o, oauth.Features{})
	if none.ClientDocuments || none.AuthorizationEndpoint+none.RegistrationEndpoint != "" ||
		none.AgentAuth.IdentityTypes == nil || len(none.AgentAuth.IdentityTypes) != 0 || slices.Contains(none.GrantTypes, contract.GrantCode) {
		t.Errorf("%+v", none)
	}
	there := oauth.MCPMetadata(o, oauth.Features{People: true, Documents: true, Agents: true})
	if there.Resource != mcpOrigin || there.ResourceMetadataURL != mcpOrigin+"/.well-known/oauth-protected-resource" ||
		!slices.Equal(there.ProtectedResources, []string{mcpOrigin, mcpOrigin + "/"}) {
		t.Errorf("%+v", there)
	}
	there.ResourceMetadata, there.ResourceMetadataURL, there.ProtectedResources = all.ResourceMetadata, "", nil
	if mustEncode(t, there) != mustEncode(t, all) {
		t.Error("the MCP host describes another authorization server")
	}
	resource := mustEncode(t, oauth.MCPResourceMetadata(o))
	want := `{"resource":"https://mcp.example.com","resource_name":"Vitrine MCP",` +
		`"authorization_servers":["https://api.example.com"],"scopes_supported":["read","publish"],` +
		`"bearer_methods_supported":["header"]}`
	if strings.TrimSpace(resource) != want {
		t.Errorf("got %s\nwant %s", resource, want)
	}
}

func mustEncode(t *testing.T, v any) string {
	t.Helper()
	text, err := contract.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
