package app

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/id"
)

// answered sends a request with the cookie of a question.
func answered(h http.Handler, method, secret string, form url.Values, header ...string) *http.Response {
	header = append([]string{"Content-Type", formType, "Cookie", takeoverCookie + "=" + secret}, header...)
	return send(h, method, keepPath, form.Encode(), header...)
}

func TestT82ASignInThatWaitsForAnAnswerOpensNoSession(t *testing.T) {
	s := newServices()
	s.signIns.finished.Session, s.signIns.finished.Question = "", questionText
	r := send(s.handler(), "GET", "/api/auth/callback?state=s&code=c", "", "Cookie", signinCookie+"=Ym91bmQ")
	wantRedirect(t, "the callback", r, keepPath)
	for _, c := range r.Cookies() {
		if c.Name == sessionCookie && c.MaxAge >= 0 {
			t.Error("a session is open before the answer")
		}
	}
}

func TestT82ThePageShowsTheAgentsAndNothingElse(t *testing.T) {
	s := newServices()
	vouching(s)
	body := text(t, answered(s.handler(), "GET", questionText, nil))
	for _, d := range s.linked {
		if !strings.Contains(body, `name="keep-`+string(d.ID())+`"`) || !strings.Contains(body, d.Provider) {
			t.Errorf("%s is not asked for:\n%s", d.Provider, body)
		}
	}
	expect.Lacks(t, "the page", body, s.actor.Workspace.Name, s.title, string(homeID), string(memberID), questionText, "checked", "/tenant")
	expect.Has(t, "the page", body, "agents.example")
	wantAnswer(t, "another question", answered(s.handler(), "GET", "x", nil), 400, "Sign in again")
}

func TestT82TheAnswerKeepsWhatIsTickedAndSignsIn(t *testing.T) {
	s := newServices()
	vouching(s)
	h := s.handler()
	keep := s.linked[1].ID()
	form := url.Values{"question": {mark(questionText)}, "keep-" + string(keep): {"yes"}, "keep-odd": {"yes"}}
	r := answered(h, "POST", questionText, form)
	wantRedirect(t, "the answer", r, "/keys")
	if len(s.signIns.kept) != 1 || s.signIns.kept[0] != keep {
		t.Errorf("kept %v", s.signIns.kept)
	}
	cookies := map[string]string{}
	for _, c := range r.Cookies() {
		cookies[c.Name] = c.Value
	}
	if cookies[sessionCookie] != s.signIns.finished.Session || cookies[takeoverCookie] != "" {
		t.Errorf("%v", cookies)
	}
}

func TestT82AnAnswerIsForWhatThePageShowed(t *testing.T) {
	s := newServices()
	vouching(s)
	h := s.handler()
	r := answered(h, "POST", questionText, url.Values{"question": {mark("another")}})
	wantRedirect(t, "an answer to another question", r, keepPath)
	form := url.Values{"question": {mark(questionText)}}
	wantAnswer(t, "another site", answered(h, "POST", questionText, form, "Sec-Fetch-Site", "cross-site"), 403)
	wantAnswer(t, "no question", answered(h, "POST", "x", url.Values{"question": {mark("x")}}), 400)
	wantCalls(t, "all of it", s)
}

func TestProvidersAreListedAndEndWithAQuestion(t *testing.T) {
	s := newServices()
	vouching(s)
	h := s.handler()
	which := s.linked[0].ID()
	path := "/connections/providers/" + string(which) + "/unlink"
	expect.Has(t, "the page", page(t, "/connections", vouching), path, "agents.example", s.linked[0].Email, "Night Desk", "<dd>read, publish</dd>")
	expect.Has(t, "the question", page(t, path, vouching), `action="`+path+`"`)
	other := id.DelegationOf("a", "b", "c")
	wantAnswer(t, "another one", signedIn(h, "GET", "/connections/providers/"+string(other)+"/unlink", nil), 404)
	wantRedirect(t, "the answer", signedIn(h, "POST", path, nil), "/connections")
	if !slices.Contains(s.calls, "Unlink "+string(which)) {
		t.Error(s.calls)
	}
}

func TestAStepUpSaysWhichProviderVouches(t *testing.T) {
	s := newServices()
	body := page(t, agentPath, vouching)
	expect.Has(t, "the page", body, "agents.example", s.client, s.email, "read, publish")
	expect.Lacks(t, "the page", body, s.title) // the member's artifacts are not the agent's
}
