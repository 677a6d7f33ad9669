package view

import (
	"testing"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/publishing/artifact"
)

func TestMembersSeeWhatIsLockedAndKeysDoNot(t *testing.T) {
	key := credential.Actor{Workspace: workspace.Workspace{ID: "w"}}
	member, stranger := key, key
	member.Member, stranger.Member = "m", "m"
	stranger.Workspace.ID = "v"
	open := artifact.Artifact{Owner: "w", Status: artifact.Live, ExpiresAt: now.Add(time.Hour)}
	locked, unlinked := open, open
	locked.Lock = "lkd_1"
	locked.LockedAt = now
	unlinked.LinksLockedAt = now
	v := &Service{Now: func() time.Time { return now }}
	for name, c := range map[string]struct {
		by      credential.Actor
		a       *artifact.Artifact
		visible bool
	}{
		"nothing is locked":         {member, &open, true},
		"locked, a member":          {member, &locked, true},
		"locked, a key":             {key, &locked, false},
		"links locked, a member":    {member, &unlinked, true},
		"links locked, a key":       {key, &unlinked, true},
		"locked, another workspace": {stranger, &locked, false},
	} {
		if v.visible(c.by, c.a) != c.visible {
			t.Errorf("%s: visible %t", name, !c.visible)
		}
	}
}
