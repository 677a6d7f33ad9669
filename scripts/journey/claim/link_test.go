package claim

import (
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// TestLinksOfWhatIsClaimedGoAlong makes links before the claim, and uses, lists, makes, ends and locks them in every
// moment of the move.
func TestLinksOfWhatIsClaimedGoAlong(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t, harness.Unlimited)
	c, src := s.NewClaimant(t), s.NewSource(t)
	who := s.AddMember(t, c.Workspace)
	p := harness.PublishPage(t, src.Agent, "claimed")
	share := linkID(t, s, p.UnlistedURL)
	want := []id.Link{share}
	for range 6 {
		want = append(want, harness.CreateLink(t, src.Agent, p.ArtifactID, harness.RevisionLink(p.RevisionID)).ID)
	}
	before := harness.MintLink(t, src.Agent, want[0])
	s.MustClaim(t, c, src.ClaimToken)
	harness.WantRefused(
		t,
		harness.Do(t, src.Agent, "POST", s.Origins.API+harness.LinkPath(want[0], "revoke"), nil),
		401,
		fault.NotAuthenticated,
	)
	n, lock := 0, "/v1/web/artifacts/"+string(p.ArtifactID)+"/access-link-lockdown"
	atEachStep(t, s, src.WorkspaceID, func(t *testing.T) {
		n++
		for _, url := range []string{p.UnlistedURL, before, harness.MintLink(t, c.Agent, want[0])} {
			s.WantContent(t, harness.Must(s.Anyone.Resolve(ctx, url))(t).IframeSrc, harness.Page("claimed").Body)
		}
		made := harness.CreateLink(t, c.Agent, p.ArtifactID, harness.RevisionLink(p.RevisionID))
		want = append(want, made.ID)
		if again := harness.CreateLink(t, c.Agent, p.ArtifactID, harness.ShareLink); again.ID != share {
			t.Errorf("another share link: %s", again.ID)
		}
		rows := harness.LinkRows(t, c.Agent, p.ArtifactID)
		all := harness.CallAs[contract.WebLinkList](t, who, 200, "GET", "/v1/web/access-links", nil)
		if len(rows) != len(want) || len(all.Items) != len(want) {
			t.Errorf(
				"%d links of the artifact and %d of the workspace are listed, want %d", len(rows), len(all.Items), len(want),
			)
		}
		url := harness.MintLink(t, c.Agent, want[n])
		harness.CallAs[contract.RevokedLink](t, who, 200, "POST", "/v1/web/access-links/"+string(want[n])+"/revoke", nil)
		if _, err := s.Anyone.Resolve(ctx, url); err == nil {
			t.Error("a revoked link opens")
		}
		if row := harness.LinkRows(t, c.Agent, p.ArtifactID)[want[n]]; row.RevokedAt == nil {
			t.Errorf("%+v is listed as not revoked", row)
		}
		harness.CallAs[contract.WebArtifact](t, who, 200, "POST", lock, nil, harness.KeyHeader()...)
		if _, err := s.Anyone.Resolve(ctx, p.UnlistedURL); err == nil {
			t.Error("a link of a locked artifact opens")
		}
		harness.CallAs[contract.WebArtifact](t, who, 200, "POST", lock+"/lift", nil, harness.KeyHeader()...)
	})
	for _, l := range want {
		public := harness.Must(l.Public())(t)
		i := s.GetItem(t, "AL#"+string(public), "L")
		if harness.Text(i["ws"]) != string(c.Workspace) || harness.Text(i["g1p"]) != "W#"+string(c.Workspace)+"#L" {
			t.Errorf("%s was left behind: %s %s", l, harness.Text(i["ws"]), harness.Text(i["g1p"]))
		}
	}
}

// linkID is the id of a link by its URL.
func linkID(t testing.TB, s *harness.ClaimEnv, url string) id.Link {
	t.Helper()
	return id.Link(harness.Text(s.GetItem(t, "AL#"+string(harness.PublicID(t, url)), "L")["id"]))
}

// TestALinkAndAClaimOvertakeEachOther holds what the source asked for while it is claimed.
func TestALinkAndAClaimOvertakeEachOther(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t, harness.Unlimited)
	c := s.NewClaimant(t)
	asks := map[string]func(*wire.Agent, contract.Published, id.Link) (wire.Answer, error){
		"a creation": func(g *wire.Agent, p contract.Published, _ id.Link) (wire.Answer, error) {
			return g.Do(
				ctx,
				"POST",
				g.At.APIURL+harness.LinksPath(p.ArtifactID),
				harness.RevisionLink(p.RevisionID),
				harness.KeyHeader()...,
			)
		},
		"a revocation": func(g *wire.Agent, _ contract.Published, l id.Link) (wire.Answer, error) {
			return g.Do(ctx, "POST", g.At.APIURL+harness.LinkPath(l, "revoke"), nil)
		},
		"a closing": func(g *wire.Agent, p contract.Published, _ id.Link) (wire.Answer, error) {
			return g.Do(
				ctx,
				"PUT",
				g.At.APIURL+"/v1/artifacts/"+string(p.ArtifactID)+"/visibility",
				contract.SetVisibility{Visibility: "private"},
			)
		},
	}
	for name, ask := range asks {
		src := s.NewSource(t)
		p := harness.PublishPage(t, src.Agent, "claimed")
		l := linkID(t, s, p.UnlistedURL)
		late := s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) { return ask(src.Agent, p, l) }, func() {
			s.MustClaim(t, c, src.ClaimToken)
		})
		if late.Status != 401 || late.Code() != fault.NotAuthenticated {
			t.Errorf("%s that a claim overtakes: %d %s", name, late.Status, late.Body)
		}
		harness.Must(s.Anyone.Resolve(ctx, p.UnlistedURL))(t)
		moving := s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) {
			return ask(c.Agent, p, l)
		}, func() { s.Migrate(t, src.WorkspaceID) })
		if moving.Status >= 400 {
			t.Errorf("%s that the move overtakes: %d %s", name, moving.Status, moving.Body)
		}
		if _, err := s.Anyone.Resolve(ctx, p.UnlistedURL); (err == nil) != (name == "a creation") {
			t.Errorf("after %s the link answers %v", name, err)
		}
	}
}
