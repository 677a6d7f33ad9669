package app

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/limits"
)

// justSignedIn is a house whose member signed in a moment ago.
func justSignedIn() *house {
	s := newHouse()
	s.authenticated = noon
	return s
}

func confirming(name string) url.Values { return url.Values{"confirm": {name}} }

func TestAWorkspaceIsDeletedByItsName(t *testing.T) {
	s := justSignedIn()
	page := signedIn(s.handler(), "GET", deletePath, nil)
	if body := text(t, page); page.StatusCode != 200 || !strings.Contains(body, s.name) ||
		!strings.Contains(body, "14 days") {
		t.Fatalf("the question is %d %s", page.StatusCode, body)
	}
	r := signedIn(s.handler(), "POST", deletePath, confirming(s.name))
	if r.StatusCode != 303 || r.Header.Get("Location") != requestedPath || !dropsSession(r.Header.Values("Set-Cookie")) {
		t.Errorf("it answers %d %v", r.StatusCode, r.Header)
	}
	if !slices.Contains(s.calls, "RequestDeletion "+s.name) {
		t.Errorf("the calls are %v", s.calls)
	}
	if told := text(t, send(s.handler(), "GET", requestedPath, "")); !strings.Contains(told, "14 days") {
		t.Errorf("the page after it is %s", told)
	}
}

func dropsSession(cookies []string) bool {
	return slices.ContainsFunc(cookies, func(c string) bool {
		return strings.HasPrefix(c, sessionCookie+"=;") && strings.Contains(c, "Max-Age=0")
	})
}

func TestNobodyDeletesAWorkspaceByChance(t *testing.T) {
	for name, c := range map[string]struct {
		set    func(*house)
		typed  string
		status int
		says   string
	}{
		"another name":         {func(*house) {}, "harbour survey", 400, "type the name of the workspace exactly"},
		"no name":              {func(*house) {}, "", 400, "type the name of the workspace exactly"},
		"an old sign-in":       {func(s *house) { s.authenticated = noon.Add(-limits.FreshSignIn) }, "Harbour Survey", 403, "Confirm that it is you"},
		"an unknown sign-in":   {func(s *house) { s.authenticated = time.Time{} }, "Harbour Survey", 403, "Confirm that it is you"},
		"without right to":     {func(s *house) { s.scopes = []credential.Scope{credential.Read} }, "Harbour Survey", 403, ""},
		"is being deleted now": {deleting(noon.Add(time.Hour)), "Harbour Survey", 401, "This workspace is being deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			s := justSignedIn()
			c.set(s)
			r := signedIn(s.handler(), "POST", deletePath, confirming(c.typed))
			if body := text(t, r); r.StatusCode != c.status || !strings.Contains(body, c.says) {
				t.Errorf("it answers %d %s", r.StatusCode, body)
			}
			if slices.ContainsFunc(s.calls, func(call string) bool { return strings.HasPrefix(call, "RequestDeletion") }) {
				t.Errorf("it is done: %v", s.calls)
			}
		})
	}
}

func TestThereIsOnePageWhileAWorkspaceIsBeingDeleted(t *testing.T) {
	s := justSignedIn()
	s.deletes = noon.Add(3 * limits.Day)
	for _, path := range []string{"/", "/dashboard", "/artifacts", "/keys", "/connections", "/audit", "/settings", "/claim"} {
		if r := signedIn(s.handler(), "GET", path, nil); r.StatusCode != 303 || r.Header.Get("Location") != deletionPath {
			t.Errorf("%s answers %d to %s", path, r.StatusCode, r.Header.Get("Location"))
		}
	}
	page := text(t, signedIn(s.handler(), "GET", deletionPath, nil))
	for _, part := range []string{"Keep this workspace", "Sign out", s.name, s.deletes.UTC().Format("15:04")} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q: %s", part, page)
		}
	}
	r := signedIn(s.handler(), "POST", deletionPath+"/cancel", url.Values{})
	if r.StatusCode != 303 || r.Header.Get("Location") != "/dashboard" || !slices.Contains(s.calls, "CancelDeletion") {
		t.Errorf("keeping answers %d, calls %v", r.StatusCode, s.calls)
	}
}

func TestAMemberWithoutTheRightSeesWhenTheWorkspaceGoes(t *testing.T) {
	s := newHouse()
	s.deletes, s.scopes = noon.Add(limits.Day), []credential.Scope{credential.Read}
	if page := text(t, signedIn(s.handler(), "GET", deletionPath, nil)); strings.Contains(page, "Keep this workspace") {
		t.Error("the page offers what is refused")
	}
	if r := signedIn(s.handler(), "POST", deletionPath+"/cancel", url.Values{}); r.StatusCode != 403 {
		t.Errorf("keeping answers %d", r.StatusCode)
	}
}

func TestAWorkspaceThatStaysHasNoSuchPage(t *testing.T) {
	s := newHouse()
	r := signedIn(s.handler(), "GET", deletionPath, nil)
	if r.StatusCode != 303 || r.Header.Get("Location") != "/dashboard" {
		t.Errorf("it answers %d to %s", r.StatusCode, r.Header.Get("Location"))
	}
}

func TestOnlyOurOwnAppsGetInWhileAWorkspaceIsBeingDeleted(t *testing.T) {
	for own, want := range map[bool]int{true: 200, false: 303} {
		s := newHouse()
		s.deletes, s.firstParty = noon.Add(limits.Day), own
		r := signedIn(s.handler(), "GET", "/oauth/consent?req=x", nil)
		if r.StatusCode != want {
			t.Errorf("our own %t: %d", own, r.StatusCode)
		}
	}
}
