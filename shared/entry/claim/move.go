package claim

import (
	"errors"
	"time"

	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
)

// ErrGone reports that a claim came too late: the token was redeemed, expired or locked, another attempt replaced this
// one, or the source has moved or closed. Callers get the same refusal for all of these.
var ErrGone = errors.New("nothing is left to claim with this token")

// Move is everything that a claim changes. It commits as one transaction whose size does not depend on the contents of
// the source. From the commit on, the source points at its destination and every credential of the source is dead.
type Move struct {
	Source      id.Workspace
	Destination id.Workspace
	Token       Token     // as it was read: the commit holds only while it has this hash and is not redeemed
	Member      id.Member // the member who claims
	// Registration is the agent registration of the token, which the same commit verifies; empty: none.
	Registration id.Registration
	// Attempt is the number of the attempt whose code a person typed. The commit holds only while that attempt is the
	// newest and open, and lets the agent in. Zero: the token alone is the proof. Then the contents move but the agent
	// stays outside for good, because a token can have been passed on.
	Attempt   int
	MinExpiry time.Time // no artifact of the source ends earlier
	At        time.Time
	Command   *idempotency.Command // the command that the move completes; nil: none
	Result    []byte               // of Command
	Events    []event.Event        // in the destination
}
