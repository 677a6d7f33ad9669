package sharing

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

// linkRequests are all routes of API keys about links, on these ids.
func linkRequests(t testing.TB, g *wire.Agent, a id.Artifact, l id.Link, r id.Revision) map[string]func() wire.Answer {
	ask := func(method, path string, body any) func() wire.Answer {
		return func() wire.Answer { return harness.Do(t, g, method, g.At.APIURL+path, body, harness.KeyHeader()...) }
	}
	visibility := "/v1/artifacts/" + string(a) + "/visibility"
	return map[string]func() wire.Answer{
		"create share":    ask("POST", harness.LinksPath(a), harness.ShareLink),
		"create revision": ask("POST", harness.LinksPath(a), harness.RevisionLink(r)),
		"list":            ask("GET", harness.LinksPath(a), nil),
		"mint":            ask("POST", harness.LinkPath(l, "mint"), nil),
		"revoke":          ask("POST", harness.LinkPath(l, "revoke"), nil),
		"private":         ask("PUT", visibility, contract.SetVisibility{Visibility: "private"}),
		"unlisted":        ask("PUT", visibility, contract.SetVisibility{Visibility: "unlisted"}),
	}
}

// webLinkRequests are all routes of members about links, on these ids.
func webLinkRequests(t testing.TB, who *harness.Member, a id.Artifact, l id.Link) map[string]func() wire.Answer {
	ask := func(method, path string, body any) func() wire.Answer {
		return func() wire.Answer { return harness.TryAs(t, who, method, "/v1/web"+path, body, harness.KeyHeader()...) }
	}
	at, link := "/artifacts/"+string(a), "/access-links/"+string(l)
	return map[string]func() wire.Answer{
		"web create": ask("POST", at+"/access-links", harness.ShareLink),
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

// setLinkLock locks the links of an artifact for a member, or unlocks them.
func setLinkLock(t testing.TB, s *harness.LinkEnv, a id.Artifact, locked bool) {
	t.Helper()
	commandLinkLock(t, s, a, locked, harness.KeyHeader())
}

// commandLinkLock is setLinkLock with the key of a command. The answer shows the links as the command left them.
func commandLinkLock(t testing.TB, s *harness.LinkEnv, a id.Artifact, locked bool, key []string) {
	t.Helper()
	path := "/v1/web/artifacts/" + string(a) + "/access-link-lockdown"
	if !locked {
		path += "/lift"
	}
	got := harness.CallAs[contract.WebArtifact](t, s.Member, 200, "POST", path, nil, key...)
	if got.Lockdown != locked || got.ID != a {
		t.Errorf("%s answers %+v", path, got)
	}
}

// wanted asks for a link of a kind to a publication.
func wanted(kind string, p contract.Published) contract.CreateLink {
	if kind == "revision" {
		return harness.RevisionLink(p.RevisionID)
	}
	return harness.ShareLink
}

func wantOK(t testing.TB, what string, a wire.Answer) {
	t.Helper()
	if a.Status != http.StatusOK {
		t.Errorf("%s answers %d %s", what, a.Status, a.Body)
	}
}
