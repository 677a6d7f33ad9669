package oauth_test

import (
	"strings"
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

// fresh reports whether a token counts as a sign-in of a moment ago.
func (s *env) fresh(t *testing.T, token, audience string) bool {
	t.Helper()
	in, err := s.opens(token, audience)
	if err != nil {
		t.Fatal(err)
	}
	return in.Actor.SignedInLately(s.clock.Now()) == nil
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

func TestOnlyATokenThatFollowsASignInCountsAsOneAndNotForLong(t *testing.T) {
	s := newEnv(t)
	if s.fresh(t, s.signIn(t, authorization()).AccessToken, apiOrigin) {
		t.Error("a token counts whose member signed in at no known time")
	}
	s.by.AuthenticatedAt = s.clock.Now().Add(-time.Minute)
	mine := s.signIn(t, authorization())
	if !s.fresh(t, mine.AccessToken, apiOrigin) {
		t.Error("a token right after the sign-in does not count")
	}
	if robot := s.signIn(t, s.robot(t)); s.fresh(t, robot.AccessToken, mcpOrigin) {
		t.Error("a token of a client that registered itself counts")
	}
	s.clock.Advance(limits.FreshSignIn)
	if again := s.token(t, refreshing("cli", mine)); s.fresh(t, again.AccessToken, apiOrigin) {
		t.Error("a refreshed token counts")
	}
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
	again := s.token(t, refreshing("cli", mine))
	if s.operates(t, again.AccessToken, apiOrigin) {
		t.Error("a refreshed token acts for an operator within the 15 minutes")
	}
	s.clock.Advance(limits.OperatorFresh)
	if again := s.token(t, refreshing("cli", again)); s.operates(t, again.AccessToken, apiOrigin) {
		t.Error("a refreshed token still acts for an operator")
	}
}
