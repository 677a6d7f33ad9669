package sharing

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// TestARevokedLinkOpensNothingFromThenOn asks with the URL, with what the URL gave, and for another URL.
func TestARevokedLinkOpensNothingFromThenOn(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	a := s.Published.ArtifactID
	for _, wanted := range []contract.CreateLink{harness.ShareLink, harness.RevisionLink(s.Published.RevisionID)} {
		l := harness.CreateLink(t, s.Agent, a, wanted)
		had := s.OpenLink(t, harness.MintLink(t, s.Agent, l.ID), "shared")
		first := harness.RevokeLink(t, s.Agent, l.ID)
		s.WantLinksClosed(t, had)
		harness.WantRefused(
			t, harness.Do(t, s.Agent, "POST", s.Origins.API+harness.LinkPath(l.ID, "mint"), nil), 404, fault.NotFound,
		)
		s.Clock.Advance(time.Minute)
		again := harness.RevokeLink(t, s.Agent, l.ID)
		member := harness.CallAs[contract.RevokedLink](
			t, s.Member, 200, "POST", "/v1/web/access-links/"+string(l.ID)+"/revoke", nil,
		)
		row := harness.LinkRows(t, s.Agent, a)[l.ID]
		if !again.RevokedAt.Equal(first.RevokedAt.Time) || !member.RevokedAt.Equal(first.RevokedAt.Time) ||
			row.RevokedAt == nil || !row.RevokedAt.Equal(first.RevokedAt.Time) {
			t.Errorf(
				"revoked at %s, then %s and %s, listed %v", first.RevokedAt, again.RevokedAt, member.RevokedAt, row.RevokedAt,
			)
		}
	}
	s.WantContent(t, s.Published.RevisionContentURL, harness.Page("shared").Body) // no link is named there
	if done := s.Events(t, s.Agent); done["access_link.created"] != 2 || done["access_link.revoked"] != 2 {
		t.Errorf("%v", done)
	}
}

// TestT60T57ALinkIsBoundToItsIdAndItsRow mixes the parts of two links.
func TestT60T57ALinkIsBoundToItsIdAndItsRow(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	one := harness.MintLink(t, s.Agent, harness.CreateLink(t, s.Agent, s.Published.ArtifactID, harness.ShareLink).ID)
	pinned := harness.CreateLink(t, s.Agent, s.Published.ArtifactID, harness.RevisionLink(s.Published.RevisionID))
	two := harness.MintLink(t, s.Agent, pinned.ID)
	_, blob, err := wire.SplitLink(one)
	harness.NoError(t, err)
	mixed := harness.Do(t, s.Anyone, "POST", s.Origins.API+"/v1/access-links/resolve", contract.ResolveRequest{
		PublicID: harness.PublicID(t, two),
		Blob:     blob,
	})
	harness.WantRefused(t, mixed, 404, fault.NotFound)
	had := s.OpenLink(t, two, "shared")
	harness.RevokeLink(t, s.Agent, pinned.ID)
	s.WantLinksClosed(t, had)
	if raised := s.Resolve(t, two); raised.Message() != mixed.Message() {
		t.Errorf("revoked is %q, forged is %q", raised.Message(), mixed.Message())
	}
	s.OpenLink(t, one, "shared")
}

// TestT57WhatWasHadThroughALinkEndsWithEverythingAboveIt deletes the artifact and locks it, its links and the
// workspace.
func TestT57WhatWasHadThroughALinkEndsWithEverythingAboveIt(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	gate, workspace := "A#"+string(s.Published.ArtifactID), "W#"+string(s.Member.Workspace)
	l := harness.CreateLink(t, s.Agent, s.Published.ArtifactID, harness.ShareLink)
	had := s.OpenLink(t, harness.MintLink(t, s.Agent, l.ID), "shared")
	for pk, set := range map[string]map[string]any{gate: {"lock": "lkd_1"}, workspace: {"lock": "lkd_2"}} {
		s.Update(t, pk, "META", set)
		s.WantLinksClosed(t, had)
		if pk == gate {
			harness.WantRefused(
				t, harness.Do(t, s.Agent, "POST", s.Origins.API+harness.LinkPath(l.ID, "mint"), nil), 404, fault.NotFound,
			)
			harness.WantRefused(t, tryLink(t, s.Agent, s.Published.ArtifactID, harness.ShareLink), 404, fault.ArtifactNotFound)
		}
		s.Update(t, pk, "META", map[string]any{"lock": nil})
		s.OpenLink(t, had.URL, "shared")
	}
	wantOK(t, "delete", harness.TryDelete(t, s.Agent, s.Published.ArtifactID))
	s.WantLinksClosed(t, had)
	for name, ask := range linkRequests(t, s.Agent, s.Published.ArtifactID, l.ID, s.Published.RevisionID) {
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
	lock := "/v1/web/artifacts/" + string(a) + "/access-link-lockdown"
	share, pinned := harness.CreateLink(t, s.Agent, a, harness.ShareLink), harness.CreateLink(
		t, s.Agent, a, harness.RevisionLink(s.Published.RevisionID),
	)
	had := []harness.OpenedLink{s.OpenLink(
		t, harness.MintLink(t, s.Agent, share.ID), "shared",
	), s.OpenLink(t, harness.MintLink(t, s.Agent, pinned.ID), "shared")}
	idem := harness.KeyHeader()
	set := harness.CallAs[contract.WebArtifact](t, s.Member, 200, "POST", lock, nil, idem...)
	if !set.Lockdown || set.ID != a {
		t.Errorf("%+v", set)
	}
	s.WantLinksClosed(t, had...)
	s.WantGone(t, s.Published.AgentViewURL)                                       // which opens without an account too
	s.WantContent(t, s.Published.RevisionContentURL, harness.Page("shared").Body) // the owner's own URL names no link
	for name, ask := range linkRequests(t, s.Agent, a, share.ID, s.Published.RevisionID) {
		switch name {
		case "create share", "create revision", "mint", "unlisted":
			harness.WantRefused(t, ask(), 404, fault.NotFound)
		}
	}
	again := harness.CallAs[contract.WebArtifact](t, s.Member, 200, "POST", lock, nil, harness.KeyHeader()...)
	if !again.Lockdown {
		t.Errorf("%+v", again)
	}
	lifted := harness.CallAs[contract.WebArtifact](t, s.Member, 200, "POST", lock+"/lift", nil, harness.KeyHeader()...)
	if lifted.Lockdown {
		t.Errorf("%+v", lifted)
	}
	if again := harness.CallAs[contract.WebArtifact](
		t, s.Member, 200, "POST", lock+"/lift", nil, harness.KeyHeader()...,
	); again.Lockdown {
		t.Errorf("%+v", again)
	}
	if replayed := harness.CallAs[contract.WebArtifact](t, s.Member, 200, "POST", lock, nil, idem...); !replayed.Lockdown {
		t.Errorf("a replay answers %+v", replayed)
	}
	for _, l := range had { // which locked nothing anew
		s.OpenLink(t, l.URL, "shared")
		s.WantContent(t, l.Content, harness.Page("shared").Body)
	}
	if view := s.Get(t, s.Published.AgentViewURL); view.Status != http.StatusOK {
		t.Errorf("the public view answers %d after the lock", view.Status)
	}
	if rows := harness.LinkRows(t, s.Agent, a); len(rows) != 2 || rows[share.ID].RevokedAt != nil {
		t.Errorf("%+v", rows)
	}
	if done := s.Events(t, s.Agent); done["access_link.lockdown.set"] != 1 || done["access_link.lockdown.lifted"] != 1 {
		t.Errorf("%v", done)
	}
	if a := harness.TryAs(t, s.Member, "POST", lock, nil); a.Code() != fault.InvalidIdempotencyKey {
		t.Errorf("without key: %d %s", a.Status, a.Body)
	}
}

func TestAPinThatFindsNothingToDoIsDoneOnceToo(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	a := s.Published.ArtifactID
	pinned := harness.KeyHeader()
	still := harness.KeyHeader()
	unpinned := harness.KeyHeader()
	never := harness.KeyHeader()
	keep := func(path string, idem []string, want bool) {
		t.Helper()
		if got := harness.CallAs[contract.WebArtifact](t, s.Member, 200, "POST", path, nil, idem...); got.Pinned != want {
			t.Errorf("%s answers pinned: %t", path, got.Pinned)
		}
	}
	keep(harness.UnpinPath(a), never, false)
	keep(harness.PinPath(a), pinned, true)
	keep(harness.UnpinPath(a), never, false) // which unpins nothing now
	keep(harness.PinPath(a), still, true)
	if s.PinCount(t) != "1" {
		t.Errorf("%s counted", s.PinCount(t))
	}
	keep(harness.UnpinPath(a), unpinned, false)
	keep(harness.PinPath(a), still, true)
	if s.PinCount(t) != "0" {
		t.Errorf("%s counted", s.PinCount(t))
	}
}

// keysOf are the members of an answer in their order.
func keysOf(t testing.TB, a wire.Answer) string {
	t.Helper()
	var members map[string]any
	harness.Decode(t, a, &members)
	return strings.Join(slices.Sorted(maps.Keys(members)), " ")
}

func TestPrivateEndsEveryLinkAtOnce(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	a := s.Published.ArtifactID
	end := contract.At(s.Options.Now().Add(time.Minute))
	brief := harness.RevisionLink(s.Published.RevisionID)
	brief.ExpiresAt = &end
	harness.CreateLink(t, s.Agent, a, brief)
	s.Clock.Advance(time.Minute)
	unlisted := harness.SetVisibility(t, s.Agent, a, "unlisted")
	had := []harness.OpenedLink{s.OpenLink(t, unlisted.UnlistedURL, "shared")}
	want := []id.Link{unlisted.AccessLinkID}
	for range 30 {
		l := harness.CreateLink(t, s.Agent, a, harness.RevisionLink(s.Published.RevisionID))
		want = append(want, l.ID)
	}
	had = append(had, s.OpenLink(t, harness.MintLink(t, s.Agent, want[len(want)-1]), "shared"))
	revoked := harness.CreateLink(t, s.Agent, a, harness.RevisionLink(s.Published.RevisionID))
	earlier := harness.RevokeLink(t, s.Agent, revoked.ID)
	s.Clock.Advance(time.Second)
	private := harness.SetVisibility(t, s.Agent, a, "private")
	s.WantLinksClosed(t, had...)
	slices.Sort(want)
	got := slices.Sorted(slices.Values(*private.RevokedAccessLinkIDs))
	if !slices.Equal(got, want) || private.PrivateURL != s.Origins.App+"/v/"+string(a) || private.UnlistedURL != "" {
		t.Errorf("%d of %d links ended: %+v", len(got), len(want), private)
	}
	rows := harness.LinkRows(t, s.Agent, a)
	for _, l := range want {
		if rows[l].RevokedAt == nil {
			t.Errorf("%s is listed as live", l)
		}
	}
	if at := rows[revoked.ID].RevokedAt; at == nil || !at.Equal(earlier.RevokedAt.Time) {
		t.Errorf("a link that was revoked before is listed with %v", at)
	}
	closed := rows[want[0]].RevokedAt
	if again := harness.RevokeLink(t, s.Agent, want[0]); !again.RevokedAt.Equal(closed.Time) {
		t.Errorf("closed at %s, then revoked at %s", closed, again.RevokedAt)
	}
	for _, r := range harness.CallAs[contract.WebLinkList](t, s.Member, 200, "GET", "/v1/web/access-links", nil).Items {
		if !r.Revoked && r.ExpiresAt == nil {
			t.Errorf("%+v", r)
		}
	}
	told := harness.Do(
		t,
		s.Agent,
		"PUT",
		s.Origins.API+"/v1/artifacts/"+string(a)+"/visibility",
		contract.SetVisibility{Visibility: "private"},
	)
	if got := keysOf(t, told); got != "artifact_id private_url revoked_access_link_ids visibility" {
		t.Errorf("private answers %s", got)
	}
	if none := harness.SetVisibility(t, s.Agent, a, "private"); len(*none.RevokedAccessLinkIDs) != 0 {
		t.Errorf("%+v", none)
	}
	s.OpenLink(t, harness.SetVisibility(t, s.Agent, a, "unlisted").UnlistedURL, "shared") // in the same instant
	told = harness.Do(
		t,
		s.Agent,
		"PUT",
		s.Origins.API+"/v1/artifacts/"+string(a)+"/visibility",
		contract.SetVisibility{Visibility: "unlisted"},
	)
	if got := keysOf(t, told); got != "access_link_id artifact_id unlisted_url visibility" {
		t.Errorf("unlisted answers %s", got)
	}
	s.OpenLink(
		t,
		harness.MintLink(t, s.Agent, harness.CreateLink(t, s.Agent, a, harness.RevisionLink(s.Published.RevisionID)).ID),
		"shared",
	)
	s.WantLinksClosed(t, had...)
	if done := s.Events(t, s.Agent); done["artifact.visibility.updated"] != 1 {
		t.Errorf("%v", done)
	}
}

// TestAnArtifactWithoutAccountMayBePrivateToo ends the link that a publication made; the next one makes another.
func TestAnArtifactWithoutAccountMayBePrivateToo(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t, harness.Unlimited)
	g := s.NewAgent(t)
	p := harness.PublishPage(t, g, "once")
	private := harness.SetVisibility(t, g, p.ArtifactID, "private")
	if len(*private.RevokedAccessLinkIDs) != 1 {
		t.Errorf("%+v", private)
	}
	if _, err := s.Anyone.Resolve(ctx, p.UnlistedURL); err == nil {
		t.Error("the link opens")
	}
	again := harness.Call[contract.Published](
		t,
		g,
		http.StatusOK,
		"POST",
		"/v1/artifacts/"+string(p.ArtifactID)+"/revisions/"+string(p.RevisionID)+"/publish",
		nil,
		harness.KeyHeader()...,
	)
	if again.UnlistedURL != "" || again.PrivateURL == "" {
		t.Errorf("published already, and private: %+v", again)
	}
	next := harness.Must(g.PublishFiles(ctx, "next", p.ArtifactID, harness.Page("next")))(t)
	harness.Must(s.Anyone.Resolve(ctx, next.UnlistedURL))(t)
	if _, err := s.Anyone.Resolve(ctx, p.UnlistedURL); err == nil {
		t.Error("the old link opens again")
	}
}

// TestPrivateClosesThePublicViewsThatWereThere has a view of each revision: those of before the closing stay closed,
// whatever comes, files that were copied stay open, and a later publication has a view again.
func TestPrivateClosesThePublicViewsThatWereThere(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	for name, g := range map[string]*wire.Agent{
		"a member's artifact, which had no link": s.Agent, "a guest's, which has one": s.FaultEnv.NewAgent(t),
	} {
		first := harness.PublishPage(t, g, "first")
		a := first.ArtifactID
		second := harness.Must(g.PublishFiles(ctx, "second", a, harness.Page("second")))(t)
		views := []string{first.AgentViewURL, second.AgentViewURL}
		for _, url := range views {
			if view := s.Get(t, url); view.Status != http.StatusOK {
				t.Errorf("%s: a view answers %d before", name, view.Status)
			}
		}
		closed := func(when string) {
			t.Helper()
			for _, url := range views {
				if view := s.Get(t, url); view.Status != http.StatusNotFound {
					t.Errorf("%s: a view answers %d %s", name, view.Status, when)
				}
			}
		}
		harness.SetVisibility(t, g, a, "private")
		closed("after private")
		s.WantContent(t, second.RevisionContentURL, harness.Page("second").Body) // a file that was copied
		harness.SetVisibility(t, g, a, "unlisted")
		closed("after unlisted")
		third := harness.Must(g.PublishFiles(ctx, "third", a, harness.Page("third")))(t)
		if view := s.Get(t, third.AgentViewURL); view.Status != http.StatusOK {
			t.Errorf("%s: the view of a publication after private answers %d", name, view.Status)
		}
		closed("after the next publication")
		harness.SetVisibility(t, g, a, "private")
		views = append(views, third.AgentViewURL)
		closed("after private again")
	}
}
