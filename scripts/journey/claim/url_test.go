package claim

import (
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// TestAURLLivesAsLongAsItsLink keeps the URL that an agent without an account handed on for a year: over a claim, newer
// revisions and the end of the claimed workspace's record, to the revocation of the link.
func TestAURLLivesAsLongAsItsLink(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t, harness.Unlimited)
	c, src := s.NewClaimant(t), s.NewSource(t)
	p := harness.PublishPage(t, src.Agent, "first")
	opens := func(words string) {
		t.Helper()
		s.WantContent(t, harness.Must(s.Anyone.Resolve(ctx, p.UnlistedURL))(t).IframeSrc, harness.Page(words).Body)
	}
	share := linkID(t, s, p.UnlistedURL)
	if again := harness.MintLink(t, src.Agent, share); again != p.UnlistedURL {
		t.Errorf("minted %s, and the publication has %s", again, p.UnlistedURL)
	}
	s.Rest(23 * time.Hour)
	harness.Must(src.PublishFiles(ctx, "second", p.ArtifactID, harness.Page("second")))(t)
	s.Rest(23 * time.Hour)
	opens("second") // its artifact ends a day after the newest publication

	s.MustClaim(t, c, src.ClaimToken)
	who := s.AddMember(t, c.Workspace)
	harness.CallAs[contract.WebArtifact](t, who, 200, "POST", harness.PinPath(p.ArtifactID), nil, harness.KeyHeader()...)
	s.Migrate(t, src.WorkspaceID)
	for range 4 {
		s.Rest(30 * limits.Day)
		opens("second")
	}
	source := s.GetItem(t, "W#"+string(src.WorkspaceID), "META")
	s.Update(t, "W#"+string(src.WorkspaceID), "META", nil) // as its time to live does
	opens("second")
	s.Put(t, source, nil) // for the invariants
	s.Rest(245 * limits.Day)
	opens("second")

	ends, web := s.Options.Now().Add(40*limits.Day), "/v1/web"+strings.TrimPrefix(harness.LinksPath(p.ArtifactID), "/v1")
	who = s.AddMember(t, c.Workspace)
	timed := harness.CallAs[contract.CreatedLink](t, who, 201, "POST", web,
		contract.CreateLink{Type: "revision", RevisionID: p.RevisionID, ExpiresAt: contract.AtOrNull(ends)},
		harness.KeyHeader()...)
	url := harness.CallAs[contract.MintedLink](t, who, 200, "POST", "/v1/web/access-links/"+string(timed.ID)+"/mint", nil).URL
	s.Rest(39 * limits.Day)
	harness.Must(s.Anyone.Resolve(ctx, url))(t)
	s.Rest(limits.Day)
	harness.WantRefused(t, s.Resolve(t, url), 404, fault.NotFound)

	opens("second")
	who = s.AddMember(t, c.Workspace)
	harness.CallAs[contract.RevokedLink](t, who, 200, "POST", "/v1/web/access-links/"+string(share)+"/revoke", nil)
	harness.WantRefused(t, s.Resolve(t, p.UnlistedURL), 404, fault.NotFound)
}
