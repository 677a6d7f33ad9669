package oauth_test

import (
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/limits"
)

// actor returns who acts by an access token.
func (s *env) actor(t *testing.T, token, audience string) credential.Actor {
	t.Helper()
	in, err := s.opens(token, audience)
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

// A token of a member who has just signed in at our own client counts as a sign-in; an operator's acts for the operator.
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
