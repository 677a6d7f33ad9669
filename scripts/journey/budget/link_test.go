package budget

import (
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
)

// claimed gives the deployment an owner whose workspace is claimed, and a member of it.
func (b *budgetEnv) claimed(t *testing.T) (*harness.BackendEnv, *harness.Member) {
	t.Helper()
	p := b.backend()
	b.owner = b.NewAgent(t)
	w := harness.TokenOf(t, b.owner).Workspace
	p.Update(t, "W#"+string(w), "META", map[string]any{"claimed_at": b.Options.Now()})
	return p, p.AddMember(t, w)
}

// TestRoutesOfLinksStayWithinTheirBudget asks with an API key and as a member. None was designed in figures. Each event
// may cost an index entry of its own.
func TestRoutesOfLinksStayWithinTheirBudget(t *testing.T) {
	l := newBudgetEnv(t)
	_, who := l.claimed(t)
	shown := harness.PublishPage(t, l.owner, "shared")
	a := shown.ArtifactID
	harness.TryAs(t, who, "GET", "/v1/web/workspace", nil)

	var share, pinned contract.CreatedLink
	// Credential, record and artifact; counters; the artifact and the link with their index entries, a fence, the record,
	// the event.
	l.wantWithin(t, "link, share", budget{4, 3, 4, 16}, func() {
		share = harness.CreateLink(t, l.owner, a, harness.ShareLink)
	})
	l.wantWithin(t, "link, share again", budget{5, 4, 5, 8}, func() {
		harness.CreateLink(t, l.owner, a, harness.ShareLink)
	})
	// The link with its index entry and the event besides.
	l.wantWithin(t, "link, comments", budget{5, 4, 5, 14}, func() {
		harness.CreateLink(t, l.owner, a, contract.CreateLink{Type: "share", Comments: new(true)})
	})
	l.wantWithin(t, "link, revision", budget{4, 3, 4, 18}, func() {
		pinned = harness.CreateLink(t, l.owner, a, harness.RevisionLink(shown.RevisionID))
	})
	l.wantWithin(t, "link, mint", budget{5, 3, 4, 2}, func() { harness.MintLink(t, l.owner, share.ID) })
	l.wantWithin(t, "links of an artifact", budget{5, 3, 4.5, 2}, func() { harness.LinkRows(t, l.owner, a) })
	l.wantWithin(t, "link, revoke", budget{5, 4, 3, 13}, func() { harness.RevokeLink(t, l.owner, share.ID) })
	l.wantWithin(t, "unlisted", budget{4, 3, 3, 14}, func() { harness.SetVisibility(t, l.owner, a, "unlisted") })
	// The links are looked up for the answer, their keys and then they; what ends them is one write, however many there
	// are.
	l.wantWithin(t, "private", budget{6, 5, 5, 10}, func() { harness.SetVisibility(t, l.owner, a, "private") })
	l.members(t, who, shown, pinned)
}

// members ask with an access token, which costs a batch for the grant and one for the member.
func (b *budgetEnv) members(t *testing.T, who *harness.Member, shown contract.Published, ended contract.CreatedLink) {
	t.Helper()
	at := "/v1/web/artifacts/" + string(shown.ArtifactID)
	b.wantWithin(t, "member: link", budget{6, 5, 5, 16},
		b.asks(t, who, 201, "POST", at+"/access-links", harness.ShareLink))
	made := harness.CreateLink(t, b.owner, shown.ArtifactID, harness.ShareLink)
	b.wantWithin(t, "member: mint", budget{6, 4, 5, 2},
		b.asks(t, who, 200, "POST", "/v1/web/access-links/"+string(made.ID)+"/mint", nil))
	b.wantWithin(t, "member: links of an artifact", budget{7, 5, 6.5, 2},
		b.asks(t, who, 200, "GET", at+"/access-links", nil))
	b.wantWithin(t, "member: all links", budget{7, 4, 5, 2}, b.asks(t, who, 200, "GET", "/v1/web/access-links", nil))
	b.wantWithin(t, "member: lock", budget{8, 7, 7, 13}, b.asks(t, who, 200, "POST", at+"/access-link-lockdown", nil))
	b.wantWithin(t, "member: unlock", budget{8, 7, 7, 13},
		b.asks(t, who, 200, "POST", at+"/access-link-lockdown/lift", nil))
	b.wantWithin(t, "member: revoke", budget{6, 5, 4, 13},
		b.asks(t, who, 200, "POST", "/v1/web/access-links/"+string(made.ID)+"/revoke", nil))
	b.wantWithin(t, "member: revoke, closed before", budget{6, 5, 4, 2},
		b.asks(t, who, 200, "POST", "/v1/web/access-links/"+string(ended.ID)+"/revoke", nil))
}
