package journey

import (
	"encoding/json"
	"net/http"
	"testing"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// The commands of links as requests that a goroutine may send.

func (s *linkStand) creates(g *wire.Agent, a id.Artifact, r contract.CreateLink) (wire.Answer, error) {
	return g.Do(ctx, "POST", g.At.APIURL+linksPath(a), r, keyed()...)
}

func (s *linkStand) stops(g *wire.Agent, l id.Link) (wire.Answer, error) {
	return g.Do(ctx, "POST", g.At.APIURL+linkPath(l, "revoke"), nil)
}

func (s *linkStand) shows(g *wire.Agent, a id.Artifact, word string) (wire.Answer, error) {
	return g.Do(ctx, "PUT", g.At.APIURL+"/v1/artifacts/"+string(a)+"/visibility", contract.SetVisibility{Visibility: word})
}

// TestF73TwoWhoShareAtOnceHaveOneLink lets many share, by link and by visibility.
func TestF73TwoWhoShareAtOnceHaveOneLink(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	a := s.made.ArtifactID
	var first id.Link
	one := func(what string, got id.Link) {
		if first == "" {
			first = got
		}
		if got != first || got == "" {
			t.Errorf("%s is %q, another %q", what, got, first)
		}
	}
	for n, answer := range s.atOnce(t, 8, func(n int) (wire.Answer, error) {
		if n%4 == 3 {
			return s.shows(s.agent, a, "unlisted")
		}
		return s.creates(s.agent, a, shareLink)
	}) {
		if n%4 == 3 {
			var v contract.Visibility
			succeed(t, json.Unmarshal(answer.Body, &v))
			one("unlisted", v.AccessLinkID)
			continue
		}
		var l contract.CreatedLink
		succeed(t, json.Unmarshal(answer.Body, &l))
		one("a share link", l.ID)
	}
	if n := s.count(t, s.names.Core, "AL#"); n != 1 {
		t.Errorf("%d links were made", n)
	}
	s.opensLink(t, minted(t, s.agent, first), "shared")
}

// TestF73AShareLinkThatIsMadeMeanwhileIsTheAnswer has one overtake the other on its way to the table.
func TestF73AShareLinkThatIsMadeMeanwhileIsTheAnswer(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	var sooner, later contract.CreatedLink
	late := s.overtaken(t, "TransactWriteItems", func() (wire.Answer, error) { return s.creates(s.agent, s.made.ArtifactID, shareLink) }, func() {
		sooner = links(t, s.agent, s.made.ArtifactID, shareLink)
	})
	succeed(t, json.Unmarshal(late.Body, &later))
	if late.Status != http.StatusCreated || later.ID != sooner.ID {
		t.Errorf("%d %s, the other has %s", late.Status, late.Body, sooner.ID)
	}
}

func TestALinkIsRevokedOnceHoweverManyTry(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	for _, wanted := range []contract.CreateLink{shareLink, revisionLink(s.made.RevisionID)} {
		l := links(t, s.agent, s.made.ArtifactID, wanted)
		var first *contract.Time
		for _, a := range s.atOnce(t, 6, func(int) (wire.Answer, error) { return s.stops(s.agent, l.ID) }) {
			var r contract.RevokedLink
			succeed(t, json.Unmarshal(a.Body, &r))
			if ok(t, "revoke", a); first != nil && !first.Equal(r.RevokedAt.Time) {
				t.Errorf("revoked at %s and at %s", first, r.RevokedAt)
			}
			first = &r.RevokedAt
		}
	}
	if done := s.events(t, s.agent); done["access_link.revoked"] != 2 {
		t.Errorf("%v", done)
	}
}

// TestALinkThatIsOvertakenIsNeitherMadeNorLeft holds a creation while what it needs ends.
func TestALinkThatIsOvertakenIsNeitherMadeNorLeft(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	for name, ends := range map[string]struct {
		code fault.Code
		do   func(id.Artifact)
	}{
		"a deletion": {fault.ArtifactNotFound, func(a id.Artifact) { ok(t, "delete", tryDelete(t, s.agent, a)) }},
		"a lock": {fault.NotFound, func(a id.Artifact) {
			asks[contract.WebArtifact](t, s.who, 200, "POST", "/v1/web/artifacts/"+string(a)+"/access-link-lockdown", nil, keyed()...)
		}},
		"an operator's lock": {fault.ArtifactNotFound, func(a id.Artifact) { s.change(t, "A#"+string(a), "META", map[string]any{"lock": "lkd_1"}) }},
	} {
		for _, kind := range []string{"share", "revision"} {
			p := published(t, s.agent, "overtaken")
			wanted := contract.CreateLink{Type: kind}
			if kind == "revision" {
				wanted.RevisionID = p.RevisionID
			}
			late := s.overtaken(t, "TransactWriteItems", func() (wire.Answer, error) { return s.creates(s.agent, p.ArtifactID, wanted) }, func() { ends.do(p.ArtifactID) })
			if late.Status != http.StatusNotFound || late.Code() != ends.code {
				t.Errorf("a %s link that %s overtakes: %d %s", kind, name, late.Status, late.Body)
			}
		}
	}
	if n := s.count(t, s.names.Core, "AL#"); n != 0 {
		t.Errorf("%d links were made", n)
	}
}

// TestAClosingAndACreationOvertakeEachOther has the clock stand still: the link that comes later lives, and no other.
func TestAClosingAndACreationOvertakeEachOther(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	for _, kind := range []string{"share", "revision"} {
		p := published(t, s.agent, "raced")
		wanted := contract.CreateLink{Type: kind}
		if kind == "revision" {
			wanted.RevisionID = p.RevisionID
		}
		old := s.opensLink(t, minted(t, s.agent, links(t, s.agent, p.ArtifactID, shareLink).ID), "raced")
		var made contract.CreatedLink
		late := s.overtaken(t, "TransactWriteItems", func() (wire.Answer, error) { return s.creates(s.agent, p.ArtifactID, wanted) }, func() {
			sees(t, s.agent, p.ArtifactID, "private")
		})
		succeed(t, json.Unmarshal(late.Body, &made))
		s.denied(t, old)
		s.opensLink(t, minted(t, s.agent, made.ID), "raced") // it was made after the closing
		var next contract.CreatedLink
		closed := s.overtaken(t, "TransactWriteItems", func() (wire.Answer, error) { return s.shows(s.agent, p.ArtifactID, "private") }, func() {
			next = links(t, s.agent, p.ArtifactID, revisionLink(p.RevisionID))
		})
		ok(t, "private", closed)
		refused(t, do(t, s.agent, "POST", s.Origins.API+linkPath(next.ID, "mint"), nil), 404, fault.NotFound)
		if row := linkRows(t, s.agent, p.ArtifactID)[next.ID]; row.RevokedAt == nil {
			t.Errorf("a link from before the closing is listed as live: %+v", row)
		}
	}
}

// TestARevocationOvertakesAMint finds the row revoked that was live when the request came.
func TestARevocationOvertakesAMint(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	l := links(t, s.agent, s.made.ArtifactID, shareLink)
	late := s.overtaken(t, "GetItem", func() (wire.Answer, error) {
		return s.agent.Do(ctx, "POST", s.Origins.API+linkPath(l.ID, "mint"), nil)
	}, func() { revokes(t, s.agent, l.ID) })
	refused(t, late, 404, fault.NotFound)
}

// TestARevocationThatIsLostIsRepeated loses it before its commit and after.
func TestARevocationThatIsLostIsRepeated(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	l := links(t, s.agent, s.made.ArtifactID, shareLink)
	had := s.opensLink(t, minted(t, s.agent, l.ID), "shared")
	s.faults.On("TransactWriteItems").Before(chaos.Fail(errDown))
	refused(t, must(s.stops(s.agent, l.ID))(t), 503, fault.DatabaseUnavailable)
	s.opensLink(t, had.url, "shared")
	s.faults.On("TransactWriteItems").After(chaos.Fail(errDown))
	refused(t, must(s.stops(s.agent, l.ID))(t), 503, fault.DatabaseUnavailable)
	s.denied(t, had) // it took effect
	revokes(t, s.agent, l.ID)
	if done := s.events(t, s.agent); done["access_link.revoked"] != 1 {
		t.Errorf("%v", done)
	}
}
