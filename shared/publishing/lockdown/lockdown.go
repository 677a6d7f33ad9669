// Package lockdown lets operators close a workspace or an artifact at once for every reader, and open it again.
package lockdown

import (
	"context"
	"errors"
	"time"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
)

// Scope says whether a lockdown closes a workspace or an artifact.
type Scope string

// The scopes.
const (
	Workspace Scope = "workspace"
	Artifact  Scope = "artifact"
)

// Lockdown is one lockdown, in effect or lifted. Its lock is stored on the target, where every read and every
// credential checks it. Locks of workspaces, locks of artifacts and members' locks on access links are independent:
// each holds until it is lifted itself.
type Lockdown struct {
	ID       id.Lockdown
	Scope    Scope
	Target   string // id of the workspace or the artifact
	Reason   string
	SetAt    time.Time
	SetBy    id.Member
	LiftedAt time.Time // zero: in effect
	LiftedBy id.Member
}

// Target is the stored workspace or artifact of a lockdown.
type Target struct {
	Workspace   id.Workspace // the target itself, or the owner of the artifact; its audit log has the event
	Owner       id.Workspace // stored owner of an artifact
	ClaimedInto id.Workspace // workspace that claimed Workspace; empty: none
	CreatedAt   time.Time    // of an artifact
}

// Store stores lockdowns.
type Store interface {
	// Active reads strongly the lockdown of a target that is in effect, nil if there is none.
	Active(ctx context.Context, s Scope, target string) (*Lockdown, error)
	// Target reads a target strongly, nil if there is none.
	Target(ctx context.Context, s Scope, target string) (*Target, error)
	// Lock puts a lockdown into effect in one transaction. Conditions: the target has none, and is where it was found. A
	// locked workspace can no longer be written to, and archives of exports that may hold a locked artifact end for good.
	// With c.Noop it only records the command, and the lockdown has to be in effect already. Errors:
	// *idempotency.AlreadyDone, ErrMoved, database_unavailable.
	Lock(ctx context.Context, c Change) error
	// Lift ends a lockdown in one transaction. Condition: the lockdown is in effect. Errors: *idempotency.AlreadyDone,
	// ErrMoved, database_unavailable.
	Lift(ctx context.Context, c Change) error
	// List returns up to limit lockdowns after a position, lifted ones included, newest first and by id where times
	// are equal. The zero position is the start. more reports whether others follow.
	List(ctx context.Context, after Position, limit int) (rows []Lockdown, more bool, err error)
}

// ErrMoved means that the target or its lockdown changed since it was read. The caller reads again and decides anew.
var ErrMoved = errors.New("the target or its lockdown changed meanwhile")

// Change is everything that setting or lifting a lockdown writes.
type Change struct {
	Command  idempotency.Command
	Result   []byte
	Lockdown Lockdown // after the change
	Target   Target
	Noop     bool // the lockdown was already in effect
	At       time.Time
	Event    event.Event
}

// Position is the place of a lockdown in the list.
type Position struct {
	At time.Time
	ID id.Lockdown
}

// Detail returns the lockdown's wire form.
func (l Lockdown) Detail() contract.Lockdown {
	out := contract.Lockdown{
		Scope:      string(l.Scope),
		TargetID:   l.Target,
		ReasonCode: l.Reason,
		SetAt:      contract.At(l.SetAt),
		SetBy:      string(l.SetBy),
		LiftedAt:   contract.AtOrNull(l.LiftedAt),
	}
	if l.LiftedBy != "" {
		by := string(l.LiftedBy)
		out.LiftedBy = &by
	}
	return out
}
