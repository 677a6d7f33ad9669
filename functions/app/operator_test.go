package app

import (
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/billing"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// operatorOf are services whose member is an operator since an instant.
func operatorOf(since time.Time) *fakeServices {
	s := newServices()
	s.actor.Operator = since
	return s
}

func TestToOthersThePagesOfOperatorsAreNotThere(t *testing.T) {
	s := newServices()
	h := s.handler()
	for name, ask := range map[string]func(http.Handler, string, string, url.Values, ...string) *http.Response{
		"a member": signedIn,
		"a stranger": func(h http.Handler, method, path string, fields url.Values, header ...string) *http.Response {
			return send(h, method, path, fields.Encode(), append(header, "Content-Type", formType)...)
		},
	} {
		plain := text(t, ask(h, "GET", "/none", nil))
		check := func(method, path string, fields url.Values, header ...string) {
			t.Helper()
			r, none := ask(h, method, path, fields, header...), ask(h, method, "/none", fields, header...)
			body, want := text(t, r), text(t, none)
			for _, a := range []*http.Response{r, none} {
				given := a.Header.Get("X-Request-Id")
				body, want = strings.ReplaceAll(body, given, "ID"), strings.ReplaceAll(want, given, "ID")
				a.Header.Del("X-Request-Id")
			}
			if r.StatusCode != 404 || none.StatusCode != 404 || body != want || !reflect.DeepEqual(r.Header, none.Header) {
				t.Errorf("%s: %s %s: %d %v, not %v\n%s", name, method, path, r.StatusCode, r.Header, none.Header, body)
			}
		}
		for _, path := range operatorPages {
			check("GET", path, nil)
			check("GET", path, nil, "Accept", "application/json")
			check("HEAD", path, nil)
			check("DELETE", path, nil)
			check("GET", path, nil, "Sec-Fetch-Site", "cross-site")
		}
		for path, d := range operatorForms {
			check("POST", path, d.fields)
			check("PUT", path, d.fields)
			check("POST", path, url.Values{"x": {"y"}})
		}
		expect.Has(t, name, plain, "Nothing on show here")
	}
	if len(s.calls)+len(s.limiter.counted) > 0 {
		t.Errorf("reached %v, counted %v", s.calls, s.limiter.counted)
	}
}

func TestAnOldSignInOfAnOperatorLeadsToAFreshOne(t *testing.T) {
	for name, since := range map[string]time.Time{
		"15 minutes ago": noon.Add(-limits.OperatorFresh),
		"in the future":  noon.Add(time.Hour),
	} {
		s := operatorOf(since)
		h := s.handler()
		for _, path := range operatorPages {
			r := signedIn(h, "GET", path, nil)
			again := `href="` + signInPath(path) + `"`
			wantAnswer(t, name+": "+path, r, 401, "Confirm that it is you", again)
		}
		for path, d := range operatorForms {
			r := s.post(path, d.fields)
			expect.Lacks(t, path, wantAnswer(t, name+": "+path, r, 401, "Nothing was done"), blob)
		}
		wantCalls(t, name, s)
		for path, fresh := range map[string]bool{
			"/admin": true, "/admin/events?focus=all": true, "/administrators": false, "/keys": false,
		} {
			signedIn(h, "GET", signInPath(path), nil)
			if to := s.signIns.begun[len(s.signIns.begun)-1]; to.Fresh != fresh || to.Path != path {
				t.Errorf("the sign-in for %s is %+v", path, to)
			}
		}
	}
	s := operatorOf(noon)
	signedIn(s.handler(), "GET", freshSignInPath("/settings"), nil)
	if to := s.signIns.begun[0]; !to.Fresh || to.Path != "/settings" {
		t.Errorf("a sign-in that is to be fresh is %+v", to)
	}
	last := operatorOf(noon.Add(time.Millisecond - limits.OperatorFresh))
	wantAnswer(t, "in the last moment", signedIn(last.handler(), "GET", "/admin", nil), 200)
}

func TestAnotherSiteDoesNotChooseWhatIsLocked(t *testing.T) {
	target := "/admin/lockdowns?triage_scope=workspace&triage_target=" + string(strangerID)
	body := text(t, signedIn(operatorOf(noon).handler(), "GET", target, nil, "Sec-Fetch-Site", "cross-site"))
	expect.Lacks(t, "the form", body, `value="`+string(strangerID)+`" required`)
}

func TestOperatorsPagesNeedNoScript(t *testing.T) {
	for _, path := range operatorPages {
		body := page(t, path, onDuty)
		expect.Lacks(t, path, body, "data-")
		expect.Has(t, path, body, `href="/admin/reports"`)
	}
}

func TestAMemberWhoComesTooOftenChangesNothing(t *testing.T) {
	for path, d := range operatorForms {
		s := operatorOf(noon)
		s.limiter.ActorFn = func() error { return fault.NewCode(fault.RateLimitedActor).After(time.Minute) }
		r := s.post(path, d.fields)
		wantAnswer(t, path, r, 429)
		wantHeaders(t, path, r, "Retry-After", "60")
		wantCalls(t, path, s)
	}
}

func TestALookUpTellsWhatItIsAndKeepsWhatWasPasted(t *testing.T) {
	s := operatorOf(noon)
	s.title, s.actor.Workspace.Name = "Words of the publisher", "Name of the owner"
	h, lines := s.host()
	r := signedIn(h.Handler(), "POST", "/admin/lookup", operatorForms["/admin/lookup"].fields)
	body := text(t, r)
	expect.Has(t, "the page", body,
		"This is an artifact", artifactID, string(strangerID), "3 files, 2.3 MB", "ephemeral", "Record and open",
		"triage_scope=artifact&amp;triage_target="+artifactID, `value="illegal_content"`,
	)
	expect.Lacks(t, "the page", body, blob, s.title, s.actor.Workspace.Name, "/v/token")
	expect.Lacks(t, "the log", lines.String(), blob)
	lockedDown(s)
	body = text(t, signedIn(h.Handler(), "POST", "/admin/lookup", operatorForms["/admin/lookup"].fields))
	if strings.Contains(body, "Record and open") || !strings.Contains(body, `action="/admin/lockdowns/lift"`) {
		t.Errorf("what is locked can be opened, or not unlocked:\n%s", body)
	}
	s.empty = true
	body = text(t, signedIn(h.Handler(), "POST", "/admin/lookup", operatorForms["/admin/lookup"].fields))
	expect.Has(t, "the page", body, "Nothing is known of it")
	r = signedIn(h.Handler(), "POST", "/admin/lookup", url.Values{"target": {"nonsense-with-a-secret"}})
	expect.Lacks(t, "nonsense", wantAnswer(t, "nonsense", r, 400, "neither an id nor an address"), "nonsense")
}

func TestContentIsOpenedByAnActWithAReason(t *testing.T) {
	s := operatorOf(noon)
	h, lines := s.host()
	r := signedIn(h.Handler(), "POST", "/admin/content", url.Values{"artifact": {artifactID}})
	expect.Lacks(t, "without a reason", wantAnswer(t, "without a reason", r, 400), "/v/token")
	wantCalls(t, "without a reason", s)
	r = signedIn(h.Handler(), "POST", "/admin/content", operatorForms["/admin/content"].fields)
	wantAnswer(t, "with one", r, 200, `href="`+s.contentURL+`/v/token-of-the-operator/report.html"`)
	wantCalls(t, "with one", s, "Open "+artifactID+" phishing_report")
	expect.Lacks(t, "the log", lines.String(), "token-of-the-operator")
}

func TestWrongFormsOfOperatorsAreShownAgain(t *testing.T) {
	s := operatorOf(noon)
	for path, fields := range map[string]url.Values{
		"/admin/lockdowns":    {"scope": {"artifact"}, "target": {artifactID}, "once": {formName}},
		"/admin/provisioning": {"from": {"17"}, "quota": {"101"}},
		planPath(strangerID):  {"plan": {"free"}, "reason": {""}, "once": {formName}},
	} {
		r := s.post(path, fields)
		wantAnswer(t, path, r, 400, `role="alert"`, "Nothing was")
	}
}

func TestAnOperatorGivesAPlanAndLiftsIt(t *testing.T) {
	s := operatorOf(noon)
	s.billing = paying(billing.Unpaid)
	s.billing.Override = "pro"
	h := s.handler()
	body := text(t, signedIn(h, "GET", planPath(strangerID), nil))
	expect.Has(t, "the page", body,
		string(strangerID), `value="pro" selected`, "<dd>Not paid</dd>", "Record and change")
	for plan, want := range map[string]string{"": "none", "free": "free", "pro": "pro"} {
		fields := url.Values{"plan": {plan}, "reason": {"a school"}, "once": {onceOf(t, body)}}
		if r := signedIn(h, "POST", planPath(strangerID), fields); r.StatusCode != 303 ||
			s.calls[len(s.calls)-1] != "SetPlan "+string(strangerID)+" "+want+" a school" {
			t.Errorf("%q: %d, %v", plan, r.StatusCode, s.calls)
		}
	}
	gold := s.post(planPath(strangerID), url.Values{"plan": {"gold"}, "once": {formName}})
	wantAnswer(t, "a plan that there is not", gold, 400)
	wantAnswer(t, "a workspace that there is not", signedIn(h, "GET", planPath(homeID), nil), 404)
	host, _ := s.host()
	host.Operators.Plans = nil
	for _, method := range []string{"GET", "POST"} {
		wantAnswer(t, method+" without billing", signedIn(host.Handler(), method, planPath(strangerID), nil), 404)
	}
}

func TestAnEmailAddressLeadsToAMember(t *testing.T) {
	s := operatorOf(noon)
	h, lines := s.host()
	asked := url.Values{"target": {"grace@example.org"}}
	body := text(t, signedIn(h.Handler(), "POST", "/admin/lookup", asked))
	expect.Has(t, "the page", body, "the address of a member", string(memberID), string(strangerID))
	s.empty = true
	none := text(t, signedIn(h.Handler(), "POST", "/admin/lookup", asked))
	expect.Has(t, "the page", none, "No member has signed in")
	for name, where := range map[string]string{"the page": body + none, "the log": lines.String()} {
		expect.Lacks(t, name, where, "grace@")
	}
}

func TestOnlyOperatorsAreLedToTheirPages(t *testing.T) {
	for _, path := range []string{"/dashboard", "/settings", billingPath} {
		expect.Lacks(t, path, page(t, path), "/admin")
		expect.Has(t, path, page(t, path, onDuty), `<a href="/admin">Operators</a>`)
	}
}

func TestFiltersOfEventsAreInTheAddress(t *testing.T) {
	s := operatorOf(noon)
	s.more = true
	h := s.handler()
	path := "/admin/events?focus=security&workspace_id=" + string(strangerID) + "&request_id="
	body := text(t, signedIn(h, "GET", path, nil))
	expect.Has(t, "the page", body,
		`href="/admin/events?after=next%2Bcursor&amp;focus=security&amp;workspace_id=`+string(strangerID),
		`<option value="security" selected>`, `value="`+string(strangerID)+`"`, "API key", "platform.lookup",
	)
	r := signedIn(h, "GET", "/admin/events?workspace_id=x", nil)
	wantAnswer(t, "the answer", r, 400, "the filter workspace_id has no such value")
	r = signedIn(h, "GET", "/admin/events?focus=all&after=gone", nil)
	wantRedirect(t, "an old cursor", r, "/admin/events?focus=all")
}

func TestTheRecordOfOperatorsWithholdsTitles(t *testing.T) {
	for _, path := range []string{"/admin", "/admin/events?focus=all"} {
		body := page(t, path, onDuty)
		expect.Has(t, path, body, "Published a revision")
		expect.Lacks(t, path, body, "Published a revision:")
	}
}

func TestOperatorsAreToldOfACopyThatIsOld(t *testing.T) {
	const told = "The newest copy is from"
	expect.Has(t, "the page", page(t, "/admin", onDuty), told)
	expect.Lacks(t, "the page without one", page(t, "/admin", onDuty, nothing), told)
}
