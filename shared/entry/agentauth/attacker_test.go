package agentauth_test

import (
	"testing"
	"time"

	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/entry/agentauth"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/limits"
)

func TestT25OfTwoWhoCompleteAtOnceOneWins(t *testing.T) {
	w := newEnv(t)
	a := w.agent()
	s := w.start(a.ClaimToken)
	people := make([]credential.Actor, 6)
	for n := range people {
		people[n] = w.person()
	}
	answers := parallel.Calls(len(people), func(n int) error {
		if n%2 == 0 {
			return w.complete(people[n], s.AttemptToken, s.UserCode)
		}
		_, err := w.claimer.Claim(ctx, people[n], command(), nil, a.ClaimToken)
		return err
	})
	winner := -1
	for n, err := range answers {
		code := codeOf(err)
		switch {
		case err == nil && winner < 0:
			winner = n
		case err == nil:
			t.Error("two of them won")
		case n%2 == 0 && code != "invalid_request", n%2 == 1 && code != "not_found":
			t.Error(n, err)
		}
	}
	if winner < 0 {
		t.Fatal("nobody won", answers)
	}
	got, err := w.poll(a.ClaimToken)
	if winner%2 == 1 { // the claim token alone
		w.wantCode(err, "invalid_grant")
		return
	}
	w.ok(err)
	if w.works(got.AccessToken) != people[winner].Workspace.ID {
		t.Error("the agent works elsewhere than with whom it was let in")
	}
}

// TestAStrangersClaimLinkLetsNobodyIn has an attacker register, and send the claim token to a person who takes it for
// a gift. The artifacts become the person's, and the agent gets no access to their workspace.
func TestAStrangersClaimLinkLetsNobodyIn(t *testing.T) {
	for name, started := range map[string]bool{"without an attempt": false, "with an open attempt": true} {
		t.Run(name, func(t *testing.T) {
			w := newEnv(t)
			a, victim := w.agent(), w.person()
			var s contract.StartedClaim
			if started {
				s = w.start(a.ClaimToken)
			}
			_, err := w.claimer.Claim(ctx, victim, command(), nil, a.ClaimToken)
			w.ok(err)
			for _, passed := range []time.Duration{0, limits.PollInterval, limits.ClaimRedeemLife, limits.Day} {
				w.wait(passed)
				_, err = w.poll(a.ClaimToken)
				w.wantCode(err, "invalid_grant")
				_, err = w.exchange(a.IdentityAssertion)
				w.wantCode(err, "invalid_grant")
				_, err = w.StartClaim(ctx, contract.StartClaim{ClaimToken: a.ClaimToken}, admitAll, "")
				w.wantCode(err, "expired_token")
				if started {
					w.wantCode(w.complete(victim, s.AttemptToken, s.UserCode), "invalid_request")
				}
			}
			if listed, _, err := w.Connections(ctx, victim, cursor.Page{}); err != nil || len(listed) != 0 {
				t.Errorf("the victim's agents are %+v (%v)", listed, err)
			}
			if r := w.registration(a.RegistrationID); r.Workspace == victim.Workspace.ID || r.Keys != nil {
				t.Errorf("%+v is in the victim's workspace or has keys", r)
			}
		})
	}
}

func TestT26AStepUpIsCompletedByTheMatchedMemberOnly(t *testing.T) {
	w := newEnv(t)
	matched, other := w.human("ada", "ada@example.org"), w.human("eve", "eve@example.org")
	asked := w.asked("agent-ada", "Ada@Example.org")
	_, err := w.poll(asked.ClaimToken)
	w.wantCode(err, "authorization_pending")
	s := w.start(asked.ClaimToken)
	if s.UserCode != "" || s.Claim.UserCode != "" || s.AttemptToken != "" {
		t.Error("the code is told a second time")
	}
	attempt := attemptOf(s.Claim)
	w.wantCode(w.complete(other, attempt, asked.Claim.UserCode), "invalid_request")
	_, err = w.Preview(ctx, other, attempt)
	w.wantCode(err, "invalid_request")
	w.wantCode(w.Refuse(ctx, other, attempt), "invalid_request")
	w.wantCode(w.agree(matched, asked), "invalid_request") // the attempt before
	w.ok(w.complete(matched, attempt, asked.Claim.UserCode))
	got, err := w.poll(asked.ClaimToken)
	w.ok(err)
	if w.works(got.AccessToken) != matched.Workspace.ID {
		t.Error("the agent works elsewhere")
	}
}

func TestT27NothingFromBeforeTheClaimWorksAfterIt(t *testing.T) {
	for how, tt := range map[string]struct {
		claims func(*env, contract.RegisteredAgent, credential.Actor) error
		admits bool
	}{
		"by code": {func(w *env, a contract.RegisteredAgent, p credential.Actor) error {
			s := w.start(a.ClaimToken)
			return w.complete(p, s.AttemptToken, s.UserCode)
		}, true},
		"by its claim token alone": {func(w *env, a contract.RegisteredAgent, p credential.Actor) error {
			_, err := w.claimer.Claim(ctx, p, command(), nil, a.ClaimToken)
			return err
		}, false},
	} {
		t.Run("claimed "+how, func(t *testing.T) {
			w := newEnv(t)
			a, p := w.agent(), w.person()
			before, err := w.exchange(a.IdentityAssertion)
			w.ok(err)
			w.ok(tt.claims(w, a, p))
			_, err = w.exchange(a.IdentityAssertion)
			w.wantCode(err, "invalid_grant")
			if w.works(before.AccessToken) != "" {
				t.Error("a token from before the claim works")
			}
			_, err = w.StartClaim(ctx, contract.StartClaim{ClaimToken: a.ClaimToken}, admitAll, "")
			w.wantCode(err, "expired_token")
			_, err = w.claimer.Claim(ctx, w.person(), command(), nil, a.ClaimToken)
			w.wantCode(err, "not_found")
			if r := w.registration(a.RegistrationID); r.State != agentauth.Verified || r.Member != p.Member ||
				(r.Workspace == p.Workspace.ID) != tt.admits || r.Generation != 2 || r.Keys != nil {
				t.Errorf("%+v, want it verified for the member, without keys", r)
			}
			got, err := w.poll(a.ClaimToken)
			if !tt.admits {
				w.wantCode(err, "invalid_grant")
				return
			}
			w.ok(err)
			if w.works(got.AccessToken) != p.Workspace.ID {
				t.Error("the claim gives no access")
			}
		})
	}
}
