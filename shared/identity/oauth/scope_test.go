package oauth_test

import (
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// wantScope checks that the scope of an answer is what its token may do.
func (s *env) wantScope(t *testing.T, what string, out contract.Token, audience, want string) {
	t.Helper()
	opened, err := s.opens(out.AccessToken, audience)
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
