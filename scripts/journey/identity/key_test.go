package identity

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// createKeyOnPage makes a key by the form of the page, which needs the cookie only.
func createKeyOnPage(t testing.TB, w *harness.FakeBrowser, name string) (secret string) {
	t.Helper()
	a := w.Post(t, "/keys", url.Values{"name": {name}, "once": {wire.NewKey()}})
	found := shownSecret.FindSubmatch(a.Body)
	if a.Status != http.StatusOK || found == nil {
		t.Fatalf("making a key answers %d %s", a.Status, a.Body)
	}
	return string(found[1])
}

// TestNoKeyHidesBehindRevokedOnes makes a key with a stolen cookie, and many others after it.
func TestNoKeyHidesBehindRevokedOnes(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	w := p.SignedIn(t, "ada@example.org")
	hidden := p.WithBearer(createKeyOnPage(t, w, "hidden"))
	p.Clock.Advance(1e6) // a millisecond, so that the others are newer
	who := &harness.Member{Agent: p.WithBearer(w.CLIToken(t).AccessToken)}
	const buried = 3
	for range buried {
		made := harness.CallAs[contract.CreatedKey](
			t, who, 201, "POST", "/v1/web/keys", contract.CreateKey{Name: "above it"}, harness.KeyHeader()...,
		)
		a := w.Post(t, "/keys/"+string(made.APIKey.ID)+"/revoke", url.Values{"once": {wire.NewKey()}})
		if a.Status != http.StatusSeeOther {
			t.Fatalf("revoking answers %d %s", a.Status, a.Body)
		}
	}
	var rows []contract.WebKey
	for path := "/v1/web/keys?limit=2"; path != ""; {
		list := harness.CallAs[contract.WebKeyList](t, who, 200, "GET", path, nil)
		rows, path = append(rows, list.Items...), ""
		if list.PageInfo.HasMore {
			path = "/v1/web/keys?limit=2&cursor=" + url.QueryEscape(*list.PageInfo.NextCursor)
		}
	}
	if len(rows) != buried+1 || rows[buried].Name != "hidden" || rows[buried].Revoked || !rows[0].Revoked {
		t.Fatalf("the list says %+v", rows)
	}
	for query, code := range map[string]fault.Code{
		"cursor=":   fault.InvalidCursor,
		"cursor=x":  fault.InvalidCursor,
		"limit=0":   fault.InvalidRequest,
		"limit=101": fault.InvalidRequest,
	} {
		for _, list := range []string{"/v1/web/keys?", "/v1/web/access-links?"} {
			harness.WantRefused(t, harness.TryAs(t, who, "GET", list+query, nil), 400, code)
		}
	}
	revoke := "/keys/" + string(rows[buried].ID) + "/revoke"
	if a := w.Get(t, "/keys"); !strings.Contains(string(a.Body), revoke) || strings.Contains(string(a.Body), "above it") {
		t.Error("the page does not show the live key alone")
	}
	a := w.Get(t, "/keys/ended")
	if strings.Contains(string(a.Body), revoke) || strings.Count(string(a.Body), `badge Deleted">Revoked<`) != buried {
		t.Error("the page of ended keys does not show these alone")
	}
	if a := w.Get(t, revoke); a.Status != http.StatusOK {
		t.Errorf("%s answers %d", revoke, a.Status)
	}
	if a := harness.Do(t, hidden, "GET", p.Origins.API+"/v1/whoami", nil); a.Status != http.StatusOK {
		t.Fatalf("the hidden key answers %d", a.Status)
	}
	if a := w.Post(t, "/api/auth/sign-out-everywhere", nil); a.Status != http.StatusSeeOther {
		t.Fatalf("signing out everywhere answers %d", a.Status)
	}
	harness.WantRefused(t, harness.Do(t, hidden, "GET", p.Origins.API+"/v1/whoami", nil), 401, fault.NotAuthenticated)
}
