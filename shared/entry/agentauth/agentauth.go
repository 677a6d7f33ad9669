// Package agentauth registers agents, either anonymously or for a person that an identity provider vouches for.
//
// A person may claim an anonymous registration later. The rules are a state machine over Registration. Every change is
// one conditional write.
package agentauth

import (
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/platform/id"
)

// State is the state of a registration. Once ExpiresAt has passed, a registration counts as expired in every state but
// Revoked.
type State string

// The states.
const (
	Unclaimed     State = "anonymous_unclaimed"
	ClaimPending  State = "anonymous_claim_pending"
	PendingStepUp State = "pending_step_up" // a provider identified a member, who has to agree
	Verified      State = "verified"
	Revoked       State = "revoked"
)

// Kind is how an agent registered.
type Kind string

// The kinds of registrations.
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
	Member     id.Member    // the member who claimed it; in PendingStepUp the only member who may
	Claim      id.Public    // public id of its claim token
	CreatedAt  time.Time
	ExpiresAt  time.Time
	Network    string // address prefix at registration; a person sees it before the claim
	Vouched    Vouched
	Version    int64 // raised by every change; conditional writes compare it

	Attempt     Attempt // the newest; its zero value: there is none
	Starts      int     // attempts so far
	Started     Window  // attempts recently
	Wrong       int     // wrong codes so far, in all attempts
	Locked      bool    // too many wrong codes or starts, or a refused step-up: it can never be claimed
	Refused     bool    // a person refused the newest attempt, and the agent has not been told yet
	CompletedAt time.Time
	Redeemed    int       // how often the claim token was redeemed for an access token
	RedeemedKey id.Public // the newest of those access tokens

	PollTokens int       // polls that may come at once, as of PolledAt
	PolledAt   time.Time // when the newest of these was added; zero: not polled yet

	Exchanged Window      // assertions exchanged recently
	Keys      []id.Public // its live access tokens, oldest first

	// Link is the generation of the delegation under which it acts. In PendingStepUp it is that of the delegation that
	// ended before, or zero.
	Link int64
}

// Vouched is what a provider said about the person of a registration. It is zero for an anonymous one.
type Vouched struct {
	Principal delegation.Principal
	Provider  string // the provider's name for people
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

// Attempt is one attempt to have a person claim a registration. Its token shares the public id of the claim token.
type Attempt struct {
	Number    int // counts the attempts of a registration from 1, including refused ones
	Token     credential.Hash
	Code      credential.Hash
	Failures  int // wrong codes so far
	ExpiresAt time.Time
}

// Request is the content of the page on which a person answers an agent.
type Request struct {
	Registration id.Registration
	CreatedAt    time.Time
	Network      string
	ExpiresAt    time.Time // of the attempt
	Vouched      Vouched   // zero for anonymous registrations
	Artifacts    []string  // titles of the agent's artifacts, newest first, at most limits.ClaimTitles
	Count        int       // of all of its artifacts, up to limits.ClaimListed
}
