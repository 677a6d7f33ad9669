// Package deletion requests and cancels the deletion of workspaces, which begins after a grace period.
//
// From the commit of a request on, the workspace can be neither read nor changed, because readers and credentials read
// its item anyway and find it closed. Its contents stay until the deletion begins. Cancelling therefore restores
// everything but sessions and connected apps, which have ended. Package sweep removes the workspace afterwards.
package deletion

import (
	"context"
	"errors"
	"strings"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/conflict"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// ErrMoved reports that the workspace changed since it was read. The caller reads it again and decides anew.
var ErrMoved = errors.New("the workspace changed meanwhile")

// Store stores requests for deletions.
type Store interface {
	// Workspace reads a workspace with strong consistency. It returns nil if there is none.
	Workspace(ctx context.Context, w id.Workspace) (*workspace.Workspace, error)
	// Request closes an open workspace for every reader, writer and credential, ends the sessions and the connected apps
	// of the member, and queues the removal, in one transaction with the event. Errors: ErrMoved, database_unavailable.
	Request(ctx context.Context, c Change) error
	// Cancel reopens a workspace whose deletion is due at c.DeletesAt, unless the removal has begun, in one transaction
	// with the event. Errors: ErrMoved, database_unavailable.
	Cancel(ctx context.Context, c Change) error
}

// Change is everything that a request for a deletion, or its cancellation, writes.
type Change struct {
	Workspace id.Workspace
	Member    id.Member
	DeletesAt time.Time
	At        time.Time
	Event     event.Event
}

// Service requests and cancels deletions.
type Service struct {
	Store Store
	Now   func() time.Time
}

// races bounds optimistic retries. Every lost attempt means that another change of the workspace succeeded.
var races = conflict.Policy{Lost: ErrMoved, Attempts: 4, Exhausted: func() error {
	return fault.New(fault.DatabaseUnavailable, "the workspace keeps changing; repeat the request in a moment")
}}

// Status reports whether and when the caller's workspace is being deleted.
func (s *Service) Status(by credential.Actor) contract.WorkspaceDeletion { return status(by.Workspace) }

func status(w workspace.Workspace) contract.WorkspaceDeletion {
	out := contract.WorkspaceDeletion{Workspace: w.Summary(), Status: contract.WorkspaceActive}
	if w.Deleting() {
		out.Status = contract.WorkspaceDeleting
		out.DeletesAt = contract.AtOrNull(w.DeletesAt)
	}
	return out
}

// Request requests the deletion of the caller's workspace. The caller has to be a member with the scope admin who has
// just signed in, and has to repeat the name of the workspace. Request ends every session of the member, including the
// caller's. A second request gets the answer to the first one.
func (s *Service) Request(
	ctx context.Context, by credential.Actor, confirm string,
) (contract.WorkspaceDeletion, error) {
	now := s.Now().UTC().Truncate(time.Millisecond) // the precision of the store
	if err := may(by, now); err != nil {
		return contract.WorkspaceDeletion{}, err
	}
	return s.change(ctx, by, func(w workspace.Workspace) (workspace.Workspace, error) {
		switch {
		case w.Deleting():
			return w, nil
		case !w.Open():
			return w, fault.New(fault.NotAuthenticated, "this workspace was closed")
		case strings.TrimSpace(confirm) != w.Name:
			return w, fault.New(fault.InvalidRequest, "confirm is not the name of the workspace; nothing was deleted")
		}
		w.DeletesAt = now.Add(limits.DeletionGrace)
		return w, s.Store.Request(ctx, newChange(by, w.DeletesAt, now, event.DeletionRequested))
	})
}

// Cancel cancels the deletion of the caller's workspace for a member with the scope admin. It has no effect on a
// workspace that is not being deleted.
func (s *Service) Cancel(ctx context.Context, by credential.Actor) (contract.WorkspaceDeletion, error) {
	if err := by.Require(credential.Admin); err != nil {
		return contract.WorkspaceDeletion{}, err
	}
	now := s.Now().UTC().Truncate(time.Millisecond)
	return s.change(ctx, by, func(w workspace.Workspace) (workspace.Workspace, error) {
		switch {
		case !w.RemovedAt.IsZero():
			return w, w.RefuseDeleting()
		case !w.Kept().Open():
			return w, fault.New(fault.NotAuthenticated, "this workspace was closed")
		case !w.Deleting():
			return w, nil
		}
		return w.Kept(), s.Store.Cancel(ctx, newChange(by, w.DeletesAt, now, event.DeletionCancelled))
	})
}

// may refuses every caller but a member with the scope admin who has just signed in, because a deletion by a stolen
// session would be final.
func may(by credential.Actor, now time.Time) error {
	if err := by.Require(credential.Admin); err != nil {
		return err
	}
	return by.SignedInLately(now)
}

// change reads the caller's workspace and runs step on it, again after each lost race.
func (s *Service) change(
	ctx context.Context, by credential.Actor, step func(workspace.Workspace) (workspace.Workspace, error),
) (contract.WorkspaceDeletion, error) {
	w, err := conflict.Retry(races, func() (workspace.Workspace, error) {
		w, err := s.Store.Workspace(ctx, by.Workspace.ID)
		switch {
		case err != nil:
			return workspace.Workspace{}, err
		case w == nil:
			return workspace.Workspace{}, fault.New(fault.NotAuthenticated, "this workspace is gone")
		}
		return step(*w)
	})
	if err != nil {
		return contract.WorkspaceDeletion{}, err
	}
	return status(w), nil
}

func newChange(by credential.Actor, deletes, now time.Time, action event.Action) Change {
	return Change{
		Workspace: by.Workspace.ID,
		Member:    by.Member,
		DeletesAt: deletes,
		At:        now,
		Event: by.Record(now, action, event.OnWorkspace, string(by.Workspace.ID),
			"on "+deletes.UTC().Format(time.DateOnly)),
	}
}
