package agentauth

import (
	"slices"
	"time"

	"vitrine/shared/identity/assertion"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

// This file and attempt.go are the state machine: functions of a registration, an event and an instant, without I/O.
// They never change the registration that the service read. A step holds a changed copy.

// step is the effect of an event on a registration.
type step struct {
	to     Registration
	write  bool        // to has to be stored, even if refusal is set
	ends   []id.Public // access tokens to revoke
	locked bool        // this step locked the registration
	// guessed reports a wrong code, which also counts against the member who typed it.
	guessed bool
	refusal error // the error of the answer; nil: success
}

// Errors of the token and claim endpoints.
var (
	errPending = fault.NewOAuth(fault.OAuthAuthorizationPending,
		"nobody has confirmed the code yet; go on polling at the given interval")
	errExpired = fault.NewOAuth(fault.OAuthExpiredToken,
		"the claim token or its registration is unknown, used up or expired; register again")
	errDead = fault.NewOAuth(fault.OAuthInvalidGrant,
		"what you sent does not hold any longer; register again, or ask your person to claim you again")
	errLocked = fault.NewOAuth(fault.OAuthAccessDenied,
		"this registration was tried too often and cannot be claimed any more; register again")
	errDenied = fault.NewOAuth(fault.OAuthAccessDenied,
		"the person refused; start another claim only if they ask you to")
	errTooFast = fault.NewOAuth(fault.OAuthSlowDown, "you poll too fast; wait 5 seconds longer between polls")
	errTooMany = fault.NewOAuth(fault.OAuthSlowDown,
		"too many access tokens for one registration; use the one you have until it expires")
	errRestarts = fault.NewOAuth(fault.OAuthSlowDown, "too many claims were started; wait as long as Retry-After says")
)

// errWrong is the one answer for every invalid code, token or attempt.
var errWrong = fault.New(fault.InvalidRequest,
	"the code is wrong or the request is no longer valid; ask your agent for a new code")

func (r Registration) refused(err error) step { return step{to: r, refusal: err} }

func (r Registration) expired(now time.Time) bool { return !now.Before(r.ExpiresAt) }

// phase returns the phase that assertions of the registration name.
func (r Registration) phase() assertion.Phase {
	switch {
	case r.Kind != Anonymous:
		return ""
	case r.State == Verified:
		return assertion.PostClaim
	}
	return assertion.PreClaim
}

// exchange issues an access token with the public id key for an assertion. w is the workspace of the registration; nil:
// it does not exist.
func (r Registration) exchange(
	c assertion.Claims,
	w *workspace.Workspace,
	key id.Public,
	now time.Time,
	most limits.Rate,
) step {
	switch {
	case c.Registration != r.ID || c.Generation != r.Generation || c.Type != string(r.Kind) || c.Workspace != r.Workspace:
		return r.refused(errDead)
	case r.State == Revoked:
		return r.refused(errDead)
	case r.expired(now):
		return r.refused(errExpired)
	case r.State == PendingStepUp:
		return r.refused(errPending)
	case c.Phase != r.phase() || !r.open(w) || c.Epoch != w.Epoch:
		return r.refused(errDead)
	}
	counted, wait := r.Exchanged.add(now, most)
	if wait > 0 {
		return r.refused(errTooMany.After(wait))
	}
	r.Exchanged = counted
	return r.hold(key)
}

// open reports whether credentials may be made in the registration's workspace. The workspace must be unclaimed before
// the claim and claimed after it. A workspace whose contents were claimed by the claim token alone stays closed for its
// registration, because no person accepted the agent.
func (r Registration) open(w *workspace.Workspace) bool {
	return w != nil && w.ID == r.Workspace && w.Open() && w.ClaimedAt.IsZero() == (r.phase() == assertion.PreClaim) &&
		(r.Kind == Anonymous || !w.Ended(r.term()))
}

// term returns the term of the delegation under which a provider's agent acts. It is empty for anonymous registrations.
func (r Registration) term() id.Term {
	if r.Kind == Anonymous {
		return ""
	}
	return r.Vouched.Principal.ID().Term(r.Link)
}

// hold adds an access token and ends the oldest if there are too many.
func (r Registration) hold(key id.Public) step {
	r.Keys = append(slices.Clone(r.Keys), key)
	var ends []id.Public
	if over := len(r.Keys) - limits.AgentTokens; over > 0 {
		ends, r.Keys = r.Keys[:over:over], r.Keys[over:]
	}
	return step{to: r, write: true, ends: ends}
}

// claim answers a poll with the claim token. Once the claim is complete it issues an access token with the public id
// key. w is the workspace of a verified registration.
func (r Registration) claim(w *workspace.Workspace, key id.Public, now time.Time) step {
	switch {
	case r.State == Revoked:
		return r.refused(errDead)
	case r.expired(now):
		return r.refused(errExpired)
	case r.State != Verified:
		return r.poll(now)
	case r.Redeemed >= limits.ClaimRedemptions || !now.Before(r.CompletedAt.Add(limits.ClaimRedeemLife)) || !r.open(w):
		return r.refused(errDead)
	}
	// The new token takes the place of the one before, so that it ends no other token of the agent.
	before := r.RedeemedKey
	r.Redeemed++
	r.RedeemedKey = key
	r.Keys = slices.DeleteFunc(slices.Clone(r.Keys), func(k id.Public) bool { return k == before })
	s := r.hold(key)
	if before != "" {
		s.ends = append(s.ends, before)
	}
	return s
}

// poll answers a poll for a claim that is not complete.
func (r Registration) poll(now time.Time) step {
	if r.Locked {
		return r.refused(errLocked)
	}
	r, wait := r.pace(now)
	if wait > 0 {
		return r.refused(errTooFast.After(wait))
	}
	answer := errPending
	if r.Refused {
		r.Refused, answer = false, errDenied
	}
	return step{to: r, write: true, refusal: answer}
}

// pace takes a poll from the registration's token bucket. wait is how long an empty bucket takes to refill.
func (r Registration) pace(now time.Time) (out Registration, wait time.Duration) {
	polls, wait := rate.PollBucket{Left: r.PollTokens, At: r.PolledAt}.Take(now)
	r.PollTokens, r.PolledAt = polls.Left, polls.At
	return r, wait
}

// add counts one more event. If the window is full it adds none, and wait is how long the window lasts.
func (w Window) add(now time.Time, most limits.Rate) (out Window, wait time.Duration) {
	end := w.Since.Add(most.Window)
	if w.Count == 0 || !now.Before(end) {
		return Window{Since: now, Count: 1}, 0
	}
	if w.Count >= most.Limit {
		return w, end.Sub(now)
	}
	w.Count++
	return w, 0
}

// unlink ends the access that a claim gave, and all credentials of the registration.
func (r Registration) unlink(from id.Workspace) step {
	if r.Kind != Anonymous || r.State != Verified || r.Workspace != from {
		return r.refused(errNotConnected())
	}
	ends := r.Keys
	r.State, r.Keys = Revoked, nil
	r.Generation++
	return step{to: r, write: true, ends: ends}
}
