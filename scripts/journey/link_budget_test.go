package journey

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/contract"
)

// inside is a hand in the tables of the ledger's deployment, past what is counted.
func (l *ledger) inside() *probe {
	e := l.options.Engines
	client := dynamodb.NewFromConfig(e.AWS(), func(o *dynamodb.Options) { o.BaseEndpoint = &e.DynamoDB })
	return &probe{deployment: l.deployment, client: client, names: dynamo.Named(l.options.Tables)}
}

// TestRoutesOfLinksStayWithinTheirBudget asks with an API key and as a member. None was designed in figures. Each event may
// cost an index entry of its own.
func TestRoutesOfLinksStayWithinTheirBudget(t *testing.T) {
	l := newLedger(t)
	p := l.inside()
	l.owner = l.agent(t)
	w := parsed(t, l.owner).Workspace
	p.change(t, "W#"+string(w), "META", map[string]any{"claimed_at": l.options.Now()})
	who := p.colleague(t, w)
	shown := published(t, l.owner, "shared")
	a := shown.ArtifactID
	tries(t, who, "GET", "/v1/web/workspace", nil)

	var share, pinned contract.CreatedLink
	// Credential, record and artifact; counters; the artifact and the link with their index entries, a fence, the record,
	// the event.
	l.holds(t, "link, share", budget{4, 3, 4, 16}, func() { share = links(t, l.owner, a, shareLink) })
	l.holds(t, "link, share again", budget{5, 4, 5, 8}, func() { links(t, l.owner, a, shareLink) })
	l.holds(t, "link, revision", budget{4, 3, 4, 18}, func() { pinned = links(t, l.owner, a, revisionLink(shown.RevisionID)) })
	l.holds(t, "link, mint", budget{5, 3, 4, 2}, func() { minted(t, l.owner, share.ID) })
	l.holds(t, "links of an artifact", budget{5, 3, 4.5, 2}, func() { linkRows(t, l.owner, a) })
	l.holds(t, "link, revoke", budget{5, 4, 3, 13}, func() { revokes(t, l.owner, share.ID) })
	l.holds(t, "unlisted", budget{4, 3, 3, 14}, func() { sees(t, l.owner, a, "unlisted") })
	// The links are looked up for the answer, their keys and then they; what ends them is one write, however many there are.
	l.holds(t, "private", budget{6, 5, 5, 10}, func() { sees(t, l.owner, a, "private") })
	l.members(t, who, shown, pinned)
}

// members ask with an access token, which costs a batch for the grant and one for the member.
func (l *ledger) members(t *testing.T, who *person, shown contract.Published, ended contract.CreatedLink) {
	t.Helper()
	at := "/v1/web/artifacts/" + string(shown.ArtifactID)
	ask := func(status int, method, path string, body any) func() {
		return func() {
			if a := tries(t, who, method, path, body, keyed()...); a.Status != status {
				t.Fatalf("%s %s answers %d %s", method, path, a.Status, a.Body)
			}
		}
	}
	l.holds(t, "member: link", budget{6, 5, 5, 16}, ask(201, "POST", at+"/access-links", shareLink))
	made := links(t, l.owner, shown.ArtifactID, shareLink)
	l.holds(t, "member: mint", budget{6, 4, 5, 2}, ask(200, "POST", "/v1/web/access-links/"+string(made.ID)+"/mint", nil))
	l.holds(t, "member: links of an artifact", budget{7, 5, 6.5, 2}, ask(200, "GET", at+"/access-links", nil))
	l.holds(t, "member: all links", budget{7, 4, 5, 2}, ask(200, "GET", "/v1/web/access-links", nil))
	l.holds(t, "member: lock", budget{8, 7, 7, 13}, ask(200, "POST", at+"/access-link-lockdown", nil))
	l.holds(t, "member: unlock", budget{8, 7, 7, 13}, ask(200, "POST", at+"/access-link-lockdown/lift", nil))
	l.holds(t, "member: revoke", budget{6, 5, 4, 13}, ask(200, "POST", "/v1/web/access-links/"+string(made.ID)+"/revoke", nil))
	l.holds(t, "member: revoke, closed before", budget{6, 5, 4, 2}, ask(200, "POST", "/v1/web/access-links/"+string(ended.ID)+"/revoke", nil))
}
