package journey

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func TestALinkIsMadeOpenedAndListed(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	a := s.made.ArtifactID
	share := links(t, s.agent, a, shareLink)
	pinned := links(t, s.agent, a, revisionLink(s.made.RevisionID))
	if share.Type != "share" || share.RevisionID != nil || share.ArtifactID != a || pinned.RevisionID == nil || *pinned.RevisionID != s.made.RevisionID {
		t.Errorf("%+v %+v", share, pinned)
	}
	must(s.agent.PublishFiles(ctx, "newer", a, page("newer")))(t)
	s.opensLink(t, minted(t, s.agent, share.ID), "newer")
	s.opensLink(t, minted(t, s.agent, pinned.ID), "shared")
	rows := linkRows(t, s.agent, a)
	if len(rows) != 2 || rows[share.ID].RevokedAt != nil || rows[pinned.ID].ExpiresAt != nil || *rows[pinned.ID].RevisionID != s.made.RevisionID {
		t.Errorf("%+v", rows)
	}
	all := asks[contract.WebLinkList](t, s.who, 200, "GET", "/v1/web/access-links", nil)
	of := asks[contract.WebLinkList](t, s.who, 200, "GET", "/v1/web/artifacts/"+string(a)+"/access-links", nil)
	if len(all.Items) != 2 || len(of.Items) != 2 || all.Items[0].Revoked || all.PageInfo.HasMore {
		t.Errorf("%+v %+v", all, of)
	}
	other := published(t, s.agent, "another")
	links(t, s.agent, other.ArtifactID, shareLink)
	if rows := linkRows(t, s.agent, a); len(rows) != 2 {
		t.Errorf("links of another artifact are listed: %+v", rows)
	}
}

func TestAShareLinkIsSingleAndRevisionLinksAreNot(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	a := s.made.ArtifactID
	first := links(t, s.agent, a, shareLink)
	if again := links(t, s.agent, a, shareLink); again.ID != first.ID || !again.CreatedAt.Equal(first.CreatedAt.Time) {
		t.Errorf("%+v, then %+v", first, again)
	}
	member := asks[contract.CreatedLink](t, s.who, 201, "POST", "/v1/web"+strings.TrimPrefix(linksPath(a), "/v1"), shareLink, keyed()...)
	if v := sees(t, s.agent, a, "unlisted"); member.ID != first.ID || v.AccessLinkID != first.ID {
		t.Errorf("a member has %s, and unlisted is %s", member.ID, v.AccessLinkID)
	}
	one, two := links(t, s.agent, a, revisionLink(s.made.RevisionID)), links(t, s.agent, a, revisionLink(s.made.RevisionID))
	if one.ID == two.ID {
		t.Error("two links to a revision are one")
	}
	revokes(t, s.agent, first.ID)
	if next := links(t, s.agent, a, shareLink); next.ID == first.ID {
		t.Error("a revoked share link is the answer")
	}
}

func TestACreationIsRepeatedByItsKey(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	a, idem := s.made.ArtifactID, keyed()
	pinned := revisionLink(s.made.RevisionID)
	end := contract.At(s.options.Now().Add(time.Hour))
	pinned.ExpiresAt = &end
	first := answered[contract.CreatedLink](t, s.agent, 201, "POST", linksPath(a), pinned, idem...)
	s.clock.pass(2 * time.Hour) // its end is no future any more
	if again := answered[contract.CreatedLink](t, s.agent, 201, "POST", linksPath(a), pinned, idem...); again.ID != first.ID {
		t.Errorf("%s, then %s", first.ID, again.ID)
	}
	refused(t, do(t, s.agent, "POST", s.Origins.API+linksPath(a), shareLink, idem...), 400, fault.InvalidIdempotencyKey)
	kept := keyed()
	share := links(t, s.agent, a, shareLink)
	if found := answered[contract.CreatedLink](t, s.agent, 201, "POST", linksPath(a), shareLink, kept...); found.ID != share.ID {
		t.Error("another share link")
	}
	revokes(t, s.agent, share.ID)
	if again := answered[contract.CreatedLink](t, s.agent, 201, "POST", linksPath(a), shareLink, kept...); again.ID != share.ID {
		t.Error("a repetition makes another link")
	}
	lost := keyed()
	s.faults.On("TransactWriteItems").Times(3).After(chaos.Timeout)
	refused(t, do(t, s.agent, "POST", s.Origins.API+linksPath(a), shareLink, lost...), 503, fault.DatabaseUnavailable)
	made := answered[contract.CreatedLink](t, s.agent, 201, "POST", linksPath(a), shareLink, lost...)
	if rows := linkRows(t, s.agent, a); len(rows) != 3 || rows[made.ID].RevokedAt != nil {
		t.Errorf("%+v", rows)
	}
}

func TestRequestsForLinksThatAreWrong(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	a := s.made.ArtifactID
	past := contract.At(s.options.Now())
	before := s.state(t)
	for name, body := range map[string]any{
		"nothing": nil, "no type": "{}", "another type": `{"type":"public"}`, "a revision for a share link": contract.CreateLink{Type: "share", RevisionID: s.made.RevisionID},
		"no revision": `{"type":"revision"}`, "a malformed revision": `{"type":"revision","revision_id":"rev_1"}`, "an unknown member": `{"type":"share","x":1}`,
		"an end that is over": contract.CreateLink{Type: "share", ExpiresAt: &past}, "an end that is no time": `{"type":"share","expires_at":"soon"}`,
	} {
		for host, answer := range map[string]wire.Answer{
			"api": tryLink(t, s.agent, a, body), "web": tries(t, s.who, "POST", "/v1/web"+strings.TrimPrefix(linksPath(a), "/v1"), body, keyed()...),
		} {
			if answer.Status != 400 || answer.Code() != fault.InvalidRequest {
				t.Errorf("%s, %s: %d %s", host, name, answer.Status, answer.Body)
			}
		}
	}
	visibility := s.Origins.API + "/v1/artifacts/" + string(a) + "/visibility"
	for _, body := range []any{nil, "{}", `{"visibility":"public"}`, `{"visibility":1}`, "["} {
		refused(t, do(t, s.agent, "PUT", visibility, body), 400, fault.InvalidRequest)
	}
	refused(t, do(t, s.agent, "POST", s.Origins.API+linksPath(a), shareLink), 400, fault.InvalidIdempotencyKey)
	refused(t, tryLink(t, s.agent, a, revisionLink(id.NewRevision())), 404, fault.NotFound)
	refused(t, tryLink(t, s.agent, a, revisionLink(published(t, s.agent, "other").RevisionID)), 404, fault.NotFound)
	drafted := draft(t, s.agent, "draft")
	for name, ask := range linkRequests(t, s.agent, drafted.ArtifactID, "al_1", drafted.RevisionID) {
		if strings.HasPrefix(name, "create") || name == "unlisted" {
			refused(t, ask(), 404, fault.ArtifactNotFound)
		}
	}
	next := must(s.agent.Draft(ctx, wire.NewKey(), revisionOf(a, "next"), page("next")))(t)
	refused(t, tryLink(t, s.agent, a, revisionLink(next.RevisionID)), 404, fault.NotFound)
	for key := range before {
		if strings.HasPrefix(key, "AL#") {
			t.Errorf("%s was made", key)
		}
	}
	if n := s.count(t, s.names.Core, "AL#"); n != 0 {
		t.Errorf("%d links were made", n)
	}
}

func TestRoutesOfLinksNeedTheirScope(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	l := links(t, s.agent, s.made.ArtifactID, shareLink)
	reader := s.readerKey(t)
	for name, ask := range linkRequests(t, reader, s.made.ArtifactID, l.ID, s.made.RevisionID) {
		if a := ask(); a.Status != 403 || a.Code() != fault.Forbidden {
			t.Errorf("%s as a reader: %d %s", name, a.Status, a.Code())
		}
	}
	for name, ask := range webLinkRequests(t, s.colleague(t, s.who.workspace, credential.Publish), s.made.ArtifactID, l.ID) {
		if a := ask(); a.Status != 403 || a.Code() != fault.Forbidden {
			t.Errorf("%s without scope: %d %s", name, a.Status, a.Code())
		}
	}
	for name, ask := range webLinkRequests(t, s.who.with(s.agent.Key), s.made.ArtifactID, l.ID) {
		if a := ask(); a.Status != 401 || a.Code() != fault.NotAuthenticated {
			t.Errorf("%s with an API key: %d %s", name, a.Status, a.Code())
		}
	}
}

// TestT48LinksOfOthersAreNotThere counts calls: time is what they take.
func TestT48LinksOfOthersAreNotThere(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	l := links(t, s.agent, s.made.ArtifactID, shareLink)
	stranger, claimed := s.faultStand.agent(t), s.faultStand.agent(t)
	w := parsed(t, claimed).Workspace
	s.change(t, "W#"+string(w), "META", map[string]any{"claimed_at": s.options.Now()})
	other := s.colleague(t, w)
	tries(t, other, "GET", "/v1/web/workspace", nil)
	do(t, stranger, "GET", s.Origins.API+"/v1/whoami", nil) // a first use is stamped
	do(t, claimed, "GET", s.Origins.API+"/v1/whoami", nil)
	foreign, unknown := linkRequests(t, stranger, s.made.ArtifactID, l.ID, s.made.RevisionID), linkRequests(t, stranger, id.NewArtifact(), id.NewLink(), id.NewRevision())
	maps.Copy(foreign, webLinkRequests(t, other, s.made.ArtifactID, l.ID))
	maps.Copy(unknown, webLinkRequests(t, other, id.NewArtifact(), id.NewLink()))
	s.alikeLinks(t, foreign, unknown)
	foreign = linkRequests(t, claimed, s.made.ArtifactID, l.ID, s.made.RevisionID)
	s.alikeLinks(t, foreign, linkRequests(t, claimed, id.NewArtifact(), id.NewLink(), id.NewRevision()))
	for name, ask := range linkRequests(t, s.agent, "art_1", "al_1", s.made.RevisionID) {
		refused(t, ask(), 404, missingCode(name))
	}
	if list := asks[contract.WebLinkList](t, other, 200, "GET", "/v1/web/access-links", nil); len(list.Items) != 0 {
		t.Errorf("others see %+v", list.Items)
	}
}

// alikeLinks checks that requests about links of others are refused with the same calls as those about links that never
// were.
func (s *linkStand) alikeLinks(t *testing.T, foreign, unknown map[string]func() wire.Answer) {
	t.Helper()
	for name := range foreign {
		var a, b wire.Answer
		one := s.calls(t, func() { a = foreign[name]() })
		two := s.calls(t, func() { b = unknown[name]() })
		if !slices.Equal(one, two) {
			t.Errorf("%s: somebody else's costs %q, an unknown one %q", name, one, two)
		}
		refused(t, a, 404, missingCode(name))
		if a.Message() != b.Message() || a.Code() != b.Code() {
			t.Errorf("%s: somebody else's answers %q, an unknown one %q", name, a.Message(), b.Message())
		}
	}
}

func TestLinksEndByThemselves(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	a := s.made.ArtifactID
	end := contract.At(s.options.Now().Add(time.Hour))
	short := links(t, s.agent, a, contract.CreateLink{Type: "share", ExpiresAt: &end})
	if row := linkRows(t, s.agent, a)[short.ID]; row.ExpiresAt == nil || !row.ExpiresAt.Equal(end.Truncate(time.Millisecond)) {
		t.Errorf("%+v", row)
	}
	had := s.opensLink(t, minted(t, s.agent, short.ID), "shared")
	s.clock.pass(time.Hour)
	s.denied(t, had)
	refused(t, do(t, s.agent, "POST", s.Origins.API+linkPath(short.ID, "mint"), nil), 404, fault.NotFound)
	next := links(t, s.agent, a, shareLink)
	if next.ID == short.ID {
		t.Fatal("a link that is over is the answer")
	}
	url := minted(t, s.agent, next.ID)
	s.opensLink(t, url, "shared")
	s.clock.pass(limits.LinkURLLife)
	refused(t, s.resolves(t, url), 404, fault.NotFound)
	s.opensLink(t, minted(t, s.agent, next.ID), "shared") // the URL ended, not the link
	end = contract.At(s.options.Now().Add(time.Minute))
	pinned := revisionLink(s.made.RevisionID)
	pinned.ExpiresAt = &end
	brief := s.opensLink(t, minted(t, s.agent, links(t, s.agent, a, pinned).ID), "shared")
	s.clock.pass(time.Minute)
	s.denied(t, brief)
}

// TestAShareLinkIsNoAnswerToWhoAsksForAnEarlierEnd asks with and without an end while there is a link.
func TestAShareLinkIsNoAnswerToWhoAsksForAnEarlierEnd(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	a := s.made.ArtifactID
	until := func(d time.Duration) contract.CreateLink {
		end := contract.At(s.options.Now().Add(d))
		return contract.CreateLink{Type: "share", ExpiresAt: &end}
	}
	hour, idem := until(time.Hour), keyed()
	endless := answered[contract.CreatedLink](t, s.agent, 201, "POST", linksPath(a), shareLink, idem...)
	for _, path := range []string{linksPath(a), "/v1/web" + strings.TrimPrefix(linksPath(a), "/v1")} {
		who := s.agent
		if strings.HasPrefix(path, "/v1/web") {
			who = s.who.Agent
		}
		got := do(t, who, "POST", s.Origins.API+path, hour, keyed()...)
		if refused(t, got, 400, fault.InvalidRequest); !strings.Contains(got.Message(), string(endless.ID)) {
			t.Errorf("%s does not say which link is in the way", got.Message())
		}
	}
	if again := answered[contract.CreatedLink](t, s.agent, 201, "POST", linksPath(a), shareLink, idem...); again.ID != endless.ID {
		t.Errorf("a repetition answers %s", again.ID)
	}
	revokes(t, s.agent, endless.ID)
	ends := links(t, s.agent, a, hour)
	for name, ask := range map[string]contract.CreateLink{"no end": shareLink, "the same end": hour, "a later one": until(2 * time.Hour)} {
		if got := links(t, s.agent, a, ask); got.ID != ends.ID {
			t.Errorf("%s: %s, not %s", name, got.ID, ends.ID)
		}
	}
	refused(t, tryLink(t, s.agent, a, until(time.Minute)), 400, fault.InvalidRequest)
}
