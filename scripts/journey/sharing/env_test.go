package sharing

import (
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

func tryLink(t testing.TB, g *wire.Agent, a id.Artifact, body any) wire.Answer {
	t.Helper()
	return harness.Do(t, g, "POST", g.At.APIURL+harness.LinksPath(a), body, harness.KeyHeader()...)
}

// linkRequests are all routes of API keys about links, on these ids.
func linkRequests(t testing.TB, g *wire.Agent, a id.Artifact, l id.Link, r id.Revision) map[string]func() wire.Answer {
	ask := func(method, path string, body any) func() wire.Answer {
		return func() wire.Answer { return harness.Do(t, g, method, g.At.APIURL+path, body, harness.KeyHeader()...) }
	}
	return map[string]func() wire.Answer{
		"create share":    ask("POST", harness.LinksPath(a), harness.ShareLink),
		"create revision": ask("POST", harness.LinksPath(a), harness.RevisionLink(r)),
		"list":            ask("GET", harness.LinksPath(a), nil),
		"mint":            ask("POST", harness.LinkPath(l, "mint"), nil),
		"revoke":          ask("POST", harness.LinkPath(l, "revoke"), nil),
		"private": ask(
			"PUT", "/v1/artifacts/"+string(a)+"/visibility", contract.SetVisibility{Visibility: "private"},
		),
		"unlisted": ask(
			"PUT", "/v1/artifacts/"+string(a)+"/visibility", contract.SetVisibility{Visibility: "unlisted"},
		),
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

// newReaderKey is an API key without the right to share.
func newReaderKey(t testing.TB, s *harness.LinkEnv) *wire.Agent {
	return s.NewKey(t, s.Agent, credential.Read)
}

func wantOK(t testing.TB, what string, a wire.Answer) {
	t.Helper()
	if a.Status != http.StatusOK {
		t.Errorf("%s answers %d %s", what, a.Status, a.Body)
	}
}
