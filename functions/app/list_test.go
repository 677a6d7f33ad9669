package app

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
)

// TestListsGoOnOnFurtherPages looks at the links around each list that may be long.
func TestListsGoOnOnFurtherPages(t *testing.T) {
	for path, list := range map[string]string{
		"/keys": "after", "/keys/ended": "after", "/access-links": "after", artifactPage: "after", "/connections": "agents", "/connections?": "apps",
	} {
		path = strings.TrimSuffix(path, "?")
		s := newHouse()
		if body := text(t, signedIn(s.handler(), "GET", path, nil)); strings.Contains(body, ">Older</a>") ||
			strings.Contains(body, ">Newest</a>") {
			t.Errorf("%s has pages, and is one", path)
		}
		s.more = true
		body := text(t, signedIn(s.handler(), "GET", path, nil))
		if !strings.Contains(body, `href="`+path+"?"+list+"=next%2Bcursor") || strings.Contains(body, ">Newest</a>") {
			t.Errorf("%s: nothing leads on from the first page", path)
		}
		s.more = false
		body = text(t, signedIn(s.handler(), "GET", path+"?"+list+"=here", nil))
		if strings.Contains(body, ">Older</a>") || !strings.Contains(body, `href="`+path) ||
			!strings.Contains(body, ">Newest</a>") {
			t.Errorf("%s: nothing leads back from the last page", path)
		}
		if r := signedIn(s.handler(), "GET", path+"?"+list+"=gone", nil); r.StatusCode != 303 ||
			r.Header.Get("Location") != path {
			t.Errorf("%s: with a cursor of somebody else: %d to %q", path, r.StatusCode, r.Header.Get("Location"))
		}
	}
}

func TestTheListsOfConnectionsTurnByThemselves(t *testing.T) {
	s := newHouse()
	s.more = true
	body := text(t, signedIn(s.handler(), "GET", "/connections?agents=one&apps=two", nil))
	for _, want := range []string{
		`href="/connections?agents=next%2Bcursor&amp;apps=two#agents"`, `href="/connections?agents=one&amp;apps=next%2Bcursor#apps"`,
		`href="/connections?apps=two#agents"`, `href="/connections?agents=one#apps"`, `aria-label="Pages of agents"`, `aria-label="Pages of apps"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("lacks %q", want)
		}
	}
}

func TestKeysThatEndedAreListedApart(t *testing.T) {
	h := newHouse().handler()
	live, ended := text(t, signedIn(h, "GET", "/keys", nil)), text(t, signedIn(h, "GET", "/keys/ended", nil))
	if strings.Contains(live, "Old laptop") || !strings.Contains(live, `href="/keys/ended"`) ||
		!strings.Contains(live, "/keys/"+keyID+"/revoke") {
		t.Error("live keys are not by themselves")
	}
	for _, want := range []string{"Old laptop", ">Revoked<", ">Expired<", "90 days", `href="/keys"`} {
		if !strings.Contains(ended, want) {
			t.Errorf("the ended ones lack %q", want)
		}
	}
	if strings.Contains(ended, "/revoke") || strings.Contains(ended, `action="/keys"`) {
		t.Error("something can be done to keys that ended")
	}
}

func TestAskingToRevokeLooksAtTheOneKey(t *testing.T) {
	s := newHouse()
	s.empty = true // whatever lists have
	for which, status := range map[string]int{keyID: 200, endedKeyID: 404, "key_00000000000000000000000000": 404, "x": 404} {
		if r := signedIn(s.handler(), "GET", "/keys/"+which+"/revoke", nil); r.StatusCode != status {
			t.Errorf("%s: %d", which, r.StatusCode)
		}
	}
	for path, status := range map[string]int{
		"/connections/apps/" + grantID + "/unlink": 200, "/connections/apps/x/unlink": 404,
		"/connections/agents/" + agentID + "/unlink": 200, "/connections/agents/x/unlink": 404,
	} {
		if r := signedIn(s.handler(), "GET", path, nil); r.StatusCode != status {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
}

// crowded has no room for another key.
type crowded struct{ keyring }

func (crowded) Create(
	context.Context, credential.Actor, idempotency.Command, *idempotency.Record, string, time.Duration,
) (contract.CreatedKey, error) {
	return contract.CreatedKey{}, fault.New(fault.Forbidden, "revoke one")
}

func TestAWorkspaceWithoutRoomForAKeySaysSo(t *testing.T) {
	s := newHouse()
	h, _ := s.host()
	h.Keys = crowded{keyring{s}}
	r := signedIn(h.Handler(), "POST", "/keys", url.Values{"name": {"Build server"}, "once": {"page-0123456789"}})
	if body := text(t, r); r.StatusCode != http.StatusForbidden || !strings.Contains(body, "1000 live API keys") ||
		!strings.Contains(body, "Revoke one") {
		t.Errorf("%d %s", r.StatusCode, body)
	}
}

func TestSigningOutEverywhereSaysThatKeysEnd(t *testing.T) {
	h := newHouse().handler()
	for _, path := range []string{"/settings", "/settings/sign-out-everywhere"} {
		if body := text(t, signedIn(h, "GET", path, nil)); !strings.Contains(body, "API key") ||
			!strings.Contains(body, "that you made") {
			t.Errorf("%s does not tell of API keys", path)
		}
	}
}
