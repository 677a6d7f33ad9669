package deletion

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// reader asks for something of an artifact, on some host.
type reader func(testing.TB) wire.Answer

// readers are all ways in which people without an account read an artifact, and how its members' pages follow it.
func readers(t testing.TB, p *person, made contract.Published) map[string]reader {
	t.Helper()
	s := p.s
	link := harness.MintLink(t, p.Agent, harness.CreateLink(t, p.Agent, made.ArtifactID, harness.RevisionLink(made.RevisionID)).ID)
	opened := harness.Must(s.Anyone.Resolve(ctx, link))(t)
	view := harness.Must(p.AgentView(ctx, made.ArtifactID))(t)
	if view.Bundle.URL == "" {
		t.Fatalf("the bundle is %+v", view.Bundle)
	}
	public, blob, err := wire.SplitLink(link)
	harness.NoError(t, err)
	resolve := contract.ResolveRequest{PublicID: public, Blob: blob}
	get := func(target string) reader {
		return func(t testing.TB) wire.Answer { return harness.Do(t, s.Anyone, "GET", target, nil) }
	}
	post := func(target string, body any) reader {
		return func(t testing.TB) wire.Answer { return harness.Do(t, s.Anyone, "POST", target, body) }
	}
	return map[string]reader{
		"content, a file":              get(made.RevisionContentURL),
		"content, a file by a link":    get(opened.IframeSrc),
		"content, the bundle":          get(view.Bundle.URL),
		"api, public agent view":       get(made.AgentViewURL),
		"api, a link":                  post(s.Origins.API+"/v1/access-links/resolve", resolve),
		"app, a link":                  post(s.Origins.App+"/api/access-links/resolve", resolve),
		"app, the live poll of a link": post(s.Origins.App+"/api/live/access-links/"+string(public), map[string]any{"blob": blob, "revision_id": made.RevisionID}),
	}
}

// credentials are calls of every host that authenticates.
func credentials(p *person, made contract.Published, grant *harness.Member) map[string]reader {
	s := p.s
	as := func(g *wire.Agent, method, target string, body any, headers ...string) reader {
		return func(t testing.TB) wire.Answer { return harness.Do(t, g, method, target, body, headers...) }
	}
	artifact := s.Origins.API + "/v1/artifacts/" + string(made.ArtifactID)
	declared := wire.Declare("more", harness.Page("more"))
	rpc := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": map[string]any{}}
	return map[string]reader{
		"api, whoami":           as(p.Agent, "GET", s.Origins.API+"/v1/whoami", nil),
		"api, the list":         as(p.Agent, "GET", s.Origins.API+"/v1/artifacts", nil),
		"api, agent view":       as(p.Agent, "GET", artifact+"/agent-view", nil),
		"api, a file":           as(p.Agent, "GET", artifact+"/file-content?path=index.html", nil),
		"api, a new link":       as(p.Agent, "POST", artifact+"/access-links", harness.ShareLink, harness.KeyHeader()...),
		"upload, a new session": as(p.Agent, "POST", s.Origins.Upload+"/v1/upload-sessions", declared, harness.KeyHeader()...),
		"api, the workspace":    as(p.member.Agent, "GET", s.Origins.API+"/v1/web/workspace", nil),
		"api, a new key":        as(p.member.Agent, "POST", s.Origins.API+"/v1/web/keys", contract.CreateKey{Name: "x"}, harness.KeyHeader()...),
		"mcp, the tools": as(grant.Agent, "POST", s.Origins.MCP+"/", rpc,
			"Accept", "application/json, text/event-stream", "Content-Type", "application/json"),
	}
}

func TestEveryReadAndEveryCredentialEndsAtTheCommitAndComesBack(t *testing.T) {
	t.Parallel()
	s := harness.NewPeopleEnv(t, harness.Unlimited, longLives)
	p := newPerson(t, s, "ada@example.org")
	made, gone := harness.PublishPage(t, p.Agent, "shared"), harness.PublishPage(t, p.Agent, "deleted before")
	harness.NoError(t, s.Bundler.Run(ctx))
	shared, ended := readers(t, p, made), readers(t, p, gone)
	grant := s.GrantTo(t, &harness.Member{ID: memberOf(t, p), Workspace: p.workspace.ID}, id.NewClient(), s.Origins.MCP)
	calls := credentials(p, made, grant)
	for name, ask := range shared {
		if a := ask(t); a.Status/100 != 2 {
			t.Fatalf("%s answers %d %s", name, a.Status, a.Body)
		}
	}
	for name, ask := range calls {
		if a := ask(t); a.Status/100 != 2 {
			t.Fatalf("%s answers %d %s", name, a.Status, a.Body)
		}
	}
	harness.DeleteArtifact(t, p.Agent, gone.ArtifactID)
	d := p.delete(t)
	for name, ask := range shared {
		if a, like := ask(t), ended[name](t); a.Status != 404 || like.Status != 404 || a.Code() != like.Code() {
			t.Errorf("%s answers %d %s; a deleted artifact %d %s", name, a.Status, a.Code(), like.Status, like.Code())
		}
	}
	for name, ask := range calls {
		a := ask(t)
		if a.Status != 401 {
			t.Errorf("%s answers %d %s", name, a.Status, a.Body)
		}
		day := d.DeletesAt.Format("2006-01-02")
		if !strings.HasPrefix(name, "mcp") && (a.Code() != fault.NotAuthenticated || !strings.Contains(a.Message(), day)) {
			t.Errorf("%s says %s %q, not when it goes", name, a.Code(), a.Message())
		}
	}
	for _, path := range []string{"/dashboard", "/settings"} { // the session has ended
		if a := p.browser.Get(t, path); a.Status != 303 || !strings.Contains(a.Header.Get("Location"), "sign-in") {
			t.Errorf("%s answers %d %s", path, a.Status, a.Header.Get("Location"))
		}
	}
	s.Clock.Advance(limits.DeletionGrace - limits.SessionIdle)
	p.signIn(t)
	if back := p.keep(t); back.Status != contract.WorkspaceActive || back.DeletesAt != nil {
		t.Errorf("kept as %+v", back)
	}
	harness.PublishPage(t, p.Agent, "the key works again")
	view := harness.Must(p.AgentView(ctx, made.ArtifactID))(t) // with fresh URLs, because the old ones live a week
	s.WantContent(t, view.Files[0].URL, harness.Page("shared").Body)
	if a := harness.Do(t, grant.Agent, "POST", s.Origins.MCP+"/", "{}"); a.Status != 401 {
		t.Errorf("a connected app answers %d after it ended", a.Status)
	}
	if told := actions(t, s, p.workspace.ID); strings.Count(strings.Join(told, " "), "workspace.deletion.") != 2 {
		t.Errorf("the record tells %v", told)
	}
	s.Clock.Advance(limits.DeletionGrace)
	harness.NoError(t, s.Host.Run(ctx))
	if a := harness.Do(t, p.Agent, "GET", s.Origins.API+"/v1/whoami", nil); a.Status != 200 {
		t.Errorf("a workspace that was kept answers %d after its old date", a.Status)
	}
}

// memberOf is the id of the person's member.
func memberOf(t testing.TB, p *person) id.Member {
	t.Helper()
	w := harness.CallAs[contract.WebWorkspace](t, p.member, 200, "GET", "/v1/web/workspace", nil)
	return w.WorkspaceMember.ID
}

func TestAPersonDeletesAWorkspaceOnThePagesAndSignsUpAgain(t *testing.T) {
	t.Parallel()
	s := harness.NewPeopleEnv(t, harness.Unlimited)
	p := newPerson(t, s, "ada@example.org")
	harness.PublishPage(t, p.Agent, "mine")
	a := p.post(t, "/settings/delete", url.Values{"confirm": {"no"}})
	harness.WantPage(t, "a wrong name", a, 400, "type the name of the workspace exactly")
	harness.WantPage(t, "the question", p.browser.Get(t, "/settings/delete"), 200,
		"Only the operator of this service can still reach what was deleted: for up to 35 days")
	a = p.post(t, "/settings/delete", url.Values{"confirm": {p.workspace.Name}})
	if a.Status != http.StatusSeeOther || a.Header.Get("Location") != "/deletion/requested" ||
		p.browser.Cookies[harness.SessionCookie] != "" {
		t.Fatalf("the form answers %d %v", a.Status, a.Header)
	}
	harness.WantPage(t, "the page after it", p.browser.Get(t, "/deletion/requested"), 200, "Your workspace is closed")
	p.browser = s.SignedIn(t, p.email)
	for _, path := range []string{"/", "/dashboard", "/keys", "/audit"} {
		if a := p.browser.Get(t, path); a.Status != 303 || a.Header.Get("Location") != "/deletion" {
			t.Errorf("%s answers %d %s", path, a.Status, a.Header.Get("Location"))
		}
	}
	harness.WantPage(t, "the only page", p.browser.Get(t, "/deletion"), 200, "Keep this workspace")
	if a := p.post(t, "/deletion/cancel", url.Values{}); a.Header.Get("Location") != "/dashboard" {
		t.Fatalf("keeping answers %d", a.Status)
	}
	harness.WantPage(t, "the record", p.browser.Get(t, "/audit"), 200, "You kept the workspace")
	p.signIn(t)
	p.delete(t)
	s.Clock.Advance(limits.DeletionGrace)
	harness.NoError(t, s.Host.Run(ctx)) // it begins, and waits for the indexes
	w := s.NewFakeBrowser()
	harness.WantPage(t, "a sign-in in between", w.SignIn(t, "/", p.email), 403, "Your workspace is being deleted")
	p.runToTheEnd(t)
	wantGone(t, s, p)
	again := newPerson(t, s, p.email)
	if again.workspace.ID == p.workspace.ID {
		t.Error("the person is in the workspace that is gone")
	}
	harness.PublishPage(t, again.Agent, "from the start")
	var list contract.ArtifactList
	harness.Decode(t, harness.Do(t, again.Agent, "GET", s.Origins.API+"/v1/artifacts", nil), &list)
	if len(list.Data) != 1 {
		t.Errorf("the new workspace has %d artifacts", len(list.Data))
	}
}
