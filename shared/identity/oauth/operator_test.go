package oauth_test

import (
	"testing"
	"time"

	"vitrine/shared/entry/access"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// operates reports whether an access token is an operator's.
func (s *env) operates(t testing.TB, token, audience string) bool {
	t.Helper()
	m := &access.Members{
		Store:       s.store.Access,
		Peppers:     s.Peppers,
		Limits:      &s.limits,
		Environment: credential.Preview,
		Audience:    audience,
		Delegated:   audience == mcpOrigin,
		Now:         s.now,
	}
	in, err := m.Authenticate(ctx, token, access.Request{}, request)
	if err != nil {
		t.Fatal(err)
	}
	return in.Actor.Operates(s.now()) == nil
}

func TestT47OnlyOurOwnClientsActForAnOperatorAndNotForLong(t *testing.T) {
	s := newEnv(t)
	if s.operates(t, s.signIn(t, authorization()).AccessToken, apiOrigin) {
		t.Error("a member's token is an operator's")
	}
	s.by.Operator = s.now().Add(-time.Minute)
	mine := s.signIn(t, authorization())
	if !s.operates(t, mine.AccessToken, apiOrigin) {
		t.Error("an operator's token is none")
	}
	if robot := s.signIn(t, s.robot(t)); s.operates(t, robot.AccessToken, mcpOrigin) {
		t.Error("a client that registered itself acts for an operator")
	}
	device, err := s.StartDevice(ctx, "cli", "", "laptop", from)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.ApproveDevice(ctx, s.by, device.UserCode); err != nil {
		t.Fatal(err)
	}
	flow := s.token(t, oauth.TokenRequest{GrantType: contract.GrantDevice, ClientID: "cli", DeviceCode: device.DeviceCode})
	if s.operates(t, flow.AccessToken, apiOrigin) {
		t.Error("a device with a code that somebody typed acts for an operator")
	}
	s.later(limits.OperatorFresh)
	if again := s.token(t, refreshing("cli", mine)); s.operates(t, again.AccessToken, apiOrigin) {
		t.Error("a refreshed token still acts for an operator")
	}
}
