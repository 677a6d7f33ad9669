package journey

import (
	"testing"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// TestLinksOfWhatIsClaimedGoAlong makes links before the claim, and uses, lists, makes and ends them in every moment of
// the move.
func TestLinksOfWhatIsClaimedGoAlong(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t, unlimited)
	c, src := s.claimant(t), s.source(t)
	who := s.colleague(t, c.workspace)
	p := published(t, src.Agent, "claimed")
	share := s.idOf(t, p.UnlistedURL)
	want := []id.Link{share}
	for range 6 {
		want = append(want, links(t, src.Agent, p.ArtifactID, revisionLink(p.RevisionID)).ID)
	}
	before := minted(t, src.Agent, want[0])
	s.claimed(t, c, src.ClaimToken)
	refused(t, do(t, src.Agent, "POST", s.Origins.API+linkPath(want[0], "revoke"), nil), 401, fault.NotAuthenticated)
	n := 0
	s.moments(t, src.WorkspaceID, func(t *testing.T) {
		n++
		for _, url := range []string{p.UnlistedURL, before, minted(t, c.Agent, want[0])} {
			s.reads(t, must(s.anyone.Resolve(ctx, url))(t).IframeSrc, page("claimed").Body)
		}
		made := links(t, c.Agent, p.ArtifactID, revisionLink(p.RevisionID))
		want = append(want, made.ID)
		if again := links(t, c.Agent, p.ArtifactID, shareLink); again.ID != share {
			t.Errorf("another share link: %s", again.ID)
		}
		rows := linkRows(t, c.Agent, p.ArtifactID)
		all := asks[contract.WebLinkList](t, who, 200, "GET", "/v1/web/access-links", nil)
		if len(rows) != len(want) || len(all.Items) != len(want) {
			t.Errorf("%d links of the artifact and %d of the workspace are listed, want %d", len(rows), len(all.Items), len(want))
		}
		url := minted(t, c.Agent, want[n])
		asks[contract.RevokedLink](t, who, 200, "POST", "/v1/web/access-links/"+string(want[n])+"/revoke", nil)
		if _, err := s.anyone.Resolve(ctx, url); err == nil {
			t.Error("a revoked link opens")
		}
		if row := linkRows(t, c.Agent, p.ArtifactID)[want[n]]; row.RevokedAt == nil {
			t.Errorf("%+v", row)
		}
	})
	for _, l := range want {
		public := must(l.Public())(t)
		if i := s.item(t, "AL#"+string(public), "L"); text(i["ws"]) != string(c.workspace) || text(i["g1p"]) != "W#"+string(c.workspace)+"#L" {
			t.Errorf("%s was left behind: %s %s", l, text(i["ws"]), text(i["g1p"]))
		}
	}
}

// idOf is the id of a link by its URL.
func (s *claimStand) idOf(t testing.TB, url string) id.Link {
	t.Helper()
	return id.Link(text(s.item(t, "AL#"+string(publicOf(t, url)), "L")["id"]))
}

// TestALinkAndAClaimOvertakeEachOther holds what the source asked for while it is claimed.
func TestALinkAndAClaimOvertakeEachOther(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t, unlimited)
	c := s.claimant(t)
	asks := map[string]func(*wire.Agent, contract.Published, id.Link) (wire.Answer, error){
		"a creation": func(g *wire.Agent, p contract.Published, _ id.Link) (wire.Answer, error) {
			return g.Do(ctx, "POST", g.At.APIURL+linksPath(p.ArtifactID), revisionLink(p.RevisionID), keyed()...)
		},
		"a revocation": func(g *wire.Agent, _ contract.Published, l id.Link) (wire.Answer, error) {
			return g.Do(ctx, "POST", g.At.APIURL+linkPath(l, "revoke"), nil)
		},
		"a closing": func(g *wire.Agent, p contract.Published, _ id.Link) (wire.Answer, error) {
			return g.Do(ctx, "PUT", g.At.APIURL+"/v1/artifacts/"+string(p.ArtifactID)+"/visibility", contract.SetVisibility{Visibility: "private"})
		},
	}
	for name, ask := range asks {
		src := s.source(t)
		p := published(t, src.Agent, "claimed")
		l := s.idOf(t, p.UnlistedURL)
		late := s.overtaken(t, "TransactWriteItems", func() (wire.Answer, error) { return ask(src.Agent, p, l) }, func() {
			s.claimed(t, c, src.ClaimToken)
		})
		if late.Status != 401 || late.Code() != fault.NotAuthenticated {
			t.Errorf("%s that a claim overtakes: %d %s", name, late.Status, late.Body)
		}
		must(s.anyone.Resolve(ctx, p.UnlistedURL))(t)
		moving := s.overtaken(t, "TransactWriteItems", func() (wire.Answer, error) { return ask(c.Agent, p, l) }, func() { s.moves(t, src.WorkspaceID) })
		if moving.Status >= 400 {
			t.Errorf("%s that the move overtakes: %d %s", name, moving.Status, moving.Body)
		}
		if _, err := s.anyone.Resolve(ctx, p.UnlistedURL); (err == nil) != (name == "a creation") {
			t.Errorf("after %s the link answers %v", name, err)
		}
	}
}

// TestLinksOfAClaimAreLockedAndClosedBeforeTheMove does both before anything is moved.
func TestLinksOfAClaimAreLockedAndClosedBeforeTheMove(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t, unlimited)
	c, src := s.claimant(t), s.source(t)
	who := s.colleague(t, c.workspace)
	p := published(t, src.Agent, "claimed")
	pinned := minted(t, src.Agent, links(t, src.Agent, p.ArtifactID, revisionLink(p.RevisionID)).ID)
	s.claimed(t, c, src.ClaimToken)
	lock := "/v1/web/artifacts/" + string(p.ArtifactID) + "/access-link-lockdown"
	opens := func(want bool) {
		t.Helper()
		for _, url := range []string{p.UnlistedURL, pinned} {
			if _, err := s.anyone.Resolve(ctx, url); (err == nil) != want {
				t.Errorf("opens: %v, want %t", err, want)
			}
		}
	}
	asks[contract.WebArtifact](t, who, 200, "POST", lock, nil, keyed()...)
	opens(false)
	asks[contract.WebArtifact](t, who, 200, "POST", lock+"/lift", nil, keyed()...)
	opens(true)
	if v := sees(t, c.Agent, p.ArtifactID, "private"); len(*v.RevokedAccessLinkIDs) != 2 {
		t.Errorf("%+v", v)
	}
	opens(false)
	s.moves(t, src.WorkspaceID)
	opens(false)
	for _, r := range linkRows(t, c.Agent, p.ArtifactID) {
		if r.RevokedAt == nil {
			t.Errorf("%+v", r)
		}
	}
}
