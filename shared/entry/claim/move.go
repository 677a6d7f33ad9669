package claim

import (
	"errors"
	"time"

	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
)

// ErrGone says that a claim came too late: the token was redeemed, expired or locked, another attempt took the place of
// this one, or the source has moved or closed. Callers see one and the same refusal for all of it.
var ErrGone = errors.New("nothing is left to claim with this token")

// Move is everything that a claim changes. It commits as one transaction whose size does not depend on how much the
// source holds: the source points at its destination from then on, and every credential of the source is dead.
type Move struct {
	Source      id.Workspace
	Destination id.Workspace
	Token       Token     // as it was read: the commit holds only while it has this hash and is not redeemed
	Member      id.Member // who claims
	// Registration is the agent's that the token belongs to, verified by the same commit; empty: none.
	Registration id.Registration
	// Attempt is the number of the attempt whose code a person typed: the commit holds only while it is the newest and
	// open, and lets the agent in. Zero: no code was typed and the token alone is the proof. A token can have been passed
	// on, so what was published moves and the agent stays outside for good.
	Attempt   int
	MinExpiry time.Time // no artifact of the source ends earlier
	At        time.Time
	Command   *idempotency.Command // whose first and only effect this is; nil: none
	Result    []byte               // of Command
	Events    []event.Event        // in the destination
}
