package agentauth

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"vitrine/shared/identity/assertion"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

var (
	born   = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	few    = limits.Rate{Limit: 5, Window: 10 * time.Minute}
	many   = limits.Rate{Limit: 30, Window: time.Hour}
	source = id.NewWorkspace()
	home   = id.NewWorkspace()
	owner  = id.NewMember()
)

// fresh is an anonymous registration that nobody claimed, changed by edits.
func fresh(edits ...func(*Registration)) Registration {
	claim := id.NewPublic()
	r := Registration{
		ID: id.RegistrationOf(claim), Kind: Anonymous, State: Unclaimed, Generation: 1, Version: 1, Workspace: source, Claim: claim,
		CreatedAt: born, ExpiresAt: born.Add(limits.RegistrationLife),
	}
	for _, edit := range edits {
		edit(&r)
	}
	return r
}

func mac(text string) credential.Hash { return credential.Hash{Pepper: 1, MAC: []byte(text)} }

// asking has an attempt that was made at birth.
func asking(r *Registration) {
	r.State, r.Starts = ClaimPending, 1
	r.Attempt = Attempt{Number: 1, Token: mac("token"), Code: mac("code"), ExpiresAt: born.Add(limits.AttemptLife)}
}

// claimed was claimed at birth.
func claimed(r *Registration) {
	asking(r)
	r.State, r.Workspace, r.Member, r.CompletedAt, r.Generation = Verified, home, owner, born, 2
}

// vouched waits for the person that a provider named.
func vouched(r *Registration) {
	asking(r)
	r.Kind, r.State, r.Member, r.ExpiresAt = Provider, PendingStepUp, owner, born.Add(limits.AttemptLife)
}

func locked(r *Registration)  { r.Locked = true }
func revoked(r *Registration) { claimed(r); r.State, r.Generation = Revoked, 3 }

// shown is what the newest assertion of r says.
func shown(r Registration) assertion.Claims {
	return assertion.Claims{Registration: r.ID, Type: string(r.Kind), Phase: r.phase(), Generation: r.Generation, Workspace: r.Workspace}
}

// place is the workspace of r: open, and claimed if r is.
func place(r Registration) *workspace.Workspace {
	w := &workspace.Workspace{ID: r.Workspace, CreatedAt: born}
	if r.Workspace == home || r.Kind == Provider {
		w.ClaimedAt = born
	}
	return w
}

func right(r Registration) visitor {
	return visitor{member: owner, workspace: home, token: true, code: true}
}

func wrong(r Registration) visitor {
	v := right(r)
	v.code = false
	return v
}

func codeOf(err error) string {
	if err == nil {
		return "ok"
	}
	if r, isRefusal := errors.AsType[*fault.Refusal](err); isRefusal {
		return string(r.Code)
	}
	return string(fault.CodeOf(err))
}

// the events of the state machine, as functions of a registration.
type events map[string]func(Registration, time.Time) step

var machine = events{
	"exchange": func(r Registration, at time.Time) step {
		return r.exchange(shown(r), place(r), id.NewPublic(), at, many)
	},
	"exchange an assertion from before": func(r Registration, at time.Time) step {
		c := shown(r)
		c.Generation, c.Phase, c.Workspace = c.Generation-1, assertion.PreClaim, source
		return r.exchange(c, place(r), id.NewPublic(), at, many)
	},
	"exchange in a consumed workspace": func(r Registration, at time.Time) step {
		w := place(r)
		w.Into, w.ClaimedAt = home, at
		return r.exchange(shown(r), w, id.NewPublic(), at, many)
	},
	"exchange in a locked workspace": func(r Registration, at time.Time) step {
		w := place(r)
		w.Lock = "lkd_1"
		return r.exchange(shown(r), w, id.NewPublic(), at, many)
	},
	"exchange after the epoch": func(r Registration, at time.Time) step {
		w := place(r)
		w.Epoch++
		return r.exchange(shown(r), w, id.NewPublic(), at, many)
	},
	"exchange without workspace": func(r Registration, at time.Time) step {
		return r.exchange(shown(r), nil, id.NewPublic(), at, many)
	},
	"start": func(r Registration, at time.Time) step {
		return r.start(Attempt{Token: mac("second"), Code: mac("other")}, at, few)
	},
	"poll":       func(r Registration, at time.Time) step { return r.claim(place(r), id.NewPublic(), at) },
	"right code": func(r Registration, at time.Time) step { return r.complete(right(r), at) },
	"wrong code": func(r Registration, at time.Time) step { return r.complete(wrong(r), at) },
	"refuse":     func(r Registration, at time.Time) step { return r.refuse(right(r), at) },
	"right code by a stranger": func(r Registration, at time.Time) step {
		v := right(r)
		v.member = id.NewMember()
		return r.complete(v, at)
	},
	"right code without token": func(r Registration, at time.Time) step {
		v := right(r)
		v.token = false
		return r.complete(v, at)
	},
	"unlink":               func(r Registration, at time.Time) step { return r.unlink(home) },
	"unlink by a stranger": func(r Registration, at time.Time) step { return r.unlink(id.NewWorkspace()) },
}

func TestEveryTransitionOfTheStateMachine(t *testing.T) {
	const week = limits.RegistrationLife
	for _, tt := range []struct {
		row    string
		from   Registration
		event  string
		after  time.Duration // of birth
		answer string
		to     State
	}{
		{"2", fresh(), "exchange", 0, "ok", Unclaimed},
		{"2", fresh(asking), "exchange", 0, "ok", ClaimPending},
		{"2", fresh(locked), "exchange", 0, "ok", Unclaimed},
		{"2", fresh(), "exchange in a consumed workspace", 0, "invalid_grant", Unclaimed},
		{"2", fresh(), "exchange without workspace", 0, "invalid_grant", Unclaimed},
		{"2", fresh(), "exchange after the epoch", 0, "invalid_grant", Unclaimed},
		{"2", fresh(), "exchange", week, "expired_token", Unclaimed},
		{"3", fresh(), "start", 0, "ok", ClaimPending},
		{"3", fresh(asking), "start", 0, "ok", ClaimPending},
		{"3", fresh(), "start", week, "expired_token", Unclaimed},
		{"3", fresh(locked), "start", 0, "access_denied", Unclaimed},
		{"3", fresh(claimed), "start", 0, "expired_token", Verified},
		{"3", fresh(revoked), "start", 0, "expired_token", Revoked},
		{"3", fresh(func(r *Registration) { r.Started = Window{born, 5} }), "start", 9 * time.Minute, "slow_down", Unclaimed},
		{"3", fresh(func(r *Registration) { r.Started = Window{born, 5} }), "start", 10 * time.Minute, "ok", ClaimPending},
		{"3", fresh(func(r *Registration) { r.Starts = 20 }), "start", 0, "access_denied", Unclaimed},
		{"4", fresh(), "poll", 0, "authorization_pending", Unclaimed},
		{"4", fresh(asking), "poll", 0, "authorization_pending", ClaimPending},
		{"4", fresh(asking, func(r *Registration) { r.PolledAt = born }), "poll", 4 * time.Second, "slow_down", ClaimPending},
		{"4", fresh(asking, func(r *Registration) { r.PolledAt = born }), "poll", 5 * time.Second, "authorization_pending", ClaimPending},
		{"4", fresh(asking, locked), "poll", 0, "access_denied", ClaimPending},
		{"5", fresh(asking), "poll", limits.AttemptLife, "authorization_pending", ClaimPending},
		{"5", fresh(asking), "right code", limits.AttemptLife, "invalid_request", ClaimPending},
		{"5", fresh(asking), "start", limits.AttemptLife, "ok", ClaimPending},
		{"6", fresh(asking), "wrong code", 0, "invalid_request", ClaimPending},
		{"6", fresh(asking, func(r *Registration) { r.Attempt.Tries = 5 }), "right code", 0, "invalid_request", ClaimPending},
		{"6", fresh(asking, locked), "right code", 0, "invalid_request", ClaimPending},
		{"7", fresh(asking), "refuse", 0, "ok", Unclaimed},
		{"7", fresh(), "refuse", 0, "invalid_request", Unclaimed},
		{"7", fresh(func(r *Registration) { r.Refused = true }), "refuse", 0, "ok", Unclaimed},
		{"7", fresh(func(r *Registration) { r.Refused = true }), "poll", 0, "access_denied", Unclaimed},
		{"8", fresh(asking), "right code", 0, "ok", Verified},
		{"8", fresh(asking), "right code by a stranger", 0, "ok", Verified},
		{"8", fresh(asking), "right code without token", 0, "invalid_request", ClaimPending},
		{"8", fresh(), "right code", 0, "invalid_request", Unclaimed},
		{"8", fresh(claimed), "right code", 0, "invalid_request", Verified},
		{"10", fresh(claimed), "poll", 0, "ok", Verified},
		{"10", fresh(claimed, func(r *Registration) { r.Redeemed = 2 }), "poll", 0, "ok", Verified},
		{"10", fresh(claimed, func(r *Registration) { r.Redeemed = 3 }), "poll", 0, "invalid_grant", Verified},
		{"10", fresh(claimed), "poll", limits.ClaimRedeemLife, "invalid_grant", Verified},
		{"11", fresh(claimed), "exchange", 0, "ok", Verified},
		{"11", fresh(claimed), "exchange an assertion from before", 0, "invalid_grant", Verified},
		{"11", fresh(claimed), "exchange", week, "expired_token", Verified},
		{"11", fresh(func(r *Registration) { r.Exchanged = Window{born, 30} }), "exchange", time.Minute, "slow_down", Unclaimed},
		{"12", fresh(asking), "poll", week, "expired_token", ClaimPending},
		{"12", fresh(asking), "right code", week, "invalid_request", ClaimPending},
		{"12", fresh(claimed), "poll", week, "expired_token", Verified},
		{"15", fresh(vouched), "right code", 0, "ok", Verified},
		{"15, T26", fresh(vouched), "right code by a stranger", 0, "invalid_request", PendingStepUp},
		{"15", fresh(vouched), "wrong code", 0, "invalid_request", PendingStepUp},
		{"15", fresh(vouched), "refuse", 0, "ok", PendingStepUp},
		{"16", fresh(vouched), "poll", 0, "authorization_pending", PendingStepUp},
		{"16", fresh(vouched), "exchange", 0, "authorization_pending", PendingStepUp},
		{"16", fresh(vouched), "start", 0, "ok", PendingStepUp},
		{"17", fresh(vouched), "poll", limits.AttemptLife, "expired_token", PendingStepUp},
		{"17", fresh(vouched), "exchange", limits.AttemptLife, "expired_token", PendingStepUp},
		{"17", fresh(vouched), "right code", limits.AttemptLife, "invalid_request", PendingStepUp},
		{"19", fresh(claimed), "unlink", 0, "ok", Revoked},
		{"19", fresh(claimed), "unlink by a stranger", 0, "not_found", Verified},
		{"19", fresh(asking), "unlink", 0, "not_found", ClaimPending},
		{"19", fresh(revoked), "unlink", 0, "not_found", Revoked},
		{"19", fresh(revoked), "exchange", 0, "invalid_grant", Revoked},
		{"19", fresh(revoked), "poll", 0, "invalid_grant", Revoked},
		{"20", fresh(claimed), "exchange in a locked workspace", 0, "invalid_grant", Verified},
		{"20", fresh(), "exchange in a locked workspace", 0, "invalid_grant", Unclaimed},
	} {
		t.Run(fmt.Sprintf("row %s: %s when %s after %s", tt.row, tt.event, tt.from.State, tt.after), func(t *testing.T) {
			before := tt.from
			before.Keys = slices.Clone(tt.from.Keys)
			got := machine[tt.event](tt.from, born.Add(tt.after))
			if answer := codeOf(got.refusal); answer != tt.answer || got.to.State != tt.to {
				t.Errorf("answers %s and is %s, want %s and %s", answer, got.to.State, tt.answer, tt.to)
			}
			if !reflect.DeepEqual(tt.from, before) {
				t.Error("the registration that was read has changed")
			}
			if !got.write && !reflect.DeepEqual(got.to, tt.from) {
				t.Error("a change would not be stored")
			}
		})
	}
}

func TestAnAttemptReplacesTheOneBefore(t *testing.T) {
	got := fresh(asking, func(r *Registration) { r.Attempt.Tries, r.Refused = 4, true }).
		start(Attempt{Token: mac("second"), Code: mac("other")}, born.Add(time.Minute), few).to
	want := Attempt{Number: 2, Token: mac("second"), Code: mac("other"), ExpiresAt: born.Add(time.Minute + limits.AttemptLife)}
	if !reflect.DeepEqual(got.Attempt, want) || got.Starts != 2 || got.Refused {
		t.Errorf("%+v", got)
	}
	late := fresh(asking).start(Attempt{Token: mac("second")}, born.Add(limits.RegistrationLife-time.Minute), few).to
	if !late.Attempt.ExpiresAt.Equal(late.ExpiresAt) {
		t.Error("an attempt outlives its registration:", late.Attempt.ExpiresAt)
	}
	kept := fresh(vouched, func(r *Registration) { r.Attempt.Tries = 3 }).start(Attempt{Token: mac("second"), Code: mac("other")}, born, few).to
	if !reflect.DeepEqual(kept.Attempt.Code, mac("code")) || kept.Attempt.Tries != 3 {
		t.Error("a code that was given at registration is replaced, or its tries start anew")
	}
}

func TestWrongCodesEndTheAttemptAndThenTheRegistration(t *testing.T) {
	r := fresh(asking)
	for n := 1; n <= limits.RegistrationTries; n++ {
		if r.Attempt.Tries == limits.AttemptTries {
			if r.confirming(born) {
				t.Fatal("an attempt lives after its last try")
			}
			if st := r.complete(wrong(r), born); st.write || st.guessed {
				t.Fatal("a dead attempt counts guesses")
			}
			r = r.start(Attempt{Token: mac("next"), Code: mac("next")}, born, many).to
		}
		st := r.complete(wrong(r), born)
		if !st.guessed || !st.write || st.locked != (n == limits.RegistrationTries) || st.to.Locked != st.locked {
			t.Fatalf("wrong code %d: %+v", n, st)
		}
		r = st.to
	}
}

func TestTheClaimRaisesTheGenerationAndDropsTheTokensFromBefore(t *testing.T) {
	got := fresh(asking, func(r *Registration) { r.Keys = []id.Public{id.NewPublic()} }).complete(visitor{owner, home, true, true}, born.Add(time.Second)).to
	if got.Generation != 2 || got.Workspace != home || got.Member != owner || got.Keys != nil || !got.CompletedAt.Equal(born.Add(time.Second)) {
		t.Errorf("%+v", got)
	}
	if got.phase() != assertion.PostClaim {
		t.Error(got.phase())
	}
}

func TestARegistrationHoldsTenTokensAndTheOldestGoesFirst(t *testing.T) {
	r := fresh()
	var all []id.Public
	for n := range 25 {
		key := id.NewPublic()
		all = append(all, key)
		st := r.exchange(shown(r), place(r), key, born, many)
		var ends []id.Public
		if n >= limits.AgentTokens {
			ends = all[n-limits.AgentTokens : n-limits.AgentTokens+1]
		}
		if !slices.Equal(st.ends, ends) || !slices.Equal(st.to.Keys, all[max(0, n+1-limits.AgentTokens):]) {
			t.Fatalf("token %d: ends %v, holds %v", n, st.ends, st.to.Keys)
		}
		r = st.to
	}
}

func TestEachRedemptionEndsTheTokenOfTheOneBefore(t *testing.T) {
	r := fresh(claimed)
	var keys []id.Public
	for n := range limits.ClaimRedemptions {
		key := id.NewPublic()
		st := r.claim(place(r), key, born)
		if n > 0 && !slices.Equal(st.ends, keys[n-1:]) || n == 0 && st.ends != nil {
			t.Errorf("redemption %d ends %v", n, st.ends)
		}
		if !slices.Equal(st.to.Keys, []id.Public{key}) {
			t.Errorf("redemption %d leaves %v", n, st.to.Keys)
		}
		keys, r = append(keys, key), st.to
	}
}

func TestPollsArePacedByABucketThatRefills(t *testing.T) {
	r, at := fresh(asking), born
	poll := func() (n int) {
		for {
			st := r.poll(at)
			if codeOf(st.refusal) != "authorization_pending" {
				return n
			}
			r = st.to
			n++
		}
	}
	if n := poll(); n != limits.PollBurst {
		t.Errorf("%d polls at once", n)
	}
	at = at.Add(limits.PollInterval*2 + time.Second)
	if n := poll(); n != 2 {
		t.Errorf("%d polls after two intervals", n)
	}
	slow, isRefusal := errors.AsType[*fault.Refusal](r.poll(at).refusal)
	if !isRefusal || slow.RetryAfter != 4*time.Second {
		t.Errorf("told to wait: %+v", slow)
	}
	at = at.Add(4 * time.Second)
	if n := poll(); n != 1 {
		t.Errorf("%d polls after the wait", n)
	}
	at = at.Add(time.Hour)
	if n := poll(); n != limits.PollBurst {
		t.Errorf("%d polls after an hour", n)
	}
}

func TestUnlinkingEndsEveryTokenAndEveryAssertion(t *testing.T) {
	held := []id.Public{id.NewPublic(), id.NewPublic()}
	r := fresh(claimed, func(r *Registration) { r.Keys = held })
	st := r.unlink(home)
	if !slices.Equal(st.ends, held) || st.to.Generation != r.Generation+1 || st.to.Keys != nil {
		t.Errorf("%+v", st)
	}
}
