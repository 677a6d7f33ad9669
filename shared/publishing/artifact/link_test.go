package artifact

import (
	"testing"
	"time"
)

func TestAClosingEndsEveryLinkBeforeItAndNoneAfterIt(t *testing.T) {
	now := time.UnixMilli(1_000_000).UTC()
	for name, a := range map[string]*Artifact{
		"at first":                   {},
		"a link of this instant":     {NewestLinkAt: now},
		"a link of a faster clock":   {NewestLinkAt: now.Add(time.Minute)},
		"closed in this instant":     {NewestLinkAt: now, LinksRevokedBefore: now},
		"closed by a faster clock":   {NewestLinkAt: now.Add(-time.Hour), LinksRevokedBefore: now.Add(time.Minute)},
		"closed, and shared again":   {NewestLinkAt: now.Add(time.Hour), LinksRevokedBefore: now.Add(time.Minute)},
		"closed and shared long ago": {NewestLinkAt: now.Add(-time.Hour), LinksRevokedBefore: now.Add(-2 * time.Hour)},
	} {
		made := a.NextLink(now.Add(300 * time.Microsecond))
		if !a.LinksOpen(made) || made.Before(a.NewestLinkAt) || made.Before(now) {
			t.Errorf("%s: a link of %s is dead", name, made)
		}
		a.NewestLinkAt = made
		a.LinksRevokedBefore = a.NextLink(now)
		if a.LinksOpen(made) {
			t.Errorf("%s: a link of %s outlives the closing of %s", name, made, a.LinksRevokedBefore)
		}
		if next := a.NextLink(now); !a.LinksOpen(next) {
			t.Errorf("%s: the next link is dead", name)
		}
		a.LinksLockedAt = now
		if a.LinksOpen(a.NextLink(now)) {
			t.Errorf("%s: a lock keeps no link", name)
		}
	}
}

func TestAShareLinkEndsByItself(t *testing.T) {
	now := time.Now()
	a := &Artifact{ShareLink: "P", ShareLinkUntil: now}
	if a.Shared(now) != "" || a.Shared(now.Add(-time.Millisecond)) != "P" {
		t.Error("a share link does not end in its instant")
	}
	if a.ShareLinkUntil = (time.Time{}); a.Shared(now) != "P" {
		t.Error("a share link without end ended")
	}
}
