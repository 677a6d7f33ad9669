package credential

import (
	"slices"
	"time"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Actor is an authenticated caller: an API key, or a member with a session or an access token.
type Actor struct {
	Key      Key       // zero for a member
	Member   id.Member // empty for an API key
	Client   id.Client // OAuth client that acts for the member; empty: none, the member's own browser session
	CLIGrant CLIGrant  // of the member; zero for an API key
	Scopes   []Scope
	// ClientName is what Client called itself when the member let it in.
	ClientName string
	// Operator is when the identity provider vouched for the member as an operator of the deployment; zero: it did not.
	Operator time.Time
	// AuthenticatedAt is when the identity provider authenticated the member; zero: not known, or a third-party client
	// acts.
	AuthenticatedAt time.Time
	Workspace       workspace.Workspace
	Policy          limits.Policy // the numbers of the workspace's tier
	RequestID       string
}

// Require refuses an actor without a scope.
func (a Actor) Require(s Scope) error {
	if !slices.Contains(a.Scopes, s) {
		return fault.New(fault.Forbidden, "this credential lacks the scope %q", s)
	}
	return nil
}

// SignedInLately refuses every caller but a member who has just signed in. It guards actions that a stolen session must
// not take. A grant of a first-party client counts as its member's sign-in.
func (a Actor) SignedInLately(now time.Time) error {
	// The time is the provider's, whose clock may be ahead by the leeway. A later time would count as fresh for too long.
	early := a.AuthenticatedAt.After(now.Add(limits.AssertionLeeway))
	late := now.Sub(a.AuthenticatedAt) >= limits.FreshSignIn
	if a.Member == "" || a.AuthenticatedAt.IsZero() || early || late {
		return fault.New(fault.Forbidden, "this needs a sign-in of the last %d minutes: sign in again, then repeat it",
			int(limits.FreshSignIn/time.Minute))
	}
	return nil
}

// Operates refuses every caller but an operator who has just signed in. It refuses with not_found, so that routes of
// operators look as if they did not exist.
func (a Actor) Operates(now time.Time) error {
	early := a.Operator.After(now.Add(limits.AssertionLeeway))
	late := now.Sub(a.Operator) >= limits.OperatorFresh
	if a.Member == "" || a.Operator.IsZero() || early || late {
		return fault.NewCode(fault.NotFound)
	}
	return nil
}

// Subject identifies the caller in rate limits and records of commands: by the public id of the key, or by the member.
func (a Actor) Subject() string {
	if a.Member != "" {
		return string(a.Member)
	}
	return string(a.Key.Public)
}

// Event returns the caller as the actor of an event.
func (a Actor) Event() event.Actor {
	if a.Member != "" {
		return event.ByMember(a.Member)
	}
	return event.ByKey(a.Key.ID)
}

// Record returns the event of an action of the caller on a target in its own workspace.
func (a Actor) Record(at time.Time, what event.Action, kind, target, detail string) event.Event {
	return event.Event{
		ID:        id.NewEvent(),
		Workspace: a.Workspace.ID,
		At:        at,
		Action:    what,
		Actor:     a.Event(),
		Target:    event.Target{Type: kind, ID: target},
		Detail:    detail,
		RequestID: a.RequestID,
	}
}
