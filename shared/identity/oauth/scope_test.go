package oauth_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/policy"
)

// wantScope checks that the scope of an answer is what its token may do.
func (e *env) wantScope(t *testing.T, what string, out contract.Token, audience, want string) {
	t.Helper()
	opened, err := e.opens(out.AccessToken, audience)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if may := strings.Join(credential.ScopeStrings(opened.Actor.Scopes), " "); out.Scope != may || out.Scope != want {
		t.Errorf("%s: the answer names %q, the token may %q, want %q", what, out.Scope, may, want)
	}
}

// RFC 6749, section 5.1
func TestTheAnswerNamesWhatTheTokenMay(t *testing.T) {
	for name, member := range map[string]struct {
		scopes   []credential.Scope
		own, app string // the scopes of tokens of first-party clients, and of an app that asked for publish and read
	}{
		"everything": {[]credential.Scope{credential.Publish, credential.Read, credential.Admin}, "publish read admin",
			"publish read"},
		"reading": {[]credential.Scope{credential.Read}, "read", "read"},
	} {
		s := newEnv(t)
		s.by = s.join(t, member.scopes...)
		cli := authorization()
		cli.Scope = "read"
		out := s.signIn(t, cli)
		s.wantScope(t, name+": code", out, apiOrigin, member.own)
		again := refreshing("cli", out)
		again.Scope = out.Scope // what was granted, as far as the client knows
		out = s.token(t, again)
		s.wantScope(t, name+": refresh", out, apiOrigin, member.own)
		lost := s.token(t, again)
		s.wantScope(t, name+": refresh, a second time", lost, apiOrigin, member.own)

		d := s.device(t)
		expect.OK(t, s.ApproveDevice(ctx, s.by, d.UserCode))
		s.wantScope(t, name+": device", s.token(t, polling("cli", d)), apiOrigin, member.own)

		robot := s.robot(t)
		app := s.signIn(t, robot)
		s.wantScope(t, name+": an app", app, mcpOrigin, member.app)
		r := refreshing(robot.ClientID, app)
		for _, asked := range []string{"", "publish read"} { // what the member allowed the client
			r.Scope = asked
			s.wantScope(t, name+": an app's refresh", s.token(t, r), mcpOrigin, member.app)
		}
		r.Scope = "admin"
		s.refuses(t, name, r, fault.OAuthInvalidScope)
		robot.Scope = "read"
		s.wantScope(t, name+": an app that asks for less", s.signIn(t, robot), mcpOrigin, "read")
	}
}

func TestTheAnswerOfAnExchangeNamesWhatTheTokenMay(t *testing.T) {
	s := newEnv(t)
	s.withProvider()
	for _, asked := range []string{"", "read", "read openid"} {
		for _, client := range []string{"dashboard", "cli"} {
			r := exchanging()
			r.ClientID, r.Scope = client, asked
			s.wantScope(t, client+" asks for "+asked, s.token(t, r), apiOrigin, "publish read admin")
		}
	}
}

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
			again.Resource = resource
			s.token(t, again)
		}
	}
}

// TestAResourceMeansTheSameWithAndWithoutItsFinalSlash mixes the forms, because Codex sends the one and other clients
// send the other, and some take the resource of a refresh from the metadata.
func TestAResourceMeansTheSameWithAndWithoutItsFinalSlash(t *testing.T) {
	s := newEnv(t)
	for _, at := range [][2]string{{mcpOrigin, mcpOrigin + "/"}, {mcpOrigin + "/", mcpOrigin}} {
		a := s.robot(t)
		a.Resource = at[0]
		r := s.code(t, a)
		r.Resource = at[1]
		again := refreshing(a.ClientID, s.token(t, r))
		for _, resource := range at {
			again.Resource = resource
			out := s.token(t, again)
			if !s.works(out.AccessToken, mcpOrigin) {
				t.Errorf("asked for %s and refreshed for %s, the token does not work", at[0], resource)
			}
			again = refreshing(a.ClientID, out)
		}
	}
}

func TestTheMetadataNameWhatADeploymentHas(t *testing.T) {
	o := address.Origins{API: apiOrigin, MCP: mcpOrigin, App: "https://app.example.com"}
	all := oauth.Metadata(o, oauth.Features{People: true, Documents: true, Agents: true})
	if !all.ClientDocuments || !all.IssParameter || all.Issuer != apiOrigin || all.Resource != apiOrigin ||
		!slices.Equal(all.ResponseModes, []string{"query"}) || !slices.Equal(all.CodeChallengeMethods, []string{"S256"}) ||
		!slices.Contains(all.GrantTypes, contract.GrantCode) || len(all.AgentAuth.IdentityTypes) != 1 {
		t.Errorf("%+v, want all features", all)
	}
	closed := oauth.Metadata(o, oauth.Features{People: true, Agents: true})
	if closed.ClientDocuments || closed.RegistrationEndpoint == "" {
		t.Errorf("where no document can be fetched: %+v", closed)
	}
	none := oauth.Metadata(o, oauth.Features{})
	if none.ClientDocuments || none.AuthorizationEndpoint+none.RegistrationEndpoint != "" ||
		none.AgentAuth.IdentityTypes == nil || len(none.AgentAuth.IdentityTypes) != 0 || slices.Contains(none.GrantTypes, contract.GrantCode) {
		t.Errorf("%+v, want none", none)
	}
	for _, tt := range []struct {
		has  oauth.Features
		want []string
	}{
		{oauth.Features{Agents: true, Providers: true}, []string{"anonymous", "identity_assertion"}},
		{oauth.Features{Agents: true, NoAnonymous: true}, []string{}},
		{oauth.Features{Agents: true, Providers: true, NoAnonymous: true}, []string{"identity_assertion"}},
		{oauth.Features{Providers: true}, []string{}},
	} {
		if got := oauth.Metadata(o, tt.has).AgentAuth.IdentityTypes; got == nil || !slices.Equal(got, tt.want) {
			t.Errorf("Metadata(%+v) has the types %q, want %q", tt.has, got, tt.want)
		}
	}
	there := oauth.MCPMetadata(o, oauth.Features{People: true, Documents: true, Agents: true})
	if there.Resource != mcpOrigin || there.ResourceMetadataURL != mcpOrigin+"/.well-known/oauth-protected-resource" ||
		!slices.Equal(there.ProtectedResources, []string{mcpOrigin, mcpOrigin + "/"}) {
		t.Errorf("%+v, want the MCP host's resource", there)
	}
	there.ResourceMetadata, there.ResourceMetadataURL, there.ProtectedResources = all.ResourceMetadata, "", nil
	if mustEncode(t, there) != mustEncode(t, all) {
		t.Error("the MCP host describes another authorization server")
	}
	resource := mustEncode(t, oauth.MCPResourceMetadata(o, policy.Brand{}))
	want := `{"resource":"https://mcp.example.com","resource_name":"Vitrine MCP",` +
		`"authorization_servers":["https://api.example.com"],"scopes_supported":["read","publish"],` +
		`"bearer_methods_supported":["header"]}`
	if strings.TrimSpace(resource) != want {
		t.Errorf("got %s\nwant %s", resource, want)
	}
}

func TestTheMetadataNameTheOwnersTerms(t *testing.T) {
	b := policy.Brand{Name: "Pictures", Terms: "https://example.com/terms", Privacy: "https://example.com/privacy"}
	o := address.Origins{API: apiOrigin, MCP: mcpOrigin}
	server := oauth.Metadata(o, oauth.Features{Brand: b})
	if server.Terms != b.Terms || server.Policy != b.Privacy {
		t.Errorf("the server names %q and %q", server.Terms, server.Policy)
	}
	for want, r := range map[string]contract.ResourceMetadata{
		"Pictures API": server.ResourceMetadata, "Pictures MCP": oauth.MCPResourceMetadata(o, b),
	} {
		if r.ResourceName != want || r.ResourceTerms != b.Terms || r.ResourcePolicy != b.Privacy {
			t.Errorf("%s: %+v", want, r)
		}
	}
}

func mustEncode(t *testing.T, v any) string {
	t.Helper()
	text, err := contract.Encode(v)
	expect.OK(t, err)
	return string(text)
}

// actor returns who acts by an access token.
func (e *env) actor(t *testing.T, token, audience string) credential.Actor {
	t.Helper()
	in, err := e.opens(token, audience)
	expect.OK(t, err)
	return in.Actor
}

func TestAClientMayAskForAFreshSignIn(t *testing.T) {
	s := newEnv(t)
	for prompt, want := range map[string]string{
		"":        "https://app.example.com/oauth/consent?req=",
		"consent": "https://app.example.com/oauth/consent?req=",
		"login":   "https://app.example.com/api/auth/sign-in?fresh=1&returnPathname=%2Foauth%2Fconsent%3Freq%3D",
	} {
		a := authorization()
		a.Prompt = prompt
		if to, err := s.Authorize(ctx, a); err != nil || !strings.HasPrefix(to, want) {
			t.Errorf("prompt %q leads to %s, %v", prompt, to, err)
		}
	}
}

// A token of a member who has just signed in at our own client counts as a sign-in; an operator's acts for the
// operator.
func TestT47OnlyOurOwnClientsActForAnOperatorAndNotForLong(t *testing.T) {
	s := newEnv(t)
	operates := func(token, audience string) bool { return s.actor(t, token, audience).Operates(s.clock.Now()) == nil }
	fresh := func(token, audience string) bool {
		return s.actor(t, token, audience).SignedInLately(s.clock.Now()) == nil
	}
	if own := s.signIn(t, authorization()).AccessToken; operates(own, apiOrigin) || fresh(own, apiOrigin) {
		t.Error("a member's token is an operator's, or counts as a sign-in at no known time")
	}
	s.by.AuthenticatedAt = s.clock.Now().Add(-time.Minute)
	s.by.Operator = s.by.AuthenticatedAt
	mine := s.signIn(t, authorization())
	if !operates(mine.AccessToken, apiOrigin) || !fresh(mine.AccessToken, apiOrigin) {
		t.Error("an operator's token is none, or does not count right after the sign-in")
	}
	if robot := s.signIn(t, s.robot(t)).AccessToken; operates(robot, mcpOrigin) || fresh(robot, mcpOrigin) {
		t.Error("a client that registered itself acts for an operator, or its token counts")
	}
	device := s.device(t)
	expect.OK(t, s.ApproveDevice(ctx, s.by, device.UserCode))
	if flow := s.token(t, polling("cli", device)); operates(flow.AccessToken, apiOrigin) {
		t.Error("a device with a code that somebody typed acts for an operator")
	}
	again := s.token(t, refreshing("cli", mine))
	if operates(again.AccessToken, apiOrigin) {
		t.Error("a refreshed token acts for an operator within the 15 minutes")
	}
	s.clock.Advance(max(limits.OperatorFresh, limits.FreshSignIn))
	again = s.token(t, refreshing("cli", again))
	if operates(again.AccessToken, apiOrigin) || fresh(again.AccessToken, apiOrigin) {
		t.Error("a refreshed token still acts for an operator, or counts")
	}
}
