package sharing

import (
	"slices"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// TestARevokedLinkOpensNothingFromThenOn asks with the URL, with what the URL gave, and for another URL.
func TestARevokedLinkOpensNothingFromThenOn(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	a := s.Published.ArtifactID
	for _, kind := range []string{"share", "revision"} {
		l := harness.CreateLink(t, s.Agent, a, wanted(kind, s.Published))
		had := s.OpenLink(t, harness.MintLink(t, s.Agent, l.ID), "shared")
		first := harness.RevokeLink(t, s.Agent, l.ID)
		s.WantLinksClosed(t, had)
		mint := harness.Do(t, s.Agent, "POST", s.Origins.API+harness.LinkPath(l.ID, "mint"), nil)
		harness.WantRefused(t, mint, 404, fault.NotFound)
		s.Clock.Advance(time.Minute)
		again := harness.RevokeLink(t, s.Agent, l.ID)
		row := harness.LinkRows(t, s.Agent, a)[l.ID]
		if !again.RevokedAt.Equal(first.RevokedAt.Time) || row.RevokedAt == nil ||
			!row.RevokedAt.Equal(first.RevokedAt.Time) {
			t.Errorf("revoked at %s, then %s, listed %v", first.RevokedAt, again.RevokedAt, row.RevokedAt)
		}
	}
	s.WantContent(t, s.Published.RevisionContentURL, harness.Page("shared").Body) // no link is named there
	if done := s.Events(t, s.Agent); done["access_link.created"] != 2 || done["access_link.revoked"] != 2 {
		t.Errorf("%v", done)
	}
}

// TestT57WhatWasHadThroughALinkEndsWithEverythingAboveIt deletes the artifact and locks it, its links and the
// workspace.
func TestT57WhatWasHadThroughALinkEndsWithEverythingAboveIt(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	gate, workspace := "A#"+string(s.Published.ArtifactID), "W#"+string(s.Member.Workspace)
	l := harness.CreateLink(t, s.Agent, s.Published.ArtifactID, harness.ShareLink)
	had := s.OpenLink(t, harness.MintLink(t, s.Agent, l.ID), "shared")
	asked := linkRequests(t, s.Agent, s.Published.ArtifactID, l.ID, s.Published.RevisionID)
	for pk, set := range map[string]map[string]any{gate: {"lock": "lkd_1"}, workspace: {"lock": "lkd_2"}} {
		s.Update(t, pk, "META", set)
		s.WantLinksClosed(t, had)
		if pk == gate {
			harness.WantRefused(t, asked["mint"](), 404, fault.NotFound)
			harness.WantRefused(t, asked["create share"](), 404, fault.ArtifactNotFound)
		}
		s.Update(t, pk, "META", map[string]any{"lock": nil})
		s.OpenLink(t, had.URL, "shared")
	}
	harness.DeleteArtifact(t, s.Agent, s.Published.ArtifactID)
	s.WantLinksClosed(t, had)
	for name, ask := range asked {
		switch name {
		case "list":
			wantOK(t, name, ask())
		case "revoke":
			continue // below: links of any artifact may be revoked
		default:
			harness.WantRefused(t, ask(), 404, missingCode(name))
		}
	}
	harness.RevokeLink(t, s.Agent, l.ID)
	for name, ask := range webLinkRequests(t, s.Member, s.Published.ArtifactID, l.ID) {
		if name == "web lock" || name == "web unlock" || name == "web create" {
			harness.WantRefused(t, ask(), 404, fault.ArtifactNotFound)
		}
	}
}

func TestLocksOfLinksHoldAtOnceAndEndNothing(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	a := s.Published.ArtifactID
	share := harness.CreateLink(t, s.Agent, a, harness.ShareLink)
	pinned := harness.CreateLink(t, s.Agent, a, harness.RevisionLink(s.Published.RevisionID))
	had := []harness.OpenedLink{
		s.OpenLink(t, harness.MintLink(t, s.Agent, share.ID), "shared"),
		s.OpenLink(t, harness.MintLink(t, s.Agent, pinned.ID), "shared"),
	}
	setLinkLock(t, s, a, true)
	s.WantLinksClosed(t, had...)
	s.WantGone(t, s.Published.AgentViewURL)                                       // which opens without an account too
	s.WantContent(t, s.Published.RevisionContentURL, harness.Page("shared").Body) // the owner's own URL names no link
	for name, ask := range linkRequests(t, s.Agent, a, share.ID, s.Published.RevisionID) {
		switch name {
		case "create share", "create revision", "mint", "unlisted":
			harness.WantRefused(t, ask(), 404, fault.NotFound)
		}
	}
	setLinkLock(t, s, a, true)
	setLinkLock(t, s, a, false)
	setLinkLock(t, s, a, false)
	for _, l := range had {
		s.OpenLink(t, l.URL, "shared")
		s.WantContent(t, l.Content, harness.Page("shared").Body)
	}
	wantOK(t, "the public view", s.Get(t, s.Published.AgentViewURL))
	if done := s.Events(t, s.Agent); done["access_link.lockdown.set"] != 1 || done["access_link.lockdown.lifted"] != 1 {
		t.Errorf("%v", done)
	}
}

func TestPrivateEndsEveryLinkAtOnce(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	a := s.Published.ArtifactID
	unlisted := harness.SetVisibility(t, s.Agent, a, "unlisted")
	pinned := harness.CreateLink(t, s.Agent, a, harness.RevisionLink(s.Published.RevisionID))
	had := []harness.OpenedLink{
		s.OpenLink(t, unlisted.UnlistedURL, "shared"),
		s.OpenLink(t, harness.MintLink(t, s.Agent, pinned.ID), "shared"),
	}
	revoked := harness.CreateLink(t, s.Agent, a, harness.RevisionLink(s.Published.RevisionID))
	earlier := harness.RevokeLink(t, s.Agent, revoked.ID)
	s.Clock.Advance(time.Second)

	private := harness.SetVisibility(t, s.Agent, a, "private")
	s.WantLinksClosed(t, had...)
	want := []id.Link{unlisted.AccessLinkID, pinned.ID}
	slices.Sort(want)
	if got := slices.Sorted(slices.Values(*private.RevokedAccessLinkIDs)); !slices.Equal(got, want) ||
		private.PrivateURL != s.Origins.App+"/v/"+string(a) || private.UnlistedURL != "" {
		t.Errorf("it ended %v, want %v: %+v", got, want, private)
	}
	rows := harness.LinkRows(t, s.Agent, a)
	if at := rows[revoked.ID].RevokedAt; at == nil || !at.Equal(earlier.RevokedAt.Time) {
		t.Errorf("a link that was revoked before is listed with %v", at)
	}
	for _, l := range want {
		closed := rows[l].RevokedAt
		if again := harness.RevokeLink(t, s.Agent, l); closed == nil || !again.RevokedAt.Equal(closed.Time) {
			t.Errorf("closed at %s, then revoked at %s", closed, again.RevokedAt)
		}
	}
	if none := harness.SetVisibility(t, s.Agent, a, "private"); len(*none.RevokedAccessLinkIDs) != 0 {
		t.Errorf("%+v, want no link revoked", none)
	}
	s.OpenLink(t, harness.SetVisibility(t, s.Agent, a, "unlisted").UnlistedURL, "shared") // in the same instant
	s.WantLinksClosed(t, had...)
	if done := s.Events(t, s.Agent); done["artifact.visibility.updated"] != 1 {
		t.Errorf("%v", done)
	}
}

// TestPrivateClosesThePublicViewsThatWereThere has a view of each revision: those of before the closing stay closed,
// whatever comes, files that were copied stay open, and a later publication has a view again. The one of a guest makes
// another link, too.
func TestPrivateClosesThePublicViewsThatWereThere(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	for name, g := range map[string]*wire.Agent{"a member's artifact": s.Agent, "a guest's": s.FaultEnv.NewAgent(t)} {
		first := harness.PublishPage(t, g, "first")
		a := first.ArtifactID
		second := harness.Must(g.PublishFiles(ctx, "second", a, harness.Page("second")))(t)
		for _, url := range []string{first.AgentViewURL, second.AgentViewURL} {
			wantOK(t, name+", before", s.Get(t, url))
		}
		closed := func() {
			t.Helper()
			s.WantGone(t, first.AgentViewURL)
			s.WantGone(t, second.AgentViewURL)
			if first.UnlistedURL != "" {
				harness.WantRefused(t, s.Resolve(t, first.UnlistedURL), 404, fault.NotFound)
			}
		}
		harness.SetVisibility(t, g, a, "private")
		closed()
		s.WantContent(t, second.RevisionContentURL, harness.Page("second").Body) // a file that was copied
		third := harness.Must(g.PublishFiles(ctx, "third", a, harness.Page("third")))(t)
		wantOK(t, name+", the next publication", s.Get(t, third.AgentViewURL))
		if third.UnlistedURL != "" {
			wantOK(t, "its link", s.Resolve(t, third.UnlistedURL))
		}
		closed()
		harness.SetVisibility(t, g, a, "private")
		s.WantGone(t, third.AgentViewURL)
	}
}
