// Package lockdown lets operators close a workspace or an artifact, at once and for every reader, and open it again.
//
// What is closed says so itself: credentials of a closed workspace are refused, and every read of it or of a closed
// artifact asks its gate. The two kinds of locks, and members' locks on access links, do not know each other: what one
// closes stays closed until that one is lifted.
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

// Scope is what kind of thing a lockdown closes.
type Scope string

// The scopes.
const (
	Workspace Scope = "workspace"
	Artifact  Scope = "artifact"
)

// Lockdown is one lockdown, in effect or lifted.
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

// Target is what a lockdown closes, as the store has it.
type Target struct {
	Workspace   id.Workspace // itself, or the one that has the artifact now: whose record tells of the lockdown
	Owner       id.Workspace // of an artifact, as its gate says
	ClaimedInto id.Workspace // that claimed Workspace; empty: none
}

// Store keeps lockdowns.
type Store interface {
	// Active reads the lockdown of a target that is in effect, strongly; nil if there is none.
	Active(ctx context.Context, s Scope, target string) (*Lockdown, error)
	// Target finds what is to be closed, strongly; nil if there is none.
	Target(ctx context.Context, s Scope, target string) (*Target, error)
	// Lock puts a lockdown into effect in one transaction that holds only while the target has none and is where it was
	// found; a workspace is closed for writing with it. One that is kept has to be in effect instead, and only the command
	// is recorded. Errors: *idempotency.AlreadyDone, ErrMoved, database_unavailable.
	Lock(ctx context.Context, c Change) error
	// Lift ends a lockdown in one transaction that holds only while it is in effect. Errors: *idempotency.AlreadyDone, ErrMoved,
	// database_unavailable.
	Lift(ctx context.Context, c Change) error
	// List returns up to limit lockdowns, lifted ones included, the newest first with the id as tie-breaker, after
	// the position (zero: from the start). more tells that others follow.
	List(ctx context.Context, after Position, limit int) (rows []Lockdown, more bool, err error)
}

// ErrMoved says that something changed since it was read: read again and decide anew.
var ErrMoved = errors.New("the target or its lockdown changed meanwhile")

// Change is everything that setting or lifting a lockdown writes.
type Change struct {
	Command  idempotency.Command
	Result   []byte
	Lockdown Lockdown // as it is from then on
	Target   Target
	Noop     bool // it was in effect before
	At       time.Time
	Event    event.Event
}

// Position is a place in the list of lockdowns: the last one that was shown.
type Position struct {
	At time.Time
	ID id.Lockdown
}

// Detail is the lockdown on the wire.
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
