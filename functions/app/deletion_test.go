package app

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/limits"
)

func confirming(name string) url.Values { return url.Values{"confirm": {name}} }

func TestAWorkspaceIsDeletedByItsName(t *testing.T) {
	s := newServices()
	expect.Has(t, "the question", page(t, deletePath), s.actor.Workspace.Name, "14 days")
	if r := s.post(deletePath, confirming(s.actor.Workspace.Name)); !dropsSession(r.Header.Values("Set-Cookie")) {
		t.Errorf("the session goes on: %v", r.Header)
	}
	expect.Has(t, "the page after it", text(t, send(s.handler(), "GET", requestedPath, "")), "14 days")
}

func dropsSession(cookies []string) bool {
	return slices.ContainsFunc(cookies, func(c string) bool {
		return strings.HasPrefix(c, sessionCookie+"=;") && strings.Contains(c, "Max-Age=0")
	})
}

func TestNobodyDeletesAWorkspaceByChance(t *testing.T) {
	for name, c := range map[string]struct {
		set    func(*fakeServices)
		typed  string
		status int
		says   string
	}{
		"another name":         {func(*fakeServices) {}, "harbour survey", 400, "type the name of the workspace exactly"},
		"no name":              {func(*fakeServices) {}, "", 400, "type the name of the workspace exactly"},
		"an old sign-in":       {func(s *fakeServices) { s.actor.AuthenticatedAt = noon.Add(-limits.FreshSignIn) }, "Harbour Survey", 403, "Confirm that it is you"},
		"an unknown sign-in":   {func(s *fakeServices) { s.actor.AuthenticatedAt = time.Time{} }, "Harbour Survey", 403, "Confirm that it is you"},
		"is being deleted now": {deleting(noon.Add(time.Hour)), "Harbour Survey", 401, "This workspace is being deleted"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServices()
			c.set(s)
			r := signedIn(s.handler(), "POST", deletePath, confirming(c.typed))
			wantAnswer(t, "it answers", r, c.status, c.says)
			if slices.ContainsFunc(s.calls, func(call string) bool { return strings.HasPrefix(call, "RequestDeletion") }) {
				t.Errorf("it is done: %v", s.calls)
			}
		})
	}
}

func TestThereIsOnePageWhileAWorkspaceIsBeingDeleted(t *testing.T) {
	s := newServices()
	s.actor.Workspace.DeletesAt = noon.Add(3 * limits.Day)
	for _, path := range []string{"/", "/dashboard", "/artifacts", "/keys", "/connections", "/audit", "/settings", "/claim"} {
		wantRedirect(t, path, signedIn(s.handler(), "GET", path, nil), deletionPath)
	}
	expect.Has(t, "the page", page(t, deletionPath, deleting(s.actor.Workspace.DeletesAt)), "Keep this workspace", "Sign out", s.actor.Workspace.Name, s.actor.Workspace.DeletesAt.UTC().Format("15:04"))
	wantRedirect(t, "keeping", s.post(deletionPath+"/cancel", nil), "/dashboard")
	if !slices.Contains(s.calls, "CancelDeletion") {
		t.Errorf("keeping calls %v", s.calls)
	}
}

func TestAMemberWithoutTheRightSeesWhenTheWorkspaceGoes(t *testing.T) {
	going := all(reader, deleting(noon.Add(limits.Day)))
	expect.Lacks(t, "a reader's page", page(t, deletionPath, going), "Keep this workspace")
	s := newServices()
	going(s)
	wantAnswer(t, "keeping answers", s.post(deletionPath+"/cancel", nil), 403)
}

func TestAWorkspaceThatStaysHasNoSuchPage(t *testing.T) {
	wantRedirect(t, "the page", signedIn(newServices().handler(), "GET", deletionPath, nil), "/dashboard")
}

func TestOnlyOurOwnAppsGetInWhileAWorkspaceIsBeingDeleted(t *testing.T) {
	for own, want := range map[bool]int{true: 200, false: 303} {
		s := newServices()
		deleting(noon.Add(limits.Day))(s)
		if own {
			s.apps.ConsentFn = ownApp
		}
		r := signedIn(s.handler(), "GET", "/oauth/consent?req=x", nil)
		wantAnswer(t, fmt.Sprintf("our own: %t", own), r, want)
	}
}
