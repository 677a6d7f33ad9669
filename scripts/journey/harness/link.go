package harness

import (
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// LinkEnv is a FaultEnv with a claimed workspace, a member and an API key of it, and a published artifact.
type LinkEnv struct {
	*FaultEnv
	Member    *Member
	Agent     *wire.Agent
	Published contract.Published
}

// NewLinkEnv starts a deployment for access links, without rate limits.
func NewLinkEnv(t testing.TB, change ...func(*stack.Options)) *LinkEnv {
	t.Helper()
	s := &LinkEnv{FaultEnv: NewFaultEnv(t, append([]func(*stack.Options){Unlimited}, change...)...)}
	owner, w := s.newClaimed(t)
	s.Agent, s.Member = owner, s.AddMember(t, w)
	s.Published = PublishPage(t, owner, "shared")
	return s
}

// LinksPath is the route of the access links of an artifact.
func LinksPath(a id.Artifact) string { return "/v1/artifacts/" + string(a) + "/access-links" }

// LinkPath is the route of an action on an access link.
func LinkPath(l id.Link, verb string) string { return "/v1/access-links/" + string(l) + "/" + verb }

// CreateLink makes an access link of an artifact.
func CreateLink(t testing.TB, g *wire.Agent, a id.Artifact, r contract.CreateLink) contract.CreatedLink {
	t.Helper()
	return Call[contract.CreatedLink](t, g, 201, "POST", LinksPath(a), r, KeyHeader()...)
}

// ShareLink asks for the share link of an artifact.
var ShareLink = contract.CreateLink{Type: "share"}

// RevisionLink asks for a link to a revision.
func RevisionLink(r id.Revision) contract.CreateLink {
	return contract.CreateLink{Type: "revision", RevisionID: r}
}

// MintLink returns a new URL of an access link.
func MintLink(t testing.TB, g *wire.Agent, l id.Link) string {
	t.Helper()
	return Call[contract.MintedLink](t, g, 200, "POST", LinkPath(l, "mint"), nil).URL
}

// ShareURL returns a new URL of the share link of an artifact.
func ShareURL(t testing.TB, g *wire.Agent, a id.Artifact) string {
	t.Helper()
	return MintLink(t, g, CreateLink(t, g, a, ShareLink).ID)
}

// RevokeLink revokes an access link.
func RevokeLink(t testing.TB, g *wire.Agent, l id.Link) contract.RevokedLink {
	t.Helper()
	return Call[contract.RevokedLink](t, g, 200, "POST", LinkPath(l, "revoke"), nil)
}

// SetVisibility makes an artifact private or unlisted.
func SetVisibility(t testing.TB, g *wire.Agent, a id.Artifact, word string) contract.Visibility {
	t.Helper()
	return Call[contract.Visibility](
		t, g, 200, "PUT", "/v1/artifacts/"+string(a)+"/visibility", contract.SetVisibility{Visibility: word},
	)
}

// LinkRows are the links of an artifact by id.
func LinkRows(t testing.TB, g *wire.Agent, a id.Artifact) map[id.Link]contract.LinkRow {
	t.Helper()
	list := Call[contract.LinkList](t, g, 200, "GET", LinksPath(a), nil)
	rows := map[id.Link]contract.LinkRow{}
	for _, r := range list.Items {
		if rows[r.ID] = r; r.ArtifactID != a || list.ArtifactID != a {
			t.Errorf("%s is listed under %s of %s", r.ID, list.ArtifactID, a)
		}
	}
	if len(rows) != len(list.Items) {
		t.Errorf("a link is listed twice: %+v", list.Items)
	}
	return rows
}

// OpenedLink is what a reader without an account has of a link.
type OpenedLink struct {
	URL     string
	Content string // signed URL that the link gave
}

// OpenLink opens a link as the viewer page does and checks what it shows.
func (e *LinkEnv) OpenLink(t testing.TB, url string, words string) OpenedLink {
	t.Helper()
	r := Must(e.Anyone.Resolve(ctx, url))(t)
	e.WantContent(t, r.IframeSrc, Page(words).Body)
	return OpenedLink{url, r.IframeSrc}
}

// WantLinksClosed checks that neither a link nor what it gave before opens anything.
func (e *LinkEnv) WantLinksClosed(t testing.TB, links ...OpenedLink) {
	t.Helper()
	for _, l := range links {
		WantRefused(t, e.Resolve(t, l.URL), 404, fault.NotFound)
		e.WantGone(t, l.Content)
	}
}

// Resolve asks what a link opens and returns the answer.
func (env *Env) Resolve(t testing.TB, url string) wire.Answer {
	t.Helper()
	public, blob, err := wire.SplitLink(url)
	NoError(t, err)
	return Do(t, env.Anyone, "POST", env.Origins.API+"/v1/access-links/resolve",
		contract.ResolveRequest{PublicID: public, Blob: blob})
}

// PublicID is the id in a link's URL.
func PublicID(t testing.TB, url string) id.Public {
	t.Helper()
	public, _, err := wire.SplitLink(url)
	NoError(t, err)
	return public
}
