package journey

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// TestARevokedLinkOpensNothingFromThenOn asks with the URL, with what the URL gave, and for another URL. That is what there
// is of F74: no viewer polls.
func TestARevokedLinkOpensNothingFromThenOn(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	a := s.made.ArtifactID
	for _, wanted := range []contract.CreateLink{shareLink, revisionLink(s.made.RevisionID)} {
		l := links(t, s.agent, a, wanted)
		had := s.opensLink(t, minted(t, s.agent, l.ID), "shared")
		first := revokes(t, s.agent, l.ID)
		s.denied(t, had)
		refused(t, do(t, s.agent, "POST", s.Origins.API+linkPath(l.ID, "mint"), nil), 404, fault.NotFound)
		s.clock.pass(time.Minute)
		again := revokes(t, s.agent, l.ID)
		member := asks[contract.RevokedLink](t, s.who, 200, "POST", "/v1/web/access-links/"+string(l.ID)+"/revoke", nil)
		row := linkRows(t, s.agent, a)[l.ID]
		if !again.RevokedAt.Equal(first.RevokedAt.Time) || !member.RevokedAt.Equal(first.RevokedAt.Time) || row.RevokedAt == nil || !row.RevokedAt.Equal(first.RevokedAt.Time) {
			t.Errorf("revoked at %s, then %s and %s, listed %v", first.RevokedAt, again.RevokedAt, member.RevokedAt, row.RevokedAt)
		}
	}
	s.reads(t, s.made.RevisionContentURL, page("shared").Body) // no link is named there
	if done := s.events(t, s.agent); done["access_link.created"] != 2 || done["access_link.revoked"] != 2 {
		t.Errorf("%v", done)
	}
}

// TestT60T57ALinkIsBoundToItsIdAndItsRow mixes the parts of two links.
func TestT60T57ALinkIsBoundToItsIdAndItsRow(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	one := minted(t, s.agent, links(t, s.agent, s.made.ArtifactID, shareLink).ID)
	pinned := links(t, s.agent, s.made.ArtifactID, revisionLink(s.made.RevisionID))
	two := minted(t, s.agent, pinned.ID)
	_, blob, err := wire.SplitLink(one)
	succeed(t, err)
	mixed := do(t, s.anyone, "POST", s.Origins.API+"/v1/access-links/resolve", contract.ResolveRequest{PublicID: publicOf(t, two), Blob: blob})
	refused(t, mixed, 404, fault.NotFound)
	had := s.opensLink(t, two, "shared")
	revokes(t, s.agent, pinned.ID)
	s.denied(t, had)
	if raised := s.resolves(t, two); raised.Message() != mixed.Message() {
		t.Errorf("revoked is %q, forged is %q", raised.Message(), mixed.Message())
	}
	s.opensLink(t, one, "shared")
}

// TestT57WhatWasHadThroughALinkEndsWithEverythingAboveIt deletes the artifact and locks it, its links and the workspace.
func TestT57WhatWasHadThroughALinkEndsWithEverythingAboveIt(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	gate, workspace := "A#"+string(s.made.ArtifactID), "W#"+string(s.who.workspace)
	l := links(t, s.agent, s.made.ArtifactID, shareLink)
	had := s.opensLink(t, minted(t, s.agent, l.ID), "shared")
	for pk, set := range map[string]map[string]any{gate: {"lock": "lkd_1"}, workspace: {"lock": "lkd_2"}} {
		s.change(t, pk, "META", set)
		s.denied(t, had)
		if pk == gate {
			refused(t, do(t, s.agent, "POST", s.Origins.API+linkPath(l.ID, "mint"), nil), 404, fault.NotFound)
			refused(t, tryLink(t, s.agent, s.made.ArtifactID, shareLink), 404, fault.ArtifactNotFound)
		}
		s.change(t, pk, "META", map[string]any{"lock": nil})
		s.opensLink(t, had.url, "shared")
	}
	ok(t, "delete", tryDelete(t, s.agent, s.made.ArtifactID))
	s.denied(t, had)
	for name, ask := range linkRequests(t, s.agent, s.made.ArtifactID, l.ID, s.made.RevisionID) {
		switch name {
		case "list":
			ok(t, name, ask())
		case "revoke":
			continue // below: whatever the artifact is, its links may be revoked
		default:
			refused(t, ask(), 404, missingCode(name))
		}
	}
	revokes(t, s.agent, l.ID)
	for name, ask := range webLinkRequests(t, s.who, s.made.ArtifactID, l.ID) {
		if name == "web lock" || name == "web unlock" || name == "web create" {
			refused(t, ask(), 404, fault.ArtifactNotFound)
		}
	}
}

func TestLocksOfLinksHoldAtOnceAndEndNothing(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	a := s.made.ArtifactID
	lock := "/v1/web/artifacts/" + string(a) + "/access-link-lockdown"
	share, pinned := links(t, s.agent, a, shareLink), links(t, s.agent, a, revisionLink(s.made.RevisionID))
	had := []visited{s.opensLink(t, minted(t, s.agent, share.ID), "shared"), s.opensLink(t, minted(t, s.agent, pinned.ID), "shared")}
	idem := keyed()
	if set := asks[contract.WebArtifact](t, s.who, 200, "POST", lock, nil, idem...); !set.Lockdown || set.ID != a {
		t.Errorf("%+v", set)
	}
	s.denied(t, had...)
	s.gone(t, s.made.AgentViewURL)                             // which opens without an account too
	s.reads(t, s.made.RevisionContentURL, page("shared").Body) // the owner's own URL names no link
	for name, ask := range linkRequests(t, s.agent, a, share.ID, s.made.RevisionID) {
		switch name {
		case "create share", "create revision", "mint", "unlisted":
			refused(t, ask(), 404, fault.NotFound)
		}
	}
	if again := asks[contract.WebArtifact](t, s.who, 200, "POST", lock, nil, keyed()...); !again.Lockdown {
		t.Errorf("%+v", again)
	}
	if lifted := asks[contract.WebArtifact](t, s.who, 200, "POST", lock+"/lift", nil, keyed()...); lifted.Lockdown {
		t.Errorf("%+v", lifted)
	}
	if again := asks[contract.WebArtifact](t, s.who, 200, "POST", lock+"/lift", nil, keyed()...); again.Lockdown {
		t.Errorf("%+v", again)
	}
	if replayed := asks[contract.WebArtifact](t, s.who, 200, "POST", lock, nil, idem...); !replayed.Lockdown {
		t.Errorf("a replay answers %+v", replayed)
	}
	for _, l := range had { // which locked nothing anew
		s.opensLink(t, l.url, "shared")
		s.reads(t, l.content, page("shared").Body)
	}
	if view := s.get(t, s.made.AgentViewURL); view.Status != http.StatusOK {
		t.Errorf("the public view answers %d after the lock", view.Status)
	}
	if rows := linkRows(t, s.agent, a); len(rows) != 2 || rows[share.ID].RevokedAt != nil {
		t.Errorf("%+v", rows)
	}
	if done := s.events(t, s.agent); done["access_link.lockdown.set"] != 1 || done["access_link.lockdown.lifted"] != 1 {
		t.Errorf("%v", done)
	}
	if a := tries(t, s.who, "POST", lock, nil); a.Code() != fault.InvalidIdempotencyKey {
		t.Errorf("without key: %d %s", a.Status, a.Body)
	}
}

// TestACommandThatFindsNothingToDoIsDoneOnceToo repeats locks and pins that were there, and ends of those that were not.
func TestACommandThatFindsNothingToDoIsDoneOnceToo(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	a := s.made.ArtifactID
	lock := "/v1/web/artifacts/" + string(a) + "/access-link-lockdown"
	first := keyed()
	kept := keyed()
	lifted := keyed()
	loose := keyed()
	tell := func(path string, idem []string, locked bool) {
		t.Helper()
		if got := asks[contract.WebArtifact](t, s.who, 200, "POST", path, nil, idem...); got.Lockdown != locked {
			t.Errorf("%s answers locked: %t", path, got.Lockdown)
		}
	}
	tell(lock+"/lift", loose, false)
	tell(lock, first, true)
	tell(lock+"/lift", loose, false) // which opens nothing now
	tell(lock, kept, true)
	refused(t, s.get(t, s.made.AgentViewURL), 404, fault.NotFound)
	tell(lock+"/lift", lifted, false)
	tell(lock, kept, true) // which locks nothing now
	if view := s.get(t, s.made.AgentViewURL); view.Status != http.StatusOK {
		t.Errorf("the public view answers %d", view.Status)
	}
	if done := s.events(t, s.agent); done["access_link.lockdown.set"] != 1 || done["access_link.lockdown.lifted"] != 1 {
		t.Errorf("%v", done)
	}
	pinned := keyed()
	still := keyed()
	unpinned := keyed()
	never := keyed()
	keep := func(path string, idem []string, want bool) {
		t.Helper()
		if got := asks[contract.WebArtifact](t, s.who, 200, "POST", path, nil, idem...); got.Pinned != want {
			t.Errorf("%s answers pinned: %t", path, got.Pinned)
		}
	}
	keep(unpinPath(a), never, false)
	keep(pinPath(a), pinned, true)
	keep(unpinPath(a), never, false) // which unpins nothing now
	keep(pinPath(a), still, true)
	if s.counted(t) != "1" {
		t.Errorf("%s counted", s.counted(t))
	}
	keep(unpinPath(a), unpinned, false)
	keep(pinPath(a), still, true)
	if s.counted(t) != "0" {
		t.Errorf("%s counted", s.counted(t))
	}
}

// keysOf are the members of an answer in their order.
func keysOf(t testing.TB, a wire.Answer) string {
	t.Helper()
	var members map[string]any
	succeed(t, json.Unmarshal(a.Body, &members))
	return strings.Join(slices.Sorted(maps.Keys(members)), " ")
}

func TestPrivateEndsEveryLinkAtOnce(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	a := s.made.ArtifactID
	end := contract.At(s.options.Now().Add(time.Minute))
	brief := revisionLink(s.made.RevisionID)
	brief.ExpiresAt = &end
	links(t, s.agent, a, brief)
	s.clock.pass(time.Minute)
	unlisted := sees(t, s.agent, a, "unlisted")
	had := []visited{s.opensLink(t, unlisted.UnlistedURL, "shared")}
	want := []id.Link{unlisted.AccessLinkID}
	for range 30 {
		l := links(t, s.agent, a, revisionLink(s.made.RevisionID))
		want = append(want, l.ID)
	}
	had = append(had, s.opensLink(t, minted(t, s.agent, want[len(want)-1]), "shared"))
	revoked := links(t, s.agent, a, revisionLink(s.made.RevisionID))
	earlier := revokes(t, s.agent, revoked.ID)
	s.clock.pass(time.Second)
	private := sees(t, s.agent, a, "private")
	s.denied(t, had...)
	slices.Sort(want)
	got := slices.Sorted(slices.Values(*private.RevokedAccessLinkIDs))
	if !slices.Equal(got, want) || private.PrivateURL != s.Origins.App+"/v/"+string(a) || private.UnlistedURL != "" {
		t.Errorf("%d of %d links ended: %+v", len(got), len(want), private)
	}
	rows := linkRows(t, s.agent, a)
	for _, l := range want {
		if rows[l].RevokedAt == nil {
			t.Errorf("%s is listed as live", l)
		}
	}
	if at := rows[revoked.ID].RevokedAt; at == nil || !at.Equal(earlier.RevokedAt.Time) {
		t.Errorf("a link that was revoked before is listed with %v", at)
	}
	closed := rows[want[0]].RevokedAt
	if again := revokes(t, s.agent, want[0]); !again.RevokedAt.Equal(closed.Time) {
		t.Errorf("closed at %s, then revoked at %s", closed, again.RevokedAt)
	}
	for _, r := range asks[contract.WebLinkList](t, s.who, 200, "GET", "/v1/web/access-links", nil).Items {
		if !r.Revoked && r.ExpiresAt == nil {
			t.Errorf("%+v", r)
		}
	}
	told := do(t, s.agent, "PUT", s.Origins.API+"/v1/artifacts/"+string(a)+"/visibility", contract.SetVisibility{Visibility: "private"})
	if got := keysOf(t, told); got != "artifact_id private_url revoked_access_link_ids visibility" {
		t.Errorf("private answers %s", got)
	}
	if none := sees(t, s.agent, a, "private"); len(*none.RevokedAccessLinkIDs) != 0 {
		t.Errorf("%+v", none)
	}
	s.opensLink(t, sees(t, s.agent, a, "unlisted").UnlistedURL, "shared") // in the same instant
	told = do(t, s.agent, "PUT", s.Origins.API+"/v1/artifacts/"+string(a)+"/visibility", contract.SetVisibility{Visibility: "unlisted"})
	if got := keysOf(t, told); got != "access_link_id artifact_id unlisted_url visibility" {
		t.Errorf("unlisted answers %s", got)
	}
	s.opensLink(t, minted(t, s.agent, links(t, s.agent, a, revisionLink(s.made.RevisionID)).ID), "shared")
	s.denied(t, had...)
	if done := s.events(t, s.agent); done["artifact.visibility.updated"] != 1 {
		t.Errorf("%v", done)
	}
}

// TestAnArtifactWithoutAccountMayBePrivateToo ends the link that a publication made; the next one makes another.
func TestAnArtifactWithoutAccountMayBePrivateToo(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t, unlimited)
	g := s.agent(t)
	p := published(t, g, "once")
	private := sees(t, g, p.ArtifactID, "private")
	if len(*private.RevokedAccessLinkIDs) != 1 {
		t.Errorf("%+v", private)
	}
	if _, err := s.anyone.Resolve(ctx, p.UnlistedURL); err == nil {
		t.Error("the link opens")
	}
	again := answered[contract.Published](t, g, http.StatusOK, "POST", "/v1/artifacts/"+string(p.ArtifactID)+"/revisions/"+string(p.RevisionID)+"/publish", nil, keyed()...)
	if again.UnlistedURL != "" || again.PrivateURL == "" {
		t.Errorf("published already, and private: %+v", again)
	}
	next := must(g.PublishFiles(ctx, "next", p.ArtifactID, page("next")))(t)
	must(s.anyone.Resolve(ctx, next.UnlistedURL))(t)
	if _, err := s.anyone.Resolve(ctx, p.UnlistedURL); err == nil {
		t.Error("the old link opens again")
	}
}

// TestPrivateClosesThePublicViewsThatWereThere has a view of each revision: those of before the closing stay closed,
// whatever comes, files that were copied stay open, and a later publication has a view again.
func TestPrivateClosesThePublicViewsThatWereThere(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	for name, g := range map[string]*wire.Agent{
		"a member's artifact, which had no link": s.agent, "a guest's, which has one": s.faultStand.agent(t),
	} {
		first := published(t, g, "first")
		a := first.ArtifactID
		second := must(g.PublishFiles(ctx, "second", a, page("second")))(t)
		views := []string{first.AgentViewURL, second.AgentViewURL}
		for _, url := range views {
			if view := s.get(t, url); view.Status != http.StatusOK {
				t.Errorf("%s: a view answers %d before", name, view.Status)
			}
		}
		closed := func(when string) {
			t.Helper()
			for _, url := range views {
				if view := s.get(t, url); view.Status != http.StatusNotFound {
					t.Errorf("%s: a view answers %d %s", name, view.Status, when)
				}
			}
		}
		sees(t, g, a, "private")
		closed("after private")
		s.reads(t, second.RevisionContentURL, page("second").Body) // a file that was copied
		sees(t, g, a, "unlisted")
		closed("after unlisted")
		third := must(g.PublishFiles(ctx, "third", a, page("third")))(t)
		if view := s.get(t, third.AgentViewURL); view.Status != http.StatusOK {
			t.Errorf("%s: the view of a publication after private answers %d", name, view.Status)
		}
		closed("after the next publication")
		sees(t, g, a, "private")
		views = append(views, third.AgentViewURL)
		closed("after private again")
	}
}
