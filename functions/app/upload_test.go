package app

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/manual"
)

const (
	sessionsPath = "/api/upload-sessions"
	finalizePath = sessionsPath + "/" + sessionID + "/finalize"
	publishPath  = "/api/artifacts/" + artifactID + "/revisions/" + draftID + "/publish"
	oneFile      = `{"title":"Seals","entrypoint":"index.html","files":[{"path":"index.html","size_bytes":3}]}`
)

// uploadCalls are the calls that publish a file, in their order.
var uploadCalls = []struct{ path, body, change string }{
	{sessionsPath, oneFile, "Create Seals"},
	{finalizePath, "", "Finalize " + sessionID},
	{publishPath, "", "Publish " + artifactID + " " + draftID},
}

// scripted sends a call of a page's script in a member's browser.
func scripted(h http.Handler, path, body string, header ...string) *http.Response {
	return send(h, "POST", path, body, append([]string{
		"Cookie", sessionCookie + "=" + secret, "Sec-Fetch-Site", "same-origin", "Content-Type", "application/json",
		"Idempotency-Key", "browser-0123456789",
	}, header...)...)
}

func TestFilesArePublishedByThreeCalls(t *testing.T) {
	s := newServices()
	h := s.handler()
	var made contract.Session
	for n, c := range uploadCalls {
		r := scripted(h, c.path, c.body)
		wantHeaders(t, c.path, r, "Cache-Control", "no-store", "Access-Control-Allow-Origin", "")
		body := wantAnswer(t, c.path, r, http.StatusOK)
		if n == 0 {
			if err := json.Unmarshal([]byte(body), &made); err != nil {
				t.Fatal(err)
			}
			if made.UploadSessionID != sessionID || made.Files[0].PutURL == "" || made.Files[0].RequiredHeaders == nil {
				t.Errorf("the session is %s", body)
			}
		}
		if s.changes[n] != c.change || s.commands[n].Key.Client != "browser-0123456789" {
			t.Errorf("changed %s by %+v", s.changes[n], s.commands[n])
		}
	}
	expect.Has(t, "the draft", text(t, scripted(h, finalizePath, "")), `"warnings":[{`, "a.png")
	expect.Has(t, "the revision", text(t, scripted(h, publishPath, "")), `"path":"/artifacts/`+artifactID+`"`)
}

func TestFilesThatChangeNothingOpenNoSession(t *testing.T) {
	s := newServices()
	s.uploads.same = newestID
	body := strings.Replace(oneFile, "{", `{"artifact_id":"`+artifactID+`",`, 1)
	wantAnswer(t, "the answer", scripted(s.handler(), sessionsPath, body), 200, `{"unchanged_revision_id":"`+newestID+`"}`)
	if len(s.changes) > 0 {
		t.Errorf("changed %v", s.changes)
	}
}

func TestWholeFilesAloneAreDeclared(t *testing.T) {
	s := newServices()
	more := `{"base_revision_id":"` + newestID + `","deleted_paths":["a"],"render_mode":"text",`
	body := strings.Replace(oneFile, "{", more, 1)
	wantAnswer(t, "the answer", scripted(s.handler(), sessionsPath, body), 200)
	if a := s.uploads.asked; a.BaseRevisionID != "" || a.DeletedPaths != nil || a.RenderMode != "" || len(a.Files) != 1 {
		t.Errorf("asked for %+v", a)
	}
}

func TestPublishingFromABrowserIsRefused(t *testing.T) {
	reader := func(s *fakeServices) { s.actor.Scopes = []credential.Scope{credential.Read} }
	many := func(s *fakeServices) {
		s.limiter.ActorFn = func() error { return fault.New(fault.RateLimitedActor, "too many").After(time.Minute) }
	}
	broken := func(s *fakeServices) { s.fail = fault.NewCode(fault.DatabaseUnavailable) }
	nobody := []string{"Cookie", ""}
	other := []string{"Sec-Fetch-Site", "", "Origin", "https://example.org"}
	for name, tt := range map[string]struct {
		set    func(*fakeServices)
		header []string
		status int
		code   fault.Code
	}{
		"without a session":        {nil, nobody, 401, fault.NotAuthenticated},
		"without the right":        {reader, nil, 403, fault.Forbidden},
		"from another site":        {nil, []string{"Sec-Fetch-Site", "cross-site"}, 403, fault.Forbidden},
		"from a sibling site":      {nil, []string{"Sec-Fetch-Site", "same-site"}, 403, fault.Forbidden},
		"from another origin":      {nil, other, 403, fault.Forbidden},
		"as a form of a page":      {nil, []string{"Idempotency-Key", ""}, 400, fault.InvalidIdempotencyKey},
		"too often":                {many, nil, 429, fault.RateLimitedActor},
		"while nothing is written": {broken, nil, 503, fault.DatabaseUnavailable},
	} {
		for _, c := range uploadCalls {
			s := newServices()
			if tt.set != nil {
				tt.set(s)
			}
			r := scripted(s.handler(), c.path, c.body, tt.header...)
			wantAnswer(t, c.path+" "+name, r, tt.status, `"code":"`+string(tt.code)+`"`)
			if tt.status != 503 && len(s.changes) > 0 {
				t.Errorf("%s %s: changed %v", c.path, name, s.changes)
			}
		}
	}
}

func TestUnusableDeclarationsAreRefused(t *testing.T) {
	s := newServices()
	h := s.handler()
	for name, body := range map[string]string{
		"no object":       `[]`,
		"a title twice":   `{"title":"a","title":"b"}`,
		"files as a word": `{"title":"a","files":"b"}`,
		"no artifact":     `{"artifact_id":"art_1"}`,
		"more than 1 MiB": `{"title":"` + strings.Repeat("a", limits.JSONBody) + `"}`,
	} {
		wantAnswer(t, name, scripted(h, sessionsPath, body), 400, `"code":"invalid_request"`)
	}
	wantAnswer(t, "a form", scripted(h, sessionsPath, oneFile, "Content-Type", formType), 400)
	if len(s.calls) > 0 {
		t.Errorf("called %v", s.calls)
	}
}

func TestRefusalsOfFilesAreTold(t *testing.T) {
	for code, status := range map[fault.Code]int{
		fault.FileSizeCapExceeded: 400, fault.FileCountCapExceeded: 400, fault.RevisionSizeCapExceeded: 400,
		fault.DraftRevisionConflict: 409, fault.WriteAllowanceExceeded: 429,
	} {
		s := newServices()
		s.fail = fault.New(code, "it passes 7")
		wantAnswer(t, string(code), scripted(s.handler(), sessionsPath, oneFile), status, string(code), "it passes 7")
	}
}

func TestOnlySessionsOfTheWorkspaceAreFinalized(t *testing.T) {
	s := newServices()
	h := s.handler()
	var answers []string
	for _, u := range []string{diffSessionID, alienSession, "upl_00000000000000000000000000", "x"} {
		var problem contract.Envelope
		r := scripted(h, sessionsPath+"/"+u+"/finalize", "")
		if err := json.Unmarshal([]byte(wantAnswer(t, u, r, 404)), &problem); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, problem.Error.Code+problem.Error.Message)
	}
	wantAnswer(t, "another artifact", scripted(h, strings.Replace(publishPath, artifactID, strangeID, 1), ""), 404)
	if len(slices.Compact(answers)) != 1 || len(s.changes) > 0 {
		t.Errorf("answers %q, changed %v", answers, s.changes)
	}
}

func TestPagesThatPublishSendFilesToOneOriginMore(t *testing.T) {
	const sends = "connect-src 'self' http://localhost:8702;"
	reader := func(s *fakeServices) { s.actor.Scopes = []credential.Scope{credential.Read} }
	for _, path := range []string{"/dashboard", artifactPage} {
		r := signedIn(newServices().handler(), "GET", path, nil)
		expect.Has(t, "the policy of "+path, r.Header.Get(policyHeader), sends, "script-src 'self';")
		expect.Has(t, path, text(t, r), `data-part="upload"`, `publish.js"`, "node_modules", "<noscript>")
		s := newServices()
		reader(s)
		r = signedIn(s.handler(), "GET", path, nil)
		expect.Lacks(t, "the policy for readers", r.Header.Get(policyHeader), "8702")
		expect.Lacks(t, path+" for readers", text(t, r), `data-part="upload"`, "publish.js")
	}
	for _, path := range []string{"/artifacts", "/keys"} {
		r := signedIn(newServices().handler(), "GET", path, nil)
		expect.Lacks(t, "the policy of "+path, r.Header.Get(policyHeader), "8702")
	}
	for name, state := range map[string]func(*fakeServices){"ended": ended, "deleted": deleted, "closed": closed} {
		expect.Lacks(t, "what has "+name, page(t, artifactPage, state), `data-part="upload"`)
	}
}

func TestTheEmptyOverviewOffersThreeWays(t *testing.T) {
	body := page(t, "/dashboard", func(s *fakeServices) { s.empty = true })
	expect.Has(t, "the overview", body, "Drop files or a folder here", `data-copies="install"`,
		"curl -fsSL http://localhost:8704/install.sh | sh", "VITRINE_URL=http://localhost:8701 vitrine publish ./report",
		"There are two ways")
	expect.Lacks(t, "without an MCP host, the overview", body, "vitrine connect", "mcp add")
}

func TestPagesSayHowAgentsAreConnected(t *testing.T) {
	const mcp = "http://localhost:8705"
	s := newServices()
	s.empty = true
	h, _ := s.host()
	h.Origins.MCP = mcp
	handler := h.Handler()
	for path, body := range map[string]string{
		"/":          text(t, send(handler, "GET", "/", "")),
		"/dashboard": text(t, signedIn(handler, "GET", "/dashboard", nil)),
		"/artifacts": text(t, signedIn(handler, "GET", "/artifacts", nil)),
	} {
		expect.Has(t, path, body, "VITRINE_URL=http://localhost:8701 vitrine connect", `data-copies="connect"`,
			"<code>/mcp auth vitrine</code>, typed into Gemini CLI")
		for _, c := range manual.Clients(mcp) {
			expect.Has(t, path, body, c.Name+":", ">"+c.Add+"<", c.SignIn)
		}
		if strings.Index(body, "vitrine connect") > strings.Index(body, "claude mcp add") {
			t.Errorf("%s names the commands of others first", path)
		}
	}
	expect.Has(t, "the overview", text(t, signedIn(handler, "GET", "/dashboard", nil)), "There are three ways")
}
