package agentauth

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/shared/identity/assertion"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/conflict"
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

// newRegistration returns an anonymous unclaimed registration, changed by edits.
func newRegistration(edits ...func(*Registration)) Registration {
	claim := id.NewPublic()
	r := Registration{
		ID:         id.RegistrationOf(claim),
		Kind:       Anonymous,
		State:      Unclaimed,
		Generation: 1,
		Version:    1,
		Workspace:  source,
		Claim:      claim,
		CreatedAt:  born,
		ExpiresAt:  born.Add(limits.RegistrationLife),
	}
	for _, edit := range edits {
		edit(&r)
	}
	return r
}

func mac(text string) credential.Hash { return credential.Hash{Pepper: 1, MAC: []byte(text)} }

// withAttempt adds an attempt that was started at registration.
func withAttempt(r *Registration) {
	r.State, r.Starts = ClaimPending, 1
	r.Attempt = Attempt{
		Number:    1,
		Token:     mac("token"),
		Code:      mac("code"),
		ExpiresAt: born.Add(limits.AttemptLife),
	}
}

// claimed makes r a registration that was claimed at once.
func claimed(r *Registration) {
	withAttempt(r)
	r.State = Verified
	r.Workspace = home
	r.Member = owner
	r.CompletedAt = born
	r.Generation = 2
}

// withProvider makes r wait for the person that a provider identified.
func withProvider(r *Registration) {
	withAttempt(r)
	r.Kind = Provider
	r.State = PendingStepUp
	r.Member = owner
	r.ExpiresAt = born.Add(limits.AttemptLife)
}

func locked(r *Registration)  { r.Locked = true }
func revoked(r *Registration) { claimed(r); r.State, r.Generation = Revoked, 3 }

// claimsOf returns the claims of the newest assertion of r.
func claimsOf(r Registration) assertion.Claims {
	return assertion.Claims{
		Registration: r.ID,
		Type:         string(r.Kind),
		Phase:        r.phase(),
		Generation:   r.Generation,
		Workspace:    r.Workspace,
	}
}

// workspaceOf returns the workspace of r: open, and claimed if r is.
func workspaceOf(r Registration) *workspace.Workspace {
	w := &workspace.Workspace{ID: r.Workspace, CreatedAt: born}
	if r.Workspace == home || r.Kind == Provider {
		w.ClaimedAt = born
	}
	return w
}

func right(r Registration) visitor {
	return visitor{
		member:    owner,
		workspace: home,
		token:     true,
		code:      true,
	}
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
	if r, isRefusal := errors.AsType[*fault.OAuthError](err); isRefusal {
		return string(r.Code)
	}
	return string(fault.CodeOf(err))
}

// events are the events of the state machine, as functions of a registration.
type events map[string]func(Registration, time.Time) step

var machine = events{
	"exchange": func(r Registration, at time.Time) step {
		return r.exchange(claimsOf(r), workspaceOf(r), id.NewPublic(), at, many)
	},
	"exchange an assertion from before": func(r Registration, at time.Time) step {
		c := claimsOf(r)
		c.Generation = c.Generation - 1
		c.Phase = assertion.PreClaim
		c.Workspace = source
		return r.exchange(c, workspaceOf(r), id.NewPublic(), at, many)
	},
	"exchange in a consumed workspace": func(r Registration, at time.Time) step {
		w := workspaceOf(r)
		w.ClaimedInto, w.ClaimedAt = home, at
		return r.exchange(claimsOf(r), w, id.NewPublic(), at, many)
	},
	"exchange in a locked workspace": func(r Registration, at time.Time) step {
		w := workspaceOf(r)
		w.Lock = "lkd_1"
		return r.exchange(claimsOf(r), w, id.NewPublic(), at, many)
	},
	"exchange after the epoch": func(r Registration, at time.Time) step {
		w := workspaceOf(r)
		w.Epoch++
		return r.exchange(claimsOf(r), w, id.NewPublic(), at, many)
	},
	"exchange without workspace": func(r Registration, at time.Time) step {
		return r.exchange(claimsOf(r), nil, id.NewPublic(), at, many)
	},
	"start": func(r Registration, at time.Time) step {
		return r.start(Attempt{Token: mac("second"), Code: mac("other")}, at, few)
	},
	"poll":       func(r Registration, at time.Time) step { return r.claim(workspaceOf(r), id.NewPublic(), at) },
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

const week = limits.RegistrationLife

// transitions are the rows of the state machine's table.
var transitions = []struct {
	row    string
	from   Registration
	event  string
	after  time.Duration // since registration
	answer string
	to     State
}{
	{"2", newRegistration(), "exchange", 0, "ok", Unclaimed},
	{"2", newRegistration(withAttempt), "exchange", 0, "ok", ClaimPending},
	{"2", newRegistration(locked), "exchange", 0, "ok", Unclaimed},
	{"2", newRegistration(), "exchange in a consumed workspace", 0, "invalid_grant", Unclaimed},
	{"2", newRegistration(), "exchange without workspace", 0, "invalid_grant", Unclaimed},
	{"2", newRegistration(), "exchange after the epoch", 0, "invalid_grant", Unclaimed},
	{"2", newRegistration(), "exchange", week, "expired_token", Unclaimed},
	{"3", newRegistration(), "start", 0, "ok", ClaimPending},
	{"3", newRegistration(withAttempt), "start", 0, "ok", ClaimPending},
	{"3", newRegistration(), "start", week, "expired_token", Unclaimed},
	{"3", newRegistration(locked), "start", 0, "access_denied", Unclaimed},
	{"3", newRegistration(claimed), "start", 0, "expired_token", Verified},
	{"3", newRegistration(revoked), "start", 0, "expired_token", Revoked},
	{"3", newRegistration(func(r *Registration) { r.Started = Window{born, 5} }), "start", 9 * time.Minute,
		"slow_down", Unclaimed},
	{"3", newRegistration(func(r *Registration) { r.Started = Window{born, 5} }), "start", 10 * time.Minute, "ok",
		ClaimPending},
	{"3", newRegistration(func(r *Registration) { r.Starts = 20 }), "start", 0, "access_denied", Unclaimed},
	{"4", newRegistration(), "poll", 0, "authorization_pending", Unclaimed},
	{"4", newRegistration(withAttempt), "poll", 0, "authorization_pending", ClaimPending},
	{"4", newRegistration(withAttempt, func(r *Registration) { r.PolledAt = born }), "poll", 4 * time.Second,
		"slow_down", ClaimPending},
	{"4", newRegistration(withAttempt, func(r *Registration) { r.PolledAt = born }), "poll", 5 * time.Second,
		"authorization_pending", ClaimPending},
	{"4", newRegistration(withAttempt, locked), "poll", 0, "access_denied", ClaimPending},
	{"5", newRegistration(withAttempt), "poll", limits.AttemptLife, "authorization_pending", ClaimPending},
	{"5", newRegistration(withAttempt), "right code", limits.AttemptLife, "invalid_request", ClaimPending},
	{"5", newRegistration(withAttempt), "start", limits.AttemptLife, "ok", ClaimPending},
	{"6", newRegistration(withAttempt), "wrong code", 0, "invalid_request", ClaimPending},
	{"6", newRegistration(withAttempt, func(r *Registration) { r.Attempt.Failures = 5 }), "right code", 0,
		"invalid_request", ClaimPending},
	{"6", newRegistration(withAttempt, locked), "right code", 0, "invalid_request", ClaimPending},
	{"7", newRegistration(withAttempt), "refuse", 0, "ok", Unclaimed},
	{"7", newRegistration(), "refuse", 0, "invalid_request", Unclaimed},
	{"7", newRegistration(func(r *Registration) { r.Refused = true }), "refuse", 0, "ok", Unclaimed},
	{"7", newRegistration(func(r *Registration) { r.Refused = true }), "poll", 0, "access_denied", Unclaimed},
	{"8", newRegistration(withAttempt), "right code", 0, "ok", Verified},
	{"8", newRegistration(withAttempt), "right code by a stranger", 0, "ok", Verified},
	{"8", newRegistration(withAttempt), "right code without token", 0, "invalid_request", ClaimPending},
	{"8", newRegistration(), "right code", 0, "invalid_request", Unclaimed},
	{"8", newRegistration(claimed), "right code", 0, "invalid_request", Verified},
	{"10", newRegistration(claimed), "poll", 0, "ok", Verified},
	{"10", newRegistration(claimed, func(r *Registration) { r.Redeemed = 2 }), "poll", 0, "ok", Verified},
	{"10", newRegistration(claimed, func(r *Registration) { r.Redeemed = 3 }), "poll", 0, "invalid_grant", Verified},
	{"10", newRegistration(claimed), "poll", limits.ClaimRedeemLife, "invalid_grant", Verified},
	{"11", newRegistration(claimed), "exchange", 0, "ok", Verified},
	{"11", newRegistration(claimed), "exchange an assertion from before", 0, "invalid_grant", Verified},
	{"11", newRegistration(claimed), "exchange", week, "expired_token", Verified},
	{"11", newRegistration(func(r *Registration) { r.Exchanged = Window{born, 30} }), "exchange", time.Minute,
		"slow_down", Unclaimed},
	{"12", newRegistration(withAttempt), "poll", week, "expired_token", ClaimPending},
	{"12", newRegistration(withAttempt), "right code", week, "invalid_request", ClaimPending},
	{"12", newRegistration(claimed), "poll", week, "expired_token", Verified},
	{"15", newRegistration(withProvider), "right code", 0, "ok", Verified},
	{"15, T26", newRegistration(withProvider), "right code by a stranger", 0, "invalid_request", PendingStepUp},
	{"15", newRegistration(withProvider), "wrong code", 0, "invalid_request", PendingStepUp},
	{"15", newRegistration(withProvider), "refuse", 0, "ok", PendingStepUp},
	{"16", newRegistration(withProvider), "poll", 0, "authorization_pending", PendingStepUp},
	{"16", newRegistration(withProvider), "exchange", 0, "authorization_pending", PendingStepUp},
	{"16", newRegistration(withProvider), "start", 0, "ok", PendingStepUp},
	{"17", newRegistration(withProvider), "poll", limits.AttemptLife, "expired_token", PendingStepUp},
	{"17", newRegistration(withProvider), "exchange", limits.AttemptLife, "expired_token", PendingStepUp},
	{"17", newRegistration(withProvider), "right code", limits.AttemptLife, "invalid_request", PendingStepUp},
	{"19", newRegistration(claimed), "unlink", 0, "ok", Revoked},
	{"19", newRegistration(claimed), "unlink by a stranger", 0, "not_found", Verified},
	{"19", newRegistration(withAttempt), "unlink", 0, "not_found", ClaimPending},
	{"19", newRegistration(revoked), "unlink", 0, "not_found", Revoked},
	{"19", newRegistration(revoked), "exchange", 0, "invalid_grant", Revoked},
	{"19", newRegistration(revoked), "poll", 0, "invalid_grant", Revoked},
	{"20", newRegistration(claimed), "exchange in a locked workspace", 0, "invalid_grant", Verified},
	{"20", newRegistration(), "exchange in a locked workspace", 0, "invalid_grant", Unclaimed},
}

func TestEveryTransitionOfTheStateMachine(t *testing.T) {
	for _, tt := range transitions {
		t.Run(fmt.Sprintf("row %s: %s when %s after %s", tt.row, tt.event, tt.from.State, tt.after), func(t *testing.T) {
			before := tt.from
			before.Keys = slices.Clone(tt.from.Keys)
			got := machine[tt.event](tt.from, born.Add(tt.after))
			if answer := codeOf(got.refusal); answer != tt.answer || got.to.State != tt.to {
				t.Errorf("answers %s and is %s, want %s and %s", answer, got.to.State, tt.answer, tt.to)
			}
			if !cmp.Equal(tt.from, before) {
				t.Error("the registration that was read has changed")
			}
			if !got.write && !cmp.Equal(got.to, tt.from) {
				t.Error("a change would not be stored")
			}
		})
	}
}

func TestAnAttemptReplacesTheOneBefore(t *testing.T) {
	got := newRegistration(withAttempt, func(r *Registration) { r.Attempt.Failures, r.Refused = 4, true }).
		start(Attempt{Token: mac("second"), Code: mac("other")}, born.Add(time.Minute), few).to
	want := Attempt{
		Number:    2,
		Token:     mac("second"),
		Code:      mac("other"),
		ExpiresAt: born.Add(time.Minute + limits.AttemptLife),
	}
	if !cmp.Equal(got.Attempt, want) || got.Starts != 2 || got.Refused {
		t.Errorf("%+v, want the second start, with %+v", got, want)
	}
	late := newRegistration(withAttempt).start(Attempt{
		Token: mac("second"),
	}, born.Add(limits.RegistrationLife-time.Minute), few).to
	if !late.Attempt.ExpiresAt.Equal(late.ExpiresAt) {
		t.Error("an attempt outlives its registration:", late.Attempt.ExpiresAt)
	}
	kept := newRegistration(withProvider, func(r *Registration) {
		r.Attempt.Failures = 3
	}).start(Attempt{Token: mac("second"), Code: mac("other")}, born, few).to
	if !cmp.Equal(kept.Attempt.Code, mac("code")) || kept.Attempt.Failures != 3 {
		t.Error("a code that was given at registration is replaced, or its tries start anew")
	}
}

func TestACallerWhoseRacesAreExhaustedIsToldToSlowDown(t *testing.T) {
	held := fault.Wrap(fault.DatabaseUnavailable, fmt.Errorf("commit: %w", conflict.ErrHeld), "repeat the request")
	for name, lost := range map[string]error{"by what was read": ErrMoved, "by the store": held} {
		err := race(func() error { return lost })
		told := fault.OAuthErrorOf(err)
		if told.Code != fault.OAuthSlowDown || !told.Limited || told.RetryAfter != time.Second || fault.Of(err).Unwrap() != nil {
			t.Errorf("%s: %+v", name, told)
		}
	}
	broken := fault.NewCode(fault.DatabaseUnavailable)
	if err := race(func() error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
}
