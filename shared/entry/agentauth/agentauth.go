// Package agentauth lets agents register without a person, and a person take such a registration over later.
//
// The rules are a state machine over Registration; every change is one conditional write.
package agentauth

import (
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/id"
)

// State is where a registration is in its life. Expiry is judged by ExpiresAt and overrules every state but Revoked.
type State string

// The states. No configuration trusts a provider of agents' identities yet, and only its assertion would bring PendingStepUp.
const (
	Unclaimed     State = "anonymous_unclaimed"
	ClaimPending  State = "anonymous_claim_pending"
	PendingStepUp State = "pending_step_up" // a provider vouches for the agent's user, who has yet to agree
	Verified      State = "verified"
	Revoked       State = "revoked"
)

// Kind is how a registration came to be.
type Kind string

// The kinds.
const (
	Anonymous Kind = "anonymous"
	Provider  Kind = "identity_assertion" // as PendingStepUp: Register refuses it until a provider is trusted
)

// Registration is an agent that registered.
type Registration struct {
	ID         id.Registration
	Kind       Kind
	State      State
	Generation int64        // raised by claim and revocation; assertions of another one are dead
	Workspace  id.Workspace // where its tokens work: ephemeral until a code was typed, the member's after it; see open
	Member     id.Member    // who claimed it; for PendingStepUp, who alone may
	Claim      id.Public    // public id of its claim token
	CreatedAt  time.Time
	ExpiresAt  time.Time
	Network    string // address prefix of where it came from, shown to whoever is asked to claim
	Version    int64  // raised by every change; it names what was read

	Attempt     Attempt // the newest; its zero value: none
	Starts      int     // attempts so far
	Started     Window  // and lately
	Wrong       int     // wrong codes so far, over all attempts
	Locked      bool    // too many wrong codes or starts: it can never be claimed
	Refused     bool    // a person refused the newest attempt and the agent has not been told yet
	CompletedAt time.Time
	Redeemed    int       // times that the claim handed out a token
	RedeemedKey id.Public // the newest of those

	PollTokens int       // how many polls may come at once, as of PolledAt
	PolledAt   time.Time // when the newest of them was added; zero: nobody polled yet

	Exchanged Window      // assertions exchanged lately
	Keys      []id.Public // its live access tokens, oldest first
}

// Window counts what happened since an instant.
type Window struct {
	Since time.Time
	Count int
}

// Attempt is one try to have a person claim a registration. Its token has the public id of the claim token.
type Attempt struct {
	Number    int // counts up over the life of a registration, also past refused attempts
	Token     credential.Hash
	Code      credential.Hash
	Failures  int // wrong codes so far
	ExpiresAt time.Time
}

// Request is what a person sees before they let an agent in.
type Request struct {
	Registration id.Registration
	CreatedAt    time.Time
	Network      string
	ExpiresAt    time.Time // of the attempt
	Artifacts    []string  // titles of what the agent published, newest first, at most limits.ClaimTitles
	Count        int       // of all of them, up to limits.ClaimListed
}
