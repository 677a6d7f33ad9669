package sharing

import (
	"maps"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

func TestALinkIsMadeOpenedAndListed(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	a := s.Published.ArtifactID
	ofMembers := "/v1/web" + strings.TrimPrefix(harness.LinksPath(a), "/v1")
	share := harness.CreateLink(t, s.Agent, a, harness.ShareLink)
	pinned := harness.CallAs[contract.CreatedLink](
		t, s.Member, 201, "POST", ofMembers, harness.RevisionLink(s.Published.RevisionID), harness.KeyHeader()...,
	)
	if share.Type != "share" || share.RevisionID != nil || share.ArtifactID != a || pinned.RevisionID == nil ||
		*pinned.RevisionID != s.Published.RevisionID {
		t.Errorf("%+v %+v: want a link to the artifact and one to the revision", share, pinned)
	}
	harness.Must(s.Agent.PublishFiles(ctx, "newer", a, harness.Page("newer")))(t)
	s.OpenLink(t, harness.MintLink(t, s.Agent, share.ID), "newer")
	s.OpenLink(t, harness.MintLink(t, s.Agent, pinned.ID), "shared")
	other := harness.PublishPage(t, s.Agent, "another")
	harness.CreateLink(t, s.Agent, other.ArtifactID, harness.ShareLink)
	rows := harness.LinkRows(t, s.Agent, a)
	if len(rows) != 2 || rows[share.ID].RevokedAt != nil || rows[pinned.ID].ExpiresAt != nil ||
		*rows[pinned.ID].RevisionID != s.Published.RevisionID {
		t.Errorf("%+v, want both links, not revoked, one without an end", rows)
	}
	all := harness.CallAs[contract.WebLinkList](t, s.Member, 200, "GET", "/v1/web/access-links", nil)
	of := harness.CallAs[contract.WebLinkList](t, s.Member, 200, "GET", ofMembers, nil)
	if len(all.Items) != 3 || len(of.Items) != 2 || all.Items[0].Revoked || all.PageInfo.HasMore {
		t.Errorf("%+v %+v: want three links, two of them of the artifact", all, of)
	}
}

func TestRoutesOfLinksNeedTheirScope(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	l := harness.CreateLink(t, s.Agent, s.Published.ArtifactID, harness.ShareLink)
	reader := s.NewKey(t, s.Agent, credential.Read)
	for name, ask := range linkRequests(t, reader, s.Published.ArtifactID, l.ID, s.Published.RevisionID) {
		if a := ask(); a.Status != 403 || a.Code() != fault.Forbidden {
			t.Errorf("%s as a reader: %d %s", name, a.Status, a.Code())
		}
	}
	publisher := s.AddMember(t, s.Member.Workspace, credential.Publish)
	for name, ask := range webLinkRequests(t, publisher, s.Published.ArtifactID, l.ID) {
		if a := ask(); a.Status != 403 || a.Code() != fault.Forbidden {
			t.Errorf("%s without scope: %d %s", name, a.Status, a.Code())
		}
	}
	for name, ask := range webLinkRequests(t, s.Member.WithToken(s.Agent.Key), s.Published.ArtifactID, l.ID) {
		if a := ask(); a.Status != 401 || a.Code() != fault.NotAuthenticated {
			t.Errorf("%s with an API key: %d %s", name, a.Status, a.Code())
		}
	}
}

// TestT48LinksOfOthersAreNotThere counts calls: time is what they take.
func TestT48LinksOfOthersAreNotThere(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	l := harness.CreateLink(t, s.Agent, s.Published.ArtifactID, harness.ShareLink)
	stranger, claimed := s.FaultEnv.NewAgent(t), s.FaultEnv.NewAgent(t)
	w := harness.TokenOf(t, claimed).Workspace
	s.Update(t, "W#"+string(w), "META", map[string]any{"claimed_at": s.Options.Now()})
	other := s.AddMember(t, w)
	harness.TryAs(t, other, "GET", "/v1/web/workspace", nil)
	foreign := linkRequests(t, stranger, s.Published.ArtifactID, l.ID, s.Published.RevisionID)
	unknown := linkRequests(t, stranger, id.NewArtifact(), id.NewLink(), id.NewRevision())
	maps.Copy(foreign, webLinkRequests(t, other, s.Published.ArtifactID, l.ID))
	maps.Copy(unknown, webLinkRequests(t, other, id.NewArtifact(), id.NewLink()))
	s.WantSameRefusals(t, "a stranger", foreign, unknown)
	for name, ask := range foreign {
		harness.WantRefused(t, ask(), 404, missingCode(name))
	}
	foreign = linkRequests(t, claimed, s.Published.ArtifactID, l.ID, s.Published.RevisionID)
	unknown = linkRequests(t, claimed, id.NewArtifact(), id.NewLink(), id.NewRevision())
	s.WantSameRefusals(t, "a member", foreign, unknown)
	for name, ask := range linkRequests(t, s.Agent, "art_1", "al_1", s.Published.RevisionID) {
		harness.WantRefused(t, ask(), 404, missingCode(name))
	}
	list := harness.CallAs[contract.WebLinkList](t, other, 200, "GET", "/v1/web/access-links", nil)
	if len(list.Items) != 0 {
		t.Errorf("others see %+v", list.Items)
	}
}
