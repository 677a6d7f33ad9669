package session_test

import (
	"errors"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/deletion"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func (s *env) change() deletion.Change {
	return deletion.Change{
		Workspace: s.who.Workspace.ID,
		Member:    s.who.Member.ID,
		DeletesAt: s.at.Add(limits.DeletionGrace),
		At:        s.at,
		Event:     event.Event{ID: id.NewEvent(), Workspace: s.who.Workspace.ID, At: s.at, Action: event.DeletionRequested},
	}
}

func TestASessionOfAWorkspaceThatIsBeingDeletedOpensItsPageAlone(t *testing.T) {
	s := newEnv(t)
	before := s.start(t)
	asked := s.change()
	expect.OK(t, s.Stores.Deletions.Request(ctx, asked))
	s.at = s.at.Add(time.Second)
	after := s.start(t)
	if _, err := s.Authenticate(ctx, before, "req"); errors.Is(err, workspace.ErrDeleting) ||
		fault.CodeOf(err) != fault.NotAuthenticated {
		t.Errorf("a session of before: %v", err)
	}
	if _, err := s.AuthenticateDeleting(ctx, before, "req"); fault.CodeOf(err) != fault.NotAuthenticated {
		t.Errorf("a session of before, at the page: %v", err)
	}
	if _, err := s.Authenticate(ctx, after, "req"); !errors.Is(err, workspace.ErrDeleting) {
		t.Errorf("a session of afterwards: %v", err)
	}
	in, err := s.AuthenticateDeleting(ctx, after, "req")
	if err != nil || !in.Actor.Workspace.Deleting() {
		t.Fatalf("a session of afterwards, at the page: %v", err)
	}
	cancelled := s.change()
	cancelled.DeletesAt = asked.DeletesAt
	expect.OK(t, s.Stores.Deletions.Cancel(ctx, cancelled))
	if !s.opens(t, after) || s.opens(t, before) {
		t.Error("what ended came back, or the session that kept the workspace ended")
	}
	if err := s.Stores.Deletions.Cancel(ctx, s.change()); !errors.Is(err, deletion.ErrMoved) {
		t.Errorf("a second cancellation: %v", err)
	}
}
