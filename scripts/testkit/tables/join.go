package tables

import (
	"testing"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
)

// Join creates a member with a workspace. The member has all scopes unless some are given.
func (s Tables) Join(t testing.TB, at time.Time, scopes ...credential.Scope) credential.Actor {
	t.Helper()
	if len(scopes) == 0 {
		scopes = []credential.Scope{credential.Publish, credential.Read, credential.Admin}
	}
	w := workspace.Workspace{
		ID:        id.NewWorkspace(),
		Name:      "W",
		Plan:      workspace.FreePlan,
		CreatedAt: at,
		ClaimedAt: at,
	}
	m := member.Member{
		ID:        id.NewMember(),
		Workspace: w.ID,
		Issuer:    "https://idp.example.com",
		Subject:   string(id.NewPublic()),
		Email:     "p@example.com",
		Scopes:    scopes,
		CreatedAt: at,
		SeenAt:    at,
	}
	e := event.Event{
		ID:        id.NewEvent(),
		Workspace: w.ID,
		At:        at,
		Action:    event.WorkspaceCreated,
		Actor:     event.BySystem(),
	}
	if err := s.Stores.Members.Add(t.Context(), member.NewMember{Member: m, Workspace: w, Event: e}); err != nil {
		t.Fatal(err)
	}
	return credential.Actor{Member: m.ID, Scopes: scopes, Workspace: w}
}
