package oauth_test

import (
	"testing"
	"time"

	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// operates reports whether an access token is an operator's.
func (s *env) operates(t testing.TB, token, audience string) bool {
	t.Helper()
	in, err := s.opens(token, audience)
	if err != nil {
		t.Fatal(err)
	}
	return in.Actor.Operates(s.clock.Now()) == nil
}

func TestT47OnlyOurOwnClientsActForAnOperatorAndNotForLong(t *testing.T) {
	s := newEnv(t)
	if s.operates(t, s.signIn(t, authorization()).AccessToken, apiOrigin) {
		t.Error("a member's token is an operator's")
	}
	s.by.Operator = s.clock.Now().Add(-time.Minute)
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
	s.clock.Advance(limits.OperatorFresh)
	if again := s.token(t, refreshing("cli", mine)); s.operates(t, again.AccessToken, apiOrigin) {
		t.Error("a refreshed token still acts for an operator")
	}
}
