package journey

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// linkStand is a deployment with a workspace that a member has, an API key of it, and an artifact in it.
type linkStand struct {
	*faultStand
	who   *person
	agent *wire.Agent
	made  contract.Published
}

func newLinkStand(t testing.TB, change ...func(*stack.Options)) *linkStand {
	t.Helper()
	s := &linkStand{faultStand: newFaultStand(t, append([]func(*stack.Options){unlimited}, change...)...)}
	owner, _, err := s.anyone.Provision(ctx)
	succeed(t, err)
	w := parsed(t, owner).Workspace
	s.change(t, "W#"+string(w), "META", map[string]any{"claimed_at": s.options.Now()})
	s.agent, s.who = owner, s.colleague(t, w)
	s.made = published(t, owner, "shared")
	return s
}

// answered sends a request to the api host and unpacks its answer, which has to have this status.
func answered[T any](t testing.TB, g *wire.Agent, status int, method, path string, body any, headers ...string) (out T) {
	t.Helper()
	a := do(t, g, method, g.At.APIURL+path, body, headers...)
	if a.Status != status {
		t.Fatalf("%s %s answers %d %s", method, path, a.Status, a.Body)
	}
	succeed(t, json.Unmarshal(a.Body, &out))
	return out
}

func linksPath(a id.Artifact) string { return "/v1/artifacts/" + string(a) + "/access-links" }

func linkPath(l id.Link, verb string) string { return "/v1/access-links/" + string(l) + "/" + verb }

// links makes a link of an artifact.
func links(t testing.TB, g *wire.Agent, a id.Artifact, r contract.CreateLink) contract.CreatedLink {
	t.Helper()
	return answered[contract.CreatedLink](t, g, 201, "POST", linksPath(a), r, keyed()...)
}

func tryLink(t testing.TB, g *wire.Agent, a id.Artifact, body any) wire.Answer {
	t.Helper()
	return do(t, g, "POST", g.At.APIURL+linksPath(a), body, keyed()...)
}

var shareLink = contract.CreateLink{Type: "share"}

func revisionLink(r id.Revision) contract.CreateLink {
	return contract.CreateLink{Type: "revision", RevisionID: r}
}

// minted is a fresh URL of a link.
func minted(t testing.TB, g *wire.Agent, l id.Link) string {
	t.Helper()
	return answered[contract.MintedLink](t, g, 200, "POST", linkPath(l, "mint"), nil).URL
}

func revokes(t testing.TB, g *wire.Agent, l id.Link) contract.RevokedLink {
	t.Helper()
	return answered[contract.RevokedLink](t, g, 200, "POST", linkPath(l, "revoke"), nil)
}

func sees(t testing.TB, g *wire.Agent, a id.Artifact, word string) contract.Visibility {
	t.Helper()
	return answered[contract.Visibility](t, g, 200, "PUT", "/v1/artifacts/"+string(a)+"/visibility", contract.SetVisibility{Visibility: word})
}

// linkRows are the links of an artifact by id.
func linkRows(t testing.TB, g *wire.Agent, a id.Artifact) map[id.Link]contract.LinkRow {
	t.Helper()
	list := answered[contract.LinkList](t, g, 200, "GET", linksPath(a), nil)
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

// visited is what somebody without an account has of a link.
type visited struct {
	url     string
	content string // signed URL that the link gave
}

// opensLink opens a link as the viewer page does.
func (s *linkStand) opensLink(t testing.TB, url string, words string) visited {
	t.Helper()
	r := must(s.anyone.Resolve(ctx, url))(t)
	s.reads(t, r.IframeSrc, page(words).Body)
	return visited{url, r.IframeSrc}
}

// denied checks that neither a link nor what it gave before opens anything.
func (s *linkStand) denied(t testing.TB, links ...visited) {
	t.Helper()
	for _, l := range links {
		refused(t, s.resolves(t, l.url), 404, fault.NotFound)
		s.gone(t, l.content)
	}
}

// resolves asks what a link opens, with the answer whatever it is.
func (s *linkStand) resolves(t testing.TB, url string) wire.Answer {
	t.Helper()
	public, blob, err := wire.SplitLink(url)
	succeed(t, err)
	return do(t, s.anyone, "POST", s.Origins.API+"/v1/access-links/resolve", contract.ResolveRequest{PublicID: public, Blob: blob})
}

// publicOf is the id in a link's URL.
func publicOf(t testing.TB, url string) id.Public {
	t.Helper()
	public, _, err := wire.SplitLink(url)
	succeed(t, err)
	return public
}

// linkRequests are all routes of API keys about links, on these ids.
func linkRequests(t testing.TB, g *wire.Agent, a id.Artifact, l id.Link, r id.Revision) map[string]func() wire.Answer {
	ask := func(method, path string, body any) func() wire.Answer {
		return func() wire.Answer { return do(t, g, method, g.At.APIURL+path, body, keyed()...) }
	}
	return map[string]func() wire.Answer{
		"create share":    ask("POST", linksPath(a), shareLink),
		"create revision": ask("POST", linksPath(a), revisionLink(r)),
		"list":            ask("GET", linksPath(a), nil),
		"mint":            ask("POST", linkPath(l, "mint"), nil),
		"revoke":          ask("POST", linkPath(l, "revoke"), nil),
		"private":         ask("PUT", "/v1/artifacts/"+string(a)+"/visibility", contract.SetVisibility{Visibility: "private"}),
		"unlisted":        ask("PUT", "/v1/artifacts/"+string(a)+"/visibility", contract.SetVisibility{Visibility: "unlisted"}),
	}
}

// webLinkRequests are all routes of members about links, on these ids.
func webLinkRequests(t testing.TB, who *person, a id.Artifact, l id.Link) map[string]func() wire.Answer {
	ask := func(method, path string, body any) func() wire.Answer {
		return func() wire.Answer { return tries(t, who, method, "/v1/web"+path, body, keyed()...) }
	}
	at, link := "/artifacts/"+string(a), "/access-links/"+string(l)
	return map[string]func() wire.Answer{
		"web create": ask("POST", at+"/access-links", shareLink),
		"web list":   ask("GET", at+"/access-links", nil),
		"web mint":   ask("POST", link+"/mint", nil),
		"web revoke": ask("POST", link+"/revoke", nil),
		"web lock":   ask("POST", at+"/access-link-lockdown", nil),
		"web unlock": ask("POST", at+"/access-link-lockdown/lift", nil),
	}
}

// missingCode is the refusal of a request about what is not there: that of links is another than that of artifacts.
func missingCode(name string) fault.Code {
	if strings.HasSuffix(name, "mint") || strings.HasSuffix(name, "revoke") {
		return fault.NotFound
	}
	return fault.ArtifactNotFound
}

// readerKey is an API key without the right to share.
func (s *linkStand) readerKey(t testing.TB) *wire.Agent {
	return s.sibling(t, s.agent, credential.Read)
}

func ok(t testing.TB, what string, a wire.Answer) {
	t.Helper()
	if a.Status != http.StatusOK {
		t.Errorf("%s answers %d %s", what, a.Status, a.Body)
	}
}
