package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
)

// TestListsGoOnOnFurtherPages looks at the links around each list that may be long.
func TestListsGoOnOnFurtherPages(t *testing.T) {
	const older, newest = ">Older</a>", ">Newest</a>"
	for path, list := range map[string]string{
		"/keys": "after", "/keys/ended": "after", "/access-links": "after", "/feedback": "after",
		artifactPage: "links", artifactPage + "?": "revisions", "/connections": "agents", "/connections?": "apps",
	} {
		path = strings.TrimSuffix(path, "?")
		expect.Lacks(t, path+" of one page", page(t, path), older, newest)
		first := page(t, path, crowd)
		expect.Has(t, "the first page of "+path, first, `href="`+path+"?"+list+"=next%2Bcursor")
		expect.Lacks(t, "the first page of "+path, first, newest)
		last := page(t, path+"?"+list+"=here")
		expect.Has(t, "the last page of "+path, last, `href="`+path, newest)
		expect.Lacks(t, "the last page of "+path, last, older)
		gone := signedIn(newServices().handler(), "GET", path+"?"+list+"=gone", nil)
		wantRedirect(t, "a cursor of somebody else", gone, path)
	}
}

func TestTheListsOfConnectionsTurnByThemselves(t *testing.T) {
	expect.Has(t, "the page", page(t, "/connections?agents=one&apps=two", crowd),
		`href="/connections?agents=next%2Bcursor&amp;apps=two#agents"`, `aria-label="Pages of agents"`,
		`href="/connections?agents=one&amp;apps=next%2Bcursor#apps"`, `aria-label="Pages of apps"`,
		`href="/connections?apps=two#agents"`, `href="/connections?agents=one#apps"`)
}

func TestKeysThatEndedAreListedApart(t *testing.T) {
	live, ended := page(t, "/keys"), page(t, "/keys/ended")
	expect.Has(t, "the live ones", live, `href="/keys/ended"`, "/keys/"+keyID+"/revoke")
	expect.Lacks(t, "the live ones", live, "Old laptop")
	expect.Has(t, "the ended ones", ended, "Old laptop", ">Revoked<", ">Expired<", "90 days", `href="/keys"`)
	expect.Lacks(t, "the ended ones", ended, "/revoke", `action="/keys"`)
}

func TestAskingToRevokeLooksAtTheOneKey(t *testing.T) {
	s := newServices()
	s.empty = true // whatever lists have
	for path, status := range map[string]int{
		"/keys/" + keyID + "/revoke":                  200,
		"/keys/" + endedKeyID + "/revoke":             404,
		"/keys/key_00000000000000000000000000/revoke": 404,
		"/keys/x/revoke":                              404,
		"/connections/apps/" + grantID + "/unlink":    200,
		"/connections/apps/x/unlink":                  404,
		"/connections/agents/" + agentID + "/unlink":  200,
		"/connections/agents/x/unlink":                404,
	} {
		wantAnswer(t, path, signedIn(s.handler(), "GET", path, nil), status)
	}
}

func TestAWorkspaceWithoutRoomForAKeySaysSo(t *testing.T) {
	s := newServices()
	s.keys.CreateFn = func() error { return fault.New(fault.Forbidden, "revoke one") }
	r := signedIn(s.handler(), "POST", "/keys", url.Values{"name": {"Build server"}, "once": {"page-0123456789"}})
	wantAnswer(t, "the answer", r, http.StatusForbidden, "1000 live API keys", "Revoke one")
}

func TestSigningOutEverywhereSaysThatKeysEnd(t *testing.T) {
	for _, path := range []string{"/settings", "/settings/sign-out-everywhere"} {
		expect.Has(t, path, page(t, path), "API key", "that you made")
	}
}
