package oauth_test

import (
	"testing"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
)

// TestTheHelperGetsWhatAgentsGet holds its tokens to the MCP host and to the rights that agents' clients can have.
func TestTheHelperGetsWhatAgentsGet(t *testing.T) {
	s := newEnv(t)
	s.by = s.join(t, credential.Publish, credential.Read, credential.Admin)
	a := authorization()
	a.ClientID, a.Scope, a.Resource = string(oauth.Helper), "publish read admin", mcpOrigin
	out := s.signIn(t, a)
	s.wantScope(t, "code", out, mcpOrigin, "publish read")
	s.wantScope(t, "refresh", s.token(t, refreshing(string(oauth.Helper), out)), mcpOrigin, "publish read")
	if _, err := s.opens(out.AccessToken, apiOrigin); err == nil {
		t.Error("the api accepts its token")
	}
	if _, err := s.StartDevice(ctx, string(oauth.Helper), "publish read", "a machine", a.From); err == nil {
		t.Error("it can begin on a device")
	}
}
