package artifact

import (
	"context"
	"errors"
	"testing"
	"time"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
)

// countedWorkspaces are the gates of workspaces; it counts how often they are read.
type countedWorkspaces struct {
	of    map[id.Workspace]workspace.Workspace
	err   error
	reads int
}

func (c *countedWorkspaces) Workspace(_ context.Context, w id.Workspace) (*workspace.Workspace, error) {
	c.reads++
	if found, ok := c.of[w]; ok {
		return &found, c.err
	}
	return nil, c.err
}

func TestFollowCostsAsMuchForNothingAsForSomebodyElses(t *testing.T) {
	now := time.Now()
	member, guest := workspace.Workspace{ID: "mine", ClaimedAt: now}, workspace.Workspace{ID: "mine"}
	all := map[id.Workspace]workspace.Workspace{
		"mine": member, "theirs": {ID: "theirs"}, "source": {ID: "source", ClaimedInto: "mine"},
	}
	for name, c := range map[string]struct {
		by    workspace.Workspace
		a     *Artifact
		owner id.Workspace // of what is returned; empty: nothing is
		reads int
	}{
		"a member's own":                      {member, &Artifact{Owner: "mine"}, "mine", 0},
		"one that a member claimed":           {member, &Artifact{Owner: "source"}, "mine", 1},
		"somebody else's, for a member":       {member, &Artifact{Owner: "theirs"}, "theirs", 1},
		"of a workspace that is gone":         {member, &Artifact{Owner: "gone"}, "gone", 1},
		"nothing, for a member":               {member, nil, "", 1},
		"a guest's own":                       {guest, &Artifact{Owner: "mine"}, "mine", 0},
		"somebody else's, for a guest":        {guest, &Artifact{Owner: "theirs"}, "theirs", 0},
		"nothing, for a guest":                {guest, nil, "", 0},
		"one that is claimed, from elsewhere": {guest, &Artifact{Owner: "source"}, "source", 0},
	} {
		store := &countedWorkspaces{of: all}
		got, err := Follow(t.Context(), store, c.by, c.a)
		if err != nil || store.reads != c.reads || (got == nil) != (c.owner == "") || got != nil && got.Owner != c.owner {
			t.Errorf("%s: %+v after %d reads, %v", name, got, store.reads, err)
		}
	}
	away := &countedWorkspaces{of: all, err: errors.New("away")}
	if _, err := Follow(t.Context(), away, member, nil); err == nil {
		t.Error("a store that does not answer tells that nothing is there")
	}
}
