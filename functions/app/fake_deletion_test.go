package app

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/session"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// deletions deletes the workspace of the house, whose sessions are those of others.
type deletions struct{ *house }

func (s deletions) AuthenticateDeleting(ctx context.Context, given, requestID string) (session.Authenticated, error) {
	return sessions(s).find(ctx, given, requestID)
}

func (s deletions) Request(
	ctx context.Context, by credential.Actor, confirm string,
) (contract.WorkspaceDeletion, error) {
	if confirm != by.Workspace.Name {
		return contract.WorkspaceDeletion{}, fault.New(fault.InvalidRequest, "confirm is not the name of the workspace")
	}
	return contract.WorkspaceDeletion{}, s.called(ctx, "RequestDeletion "+confirm)
}

func (s deletions) Cancel(ctx context.Context, _ credential.Actor) (contract.WorkspaceDeletion, error) {
	return contract.WorkspaceDeletion{}, s.called(ctx, "CancelDeletion")
}

// refuseDeleting refuses what Sessions does of a workspace that is being deleted.
func refuseDeleting(found session.Authenticated) error {
	if w := found.Actor.Workspace; w.Deleting() {
		return w.RefuseDeleting()
	}
	return nil
}

// deleting lets the workspace of a house be deleted at an instant.
func deleting(at time.Time) func(*house) { return func(s *house) { s.deletes = at } }
