package view

import (
	"testing"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/publishing/artifact"
)

func TestMembersLearnWhatIsLockedAndKeysDoNot(t *testing.T) {
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
		by             credential.Actor
		a              *artifact.Artifact
		visible, tells bool
	}{
		"nothing is locked":         {member, &open, true, false},
		"locked, a member":          {member, &locked, true, true},
		"locked, a key":             {key, &locked, false, false},
		"links locked, a member":    {member, &unlinked, true, true},
		"links locked, a key":       {key, &unlinked, true, false},
		"locked, another workspace": {stranger, &locked, false, true},
	} {
		got := lockdowns(c.by, c.a)
		if v.visible(c.by, c.a) != c.visible || (got != nil) != c.tells {
			t.Errorf("%s: visible %t, tells %+v", name, v.visible(c.by, c.a), got)
		}
		if got == nil {
			continue
		}
		if got.Platform.Artifact.Locked != (c.a.Lock != "") || got.AccessLink.Locked == got.Platform.Artifact.Locked {
			t.Errorf("%s: %+v", name, got)
		}
		if got.Platform.Workspace.LockedAt != nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
