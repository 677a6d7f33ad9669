package oauth_test

import (
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
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
	expect.OK(t, err)
	return string(text)
}
