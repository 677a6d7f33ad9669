package agentauth

import (
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// start begins another attempt, which ends the one before. a holds its token and code. A registration by a provider
// keeps its code and its count of wrong codes, because its agent got the code at registration. Its attempt lasts as
// long as the registration.
func (r Registration) start(a Attempt, now time.Time, most limits.Rate) step {
	switch {
	case r.State == Verified, r.State == Revoked, r.expired(now):
		return r.refused(errExpired)
	case r.Locked:
		return r.refused(errLocked)
	case r.Starts >= limits.ClaimStarts:
		r.Locked = true
		return step{
			to:      r,
			write:   true,
			locked:  true,
			refusal: errLocked,
		}
	}
	counted, wait := r.Started.add(now, most)
	if wait > 0 {
		return r.refused(errRestarts.AsRateLimited(wait))
	}
	a.Number = r.Attempt.Number + 1
	a.Failures = 0
	a.ExpiresAt = now.Add(limits.AttemptLife)
	if r.State == PendingStepUp {
		a.Code, a.Failures = r.Attempt.Code, r.Attempt.Failures
	} else {
		r.State = ClaimPending
	}
	if a.ExpiresAt.After(r.ExpiresAt) {
		a.ExpiresAt = r.ExpiresAt
	}
	r.Attempt = a
	r.Started = counted
	r.Refused = false
	r.Starts++
	return step{to: r, write: true}
}

// confirming reports whether the newest attempt waits for a person.
func (r Registration) confirming(now time.Time) bool {
	pending := r.State == ClaimPending || r.State == PendingStepUp
	return pending && !r.Locked && !r.expired(now) && r.Attempt.open(now)
}

func (a Attempt) open(now time.Time) bool {
	return len(a.Token.MAC) > 0 && a.Failures < limits.AttemptTries && now.Before(a.ExpiresAt)
}

// visitor is a member at the claim page.
type visitor struct {
	member    id.Member
	workspace id.Workspace
	token     bool // the member has the token of the newest attempt, or the claim token
	code      bool // the member typed the code of the newest attempt
}

// meets reports whether the visitor may answer the newest attempt. Only the member that a provider identified may
// answer a step-up.
func (r Registration) meets(v visitor, now time.Time) bool {
	return v.token && v.member != "" && r.confirming(now) && (r.State != PendingStepUp || v.member == r.Member)
}

// complete moves the registration into the visitor's workspace if the code is right.
func (r Registration) complete(v visitor, now time.Time) step {
	if !r.meets(v, now) {
		return r.refused(errWrong)
	}
	if !v.code {
		return r.guess()
	}
	if r.State == PendingStepUp {
		r.ExpiresAt = now.Add(limits.ProviderAgentLife).Truncate(time.Second) // assertions have whole seconds
	}
	r.State = Verified
	r.Workspace = v.workspace
	r.Member = v.member
	r.CompletedAt = now
	r.Keys = nil
	r.Generation++
	return step{to: r, write: true}
}

// guess counts a wrong code, and locks the registration after too many.
func (r Registration) guess() step {
	r.Attempt.Failures++
	r.Wrong++
	r.Locked = r.Wrong >= limits.RegistrationTries
	return step{
		to:      r,
		write:   true,
		locked:  r.Locked,
		guessed: true,
		refusal: errWrong,
	}
}

// refuse ends the attempt because the visitor does not know the agent. A repetition before the agent has polled changes
// no state. A refused step-up locks the registration, because its person is asked only once.
func (r Registration) refuse(v visitor, now time.Time) step {
	switch {
	case v.token && r.State == Unclaimed && r.Refused:
		return step{to: r}
	case !r.meets(v, now):
		return r.refused(errWrong)
	}
	if r.State == PendingStepUp {
		r.Locked = true
		return step{to: r, write: true, locked: true}
	}
	r.State, r.Refused = Unclaimed, true
	return step{to: r, write: true}
}
