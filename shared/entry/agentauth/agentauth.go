// Package agentauth lets agents register: without a person, who may claim the registration later, or because an
// identity provider vouches for the person whom they act for.
//
// The rules are a state machine over Registration. Every change is one conditional write.
package agentauth

import (
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/platform/id"
)

// State is the state of a registration. ExpiresAt overrides every state but Revoked.
type State string

// States.
const (
	Unclaimed     State = "anonymous_unclaimed"
	ClaimPending  State = "anonymous_claim_pending"
	PendingStepUp State = "pending_step_up" // a provider identified a member, who has to agree
	Verified      State = "verified"
	Revoked       State = "revoked"
)

// Kind is how an agent registered.
type Kind string

// Kinds.
const (
	Anonymous Kind = "anonymous"
	Provider  Kind = "identity_assertion"
)

// Registration is a registered agent.
type Registration struct {
	ID         id.Registration
	Kind       Kind
	State      State
	Generation int64        // raised by claim and revocation; assertions of another generation are invalid
	Workspace  id.Workspace // where its tokens work: ephemeral before the claim, the member's after it; see open
	Member     id.Member    // who claimed it; for PendingStepUp, the only one who may
	Claim      id.Public    // public id of its claim token
	CreatedAt  time.Time
	ExpiresAt  time.Time
	Network    string // address prefix at registration, shown to the person who is asked to claim
	Vouched    Vouched
	Version    int64 // raised by every change; conditional writes compare it

	Attempt     Attempt // the newest; its zero value: there is none
	Starts      int     // attempts so far
	Started     Window  // and recently
	Wrong       int     // wrong codes so far, over all attempts
	Locked      bool    // after too many wrong codes or starts: it can never be claimed
	Refused     bool    // a person refused the newest attempt, and the agent has not been told yet
	CompletedAt time.Time
	Redeemed    int       // how often the claim token was redeemed for an access token
	RedeemedKey id.Public // the newest of those access tokens

	PollTokens int       // polls that may come at once, as of PolledAt
	PolledAt   time.Time // when the newest of them was added; zero: not polled yet

	Exchanged Window      // assertions exchanged recently
	Keys      []id.Public // its live access tokens, oldest first

	// Link is the generation of the delegation that it acts under; in PendingStepUp that of the one before, which has
	// ended, or zero.
	Link int64
}

// Vouched is what a provider said about the person of a registration; zero for anonymous ones.
type Vouched struct {
	Principal delegation.Principal
	Provider  string // name for people
	Email     string
	Scopes    []credential.Scope
}

// Host returns the host of the provider's issuer; empty without a provider.
func (v Vouched) Host() string { return v.Principal.Host() }

// Window counts events since an instant.
type Window struct {
	Since time.Time
	Count int
}

// Attempt is one attempt to have a person claim a registration. Its token has the public id of the claim token.
type Attempt struct {
	Number    int // counts up over the life of a registration, refused attempts included
	Token     credential.Hash
	Code      credential.Hash
	Failures  int // wrong codes so far
	ExpiresAt time.Time
}

// Request is what a person sees before they accept an agent.
type Request struct {
	Registration id.Registration
	CreatedAt    time.Time
	Network      string
	ExpiresAt    time.Time // of the attempt
	Vouched      Vouched   // zero for anonymous registrations
	Artifacts    []string  // titles of the agent's artifacts, newest first, at most limits.ClaimTitles
	Count        int       // of all of its artifacts, up to limits.ClaimListed
}
