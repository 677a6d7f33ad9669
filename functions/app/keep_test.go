package app

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"vitrine/shared/platform/id"
)

// answered sends a request with the cookie of a question.
func answered(h http.Handler, method, secret string, form url.Values, header ...string) *http.Response {
	r := httptest.NewRequest(method, "http://localhost:8704"+keepPath, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.AddCookie(&http.Cookie{Name: takeoverCookie, Value: secret})
	for n := 0; n < len(header); n += 2 {
		r.Header.Set(header[n], header[n+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func TestT82ASignInThatWaitsForAnAnswerOpensNoSession(t *testing.T) {
	s := newHouse()
	s.finished.Session, s.finished.Question = "", questionText
	r := send(s.handler(), "GET", "/api/auth/callback?state=s&code=c", "", "Cookie", signinCookie+"=Ym91bmQ")
	if r.StatusCode != 303 || r.Header.Get("Location") != keepPath {
		t.Fatal(r.Status, r.Header)
	}
	for _, c := range r.Cookies() {
		if c.Name == sessionCookie && c.MaxAge >= 0 {
			t.Error("a session is open before the answer")
		}
	}
}

func TestT82ThePageShowsTheAgentsAndNothingElse(t *testing.T) {
	s := newHouse()
	vouching(s)
	body := text(t, answered(s.handler(), "GET", questionText, nil))
	for _, d := range s.linked {
		if !strings.Contains(body, `name="keep-`+string(d.ID())+`"`) || !strings.Contains(body, d.Provider) {
			t.Errorf("%s is not asked for:\n%s", d.Provider, body)
		}
	}
	for _, private := range []string{s.name, s.title, string(homeID), string(memberID), questionText, "checked"} {
		if strings.Contains(body, private) {
			t.Errorf("the page shows %q", private)
		}
	}
	if !strings.Contains(body, "agents.example") || strings.Contains(body, "/tenant") {
		t.Error("the provider's host is not on the page")
	}
	if r := answered(s.handler(), "GET", "x", nil); r.StatusCode != 400 || !strings.Contains(text(t, r), "Sign in again") {
		t.Error(r.Status)
	}
}

func TestT82TheAnswerKeepsWhatIsTickedAndSignsIn(t *testing.T) {
	s := newHouse()
	vouching(s)
	h := s.handler()
	keep := s.linked[1].ID()
	form := url.Values{"question": {mark(questionText)}, "keep-" + string(keep): {"yes"}, "keep-odd": {"yes"}}
	r := answered(h, "POST", questionText, form)
	if r.StatusCode != 303 || r.Header.Get("Location") != "/keys" {
		t.Fatal(r.Status, r.Header)
	}
	if len(s.kept) != 1 || s.kept[0] != keep {
		t.Errorf("kept %v", s.kept)
	}
	cookies := map[string]string{}
	for _, c := range r.Cookies() {
		cookies[c.Name] = c.Value
	}
	if cookies[sessionCookie] != s.finished.Session || cookies[takeoverCookie] != "" {
		t.Errorf("%v", cookies)
	}
}

func TestT82AnAnswerIsForWhatThePageShowed(t *testing.T) {
	s := newHouse()
	vouching(s)
	h := s.handler()
	r := answered(h, "POST", questionText, url.Values{"question": {mark("another")}})
	if r.StatusCode != 303 || r.Header.Get("Location") != keepPath || len(s.calls) != 0 {
		t.Error(r.Status, s.calls)
	}
	form := url.Values{"question": {mark(questionText)}}
	if r := answered(h, "POST", questionText, form, "Sec-Fetch-Site", "cross-site"); r.StatusCode != 403 ||
		len(s.calls) != 0 {
		t.Error(r.Status, s.calls)
	}
	if r := answered(h, "POST", "x", url.Values{"question": {mark("x")}}); r.StatusCode != 400 || len(s.calls) != 0 {
		t.Error(r.Status, s.calls)
	}
}

func TestProvidersAreListedAndEndWithAQuestion(t *testing.T) {
	s := newHouse()
	vouching(s)
	h := s.handler()
	which := s.linked[0].ID()
	path := "/connections/providers/" + string(which) + "/unlink"
	body := text(t, signedIn(h, "GET", "/connections", nil))
	for _, want := range []string{path, "agents.example", s.linked[0].Email, "Night Desk", "<dd>read, publish</dd>"} {
		if !strings.Contains(body, want) {
			t.Errorf("lacks %q:\n%s", want, body)
		}
	}
	if body := text(t, signedIn(h, "GET", path, nil)); !strings.Contains(body, `action="`+path+`"`) {
		t.Errorf("asks nothing:\n%s", body)
	}
	other := id.DelegationOf("a", "b", "c")
	if r := signedIn(h, "GET", "/connections/providers/"+string(other)+"/unlink", nil); r.StatusCode != 404 {
		t.Error(r.Status)
	}
	r := signedIn(h, "POST", path, nil)
	if r.StatusCode != 303 || r.Header.Get("Location") != "/connections" ||
		s.calls[len(s.calls)-1] != "Unlink "+string(which) {
		t.Error(r.Status, s.calls)
	}
}

func TestAStepUpSaysWhichProviderVouches(t *testing.T) {
	s := newHouse()
	vouching(s)
	body := text(t, send(s.handler(), "GET", agentPath, "", "Cookie",
		sessionCookie+"="+secret+"; "+attemptCookie+"="+attemptText))
	for _, want := range []string{"agents.example", s.client, s.email, "read, publish"} {
		if !strings.Contains(body, want) {
			t.Errorf("lacks %q:\n%s", want, body)
		}
	}
	if strings.Contains(body, s.title) {
		t.Error("the member's artifacts are shown as the agent's")
	}
}
