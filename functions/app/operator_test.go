package app

import (
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/shared/identity/billing"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// consoleRooms and consoleDoors are the pages of operators, and the paths that their forms are sent to, with good
// fields.
var (
	consoleRooms = []string{
		"/admin", "/admin/reports", "/admin/reports?artifact=" + artifactID, "/admin/lockdowns", "/admin/events",
		"/admin/events?action=artifact.published&focus=all", "/admin/provisioning", planPath(strangerID),
	}
	consoleDoors = map[string]url.Values{
		"/admin/lookup":          {"target": {"https://app.example/al/0123456789ABCDEF#" + blob}},
		"/admin/content":         {"artifact": {artifactID}, "reason": {"phishing_report"}},
		"/admin/reports/handled": {"artifact": {artifactID}, "place": {"20260314#c29tZQ"}},
		"/admin/lockdowns": {
			"scope": {"artifact"}, "target": {artifactID}, "reason": {"other"}, "once": {"page-0123456789"},
		},
		"/admin/lockdowns/lift": {"scope": {"artifact"}, "target": {artifactID}, "once": {"page-0123456789"}},
		"/admin/provisioning":   {"from": {"17"}, "quota": {"20"}},
		planPath(strangerID):    {"plan": {"pro"}, "reason": {"a school"}, "once": {"page-0123456789"}},
	}
)

// operatorOf is a house whose member is an operator since an instant.
func operatorOf(since time.Time) *house {
	s := newHouse()
	s.operator = since
	return s
}

func TestToOthersThePagesOfOperatorsAreNotThere(t *testing.T) {
	s := newHouse()
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
		for _, room := range consoleRooms {
			check("GET", room, nil)
			check("GET", room, nil, "Accept", "application/json")
			check("HEAD", room, nil)
			check("DELETE", room, nil)
			check("GET", room, nil, "Sec-Fetch-Site", "cross-site")
		}
		for path, fields := range consoleDoors {
			check("POST", path, fields)
			check("PUT", path, fields)
			check("POST", path, url.Values{"x": {"y"}})
		}
		if !strings.Contains(plain, "Nothing on show here") {
			t.Errorf("%s: %s", name, plain)
		}
	}
	if len(s.calls)+len(s.counted) > 0 {
		t.Errorf("reached %v, counted %v", s.calls, s.counted)
	}
}

func TestAnOldSignInOfAnOperatorLeadsToAFreshOne(t *testing.T) {
	for name, since := range map[string]time.Time{
		"15 minutes ago": noon.Add(-limits.OperatorFresh),
		"in the future":  noon.Add(time.Hour),
	} {
		s := operatorOf(since)
		h := s.handler()
		for _, room := range consoleRooms {
			r := signedIn(h, "GET", room, nil)
			again := `href="` + signInPath(room) + `"`
			if body := text(t, r); r.StatusCode != 401 || !strings.Contains(body, "Confirm that it is you") ||
				!strings.Contains(body, again) {
				t.Errorf("%s: %s: %d\n%s", name, room, r.StatusCode, body)
			}
		}
		for path, fields := range consoleDoors {
			r := signedIn(h, "POST", path, fields)
			if body := text(t, r); r.StatusCode != 401 || !strings.Contains(body, "Nothing was done") ||
				strings.Contains(body, blob) {
				t.Errorf("%s: %s: %d\n%s", name, path, r.StatusCode, body)
			}
		}
		if len(s.calls) > 0 {
			t.Errorf("reached %v", s.calls)
		}
		for path, fresh := range map[string]bool{
			"/admin": true, "/admin/events?focus=all": true, "/administrators": false, "/keys": false,
		} {
			signedIn(h, "GET", signInPath(path), nil)
			if s.fresh != fresh || s.begun[len(s.begun)-1] != path {
				t.Errorf("a sign-in for %s is fresh: %t", path, s.fresh)
			}
		}
	}
	s := operatorOf(noon)
	signedIn(s.handler(), "GET", freshSignInPath("/settings"), nil)
	if !s.fresh || s.begun[len(s.begun)-1] != "/settings" {
		t.Error("a sign-in that is to be fresh is not, or leads elsewhere")
	}
	last := operatorOf(noon.Add(time.Millisecond - limits.OperatorFresh))
	if r := signedIn(last.handler(), "GET", "/admin", nil); r.StatusCode != 200 {
		t.Errorf("in the last moment: %d", r.StatusCode)
	}
}

func TestFormsOfOperatorsComeFromTheirPages(t *testing.T) {
	s := operatorOf(noon)
	h := s.handler()
	for path, fields := range consoleDoors {
		for name, header := range map[string][]string{
			"cross-site": {"Sec-Fetch-Site", "cross-site"}, "a sibling": {"Sec-Fetch-Site", "same-site"},
			"an old browser": {"Sec-Fetch-Site", "", "Origin", "https://evil.example"},
		} {
			if r := signedIn(h, "POST", path, fields, header...); r.StatusCode != 403 {
				t.Errorf("%s from %s: %d", path, name, r.StatusCode)
			}
		}
		if r := signedIn(h, "POST", path, fields, "Content-Type", "text/plain"); r.StatusCode != 400 {
			t.Errorf("%s as text: %d", path, r.StatusCode)
		}
	}
	if len(s.calls) > 0 {
		t.Errorf("reached %v", s.calls)
	}
	body := text(t, signedIn(h, "GET", "/admin/lockdowns?triage_scope=workspace&triage_target="+string(strangerID), nil,
		"Sec-Fetch-Site", "cross-site"))
	if strings.Contains(body, `value="`+string(strangerID)+`" required`) {
		t.Error("another site chooses what is locked")
	}
}

func TestOperatorsPagesNeedNoScriptAndAreCounted(t *testing.T) {
	for _, room := range consoleRooms {
		s := operatorOf(noon)
		r := signedIn(s.handler(), "GET", room, nil)
		body, policy := text(t, r), r.Header.Get(policyHeader)
		if r.StatusCode != 200 || r.Header.Get("Cache-Control") != "no-store" ||
			r.Header.Get("Referrer-Policy") != "no-referrer" || r.Header.Get("X-Frame-Options") != "DENY" ||
			!strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") ||
			!slices.Equal(s.counted, []string{string(homeID) + " " + string(memberID)}) {
			t.Errorf("%s: %d %v, counted %v", room, r.StatusCode, r.Header, s.counted)
		}
		if strings.Contains(body, "data-") || !strings.Contains(body, `href="/admin/reports"`) {
			t.Errorf("%s:\n%s", room, body)
		}
	}
}

func TestAnOperatorWhoComesTooOftenChangesNothing(t *testing.T) {
	s := operatorOf(noon)
	s.tooMany = fault.NewCode(fault.RateLimitedActor).After(time.Minute)
	h := s.handler()
	for path, fields := range consoleDoors {
		if r := signedIn(h, "POST", path, fields); r.StatusCode != 429 || r.Header.Get("Retry-After") != "60" {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
	if len(s.calls) > 0 {
		t.Errorf("reached %v", s.calls)
	}
}

func TestALookUpTellsWhatItIsAndKeepsWhatWasPasted(t *testing.T) {
	s := operatorOf(noon)
	s.title, s.name = "Words of the publisher", "Name of the owner"
	h, lines := s.host()
	r := signedIn(h.Handler(), "POST", "/admin/lookup", consoleDoors["/admin/lookup"])
	body := text(t, r)
	for _, want := range []string{
		"This is an artifact", artifactID, string(strangerID), "3 files, 2 MB", "ephemeral", "Record and open",
		"triage_scope=artifact&amp;triage_target=" + artifactID, `value="illegal_content"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q:\n%s", want, body)
		}
	}
	for _, not := range []string{blob, s.title, s.name, "/v/token"} {
		if strings.Contains(body, not) {
			t.Errorf("the page has %q", not)
		}
	}
	if strings.Contains(lines.String(), blob) {
		t.Errorf("the log has what was pasted: %s", lines)
	}
	s.scene = "locked"
	body = text(t, signedIn(h.Handler(), "POST", "/admin/lookup", consoleDoors["/admin/lookup"]))
	if strings.Contains(body, "Record and open") || !strings.Contains(body, `action="/admin/lockdowns/lift"`) {
		t.Errorf("what is locked can be opened, or not unlocked:\n%s", body)
	}
	s.empty = true
	body = text(t, signedIn(h.Handler(), "POST", "/admin/lookup", consoleDoors["/admin/lookup"]))
	if !strings.Contains(body, "Nothing is known of it") {
		t.Errorf("%s", body)
	}
	r = signedIn(h.Handler(), "POST", "/admin/lookup", url.Values{"target": {"nonsense-with-a-secret"}})
	if body := text(t, r); r.StatusCode != 400 || !strings.Contains(body, "neither an id nor an address") ||
		strings.Contains(body, "nonsense") {
		t.Errorf("%d\n%s", r.StatusCode, body)
	}
}

func TestContentIsOpenedByAnActWithAReason(t *testing.T) {
	s := operatorOf(noon)
	h, lines := s.host()
	r := signedIn(h.Handler(), "POST", "/admin/content", url.Values{"artifact": {artifactID}})
	if body := text(t, r); r.StatusCode != 400 || strings.Contains(body, "/v/token") || len(s.calls) > 0 {
		t.Errorf("without a reason: %d %v\n%s", r.StatusCode, s.calls, body)
	}
	r = signedIn(h.Handler(), "POST", "/admin/content", consoleDoors["/admin/content"])
	address := `href="` + s.contentURL + `/v/token-of-the-operator/report.html"`
	if body := text(t, r); r.StatusCode != 200 || !strings.Contains(body, address) ||
		!slices.Equal(s.calls, []string{"Open " + artifactID + " phishing_report"}) {
		t.Errorf("%d %v\n%s", r.StatusCode, s.calls, body)
	}
	if strings.Contains(lines.String(), "token-of-the-operator") {
		t.Errorf("the log has the address: %s", lines)
	}
}

func TestFormsOfOperatorsRedirectOnceTheyAreDone(t *testing.T) {
	s := operatorOf(noon)
	h := s.handler()
	for path, want := range map[string]struct{ to, call string }{
		"/admin/reports/handled": {"/admin/reports", "Handle " + artifactID + " 20260314#c29tZQ"},
		"/admin/lockdowns":       {"/admin/lockdowns", "SetLock artifact " + artifactID + " other"},
		"/admin/lockdowns/lift":  {"/admin/lockdowns", "Lift artifact " + artifactID},
		"/admin/provisioning":    {"/admin/provisioning", "SetQuota 17 20"},
		planPath(strangerID):     {planPath(strangerID), "SetPlan " + string(strangerID) + " pro a school"},
	} {
		r := signedIn(h, "POST", path, consoleDoors[path])
		if r.StatusCode != 303 || r.Header.Get("Location") != want.to || s.calls[len(s.calls)-1] != want.call {
			t.Errorf("%s: %d to %s, %v", path, r.StatusCode, r.Header.Get("Location"), s.calls)
		}
	}
	for path, fields := range map[string]url.Values{
		"/admin/lockdowns":    {"scope": {"artifact"}, "target": {artifactID}, "once": {"page-0123456789"}},
		"/admin/provisioning": {"from": {"17"}, "quota": {"101"}},
		planPath(strangerID):  {"plan": {"free"}, "reason": {""}, "once": {"page-0123456789"}},
	} {
		r := signedIn(h, "POST", path, fields)
		if body := text(t, r); r.StatusCode != 400 || !strings.Contains(body, `role="alert"`) ||
			!strings.Contains(body, "Nothing was") {
			t.Errorf("%s: %d\n%s", path, r.StatusCode, body)
		}
	}
	for _, path := range []string{"/admin/lockdowns", "/admin/lockdowns/lift", planPath(strangerID)} {
		fields := url.Values{"scope": {"artifact"}, "target": {artifactID}, "reason": {"other"}, "once": {"short"}}
		if r := signedIn(h, "POST", path, fields); r.StatusCode != 400 {
			t.Errorf("%s without a name of its own: %d", path, r.StatusCode)
		}
	}
}

func TestAnOperatorGivesAPlanAndLiftsIt(t *testing.T) {
	s := operatorOf(noon)
	s.account = paying(billing.Unpaid)
	s.account.Override = "pro"
	h := s.handler()
	body := text(t, signedIn(h, "GET", planPath(strangerID), nil))
	for _, want := range []string{string(strangerID), `value="pro" selected`, "<dd>Not paid</dd>", "Record and change"} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q:\n%s", want, body)
		}
	}
	for plan, want := range map[string]string{"": "none", "free": "free", "pro": "pro"} {
		fields := url.Values{"plan": {plan}, "reason": {"a school"}, "once": {onceOf(t, body)}}
		if r := signedIn(h, "POST", planPath(strangerID), fields); r.StatusCode != 303 ||
			s.calls[len(s.calls)-1] != "SetPlan "+string(strangerID)+" "+want+" a school" {
			t.Errorf("%q: %d, %v", plan, r.StatusCode, s.calls)
		}
	}
	if r := signedIn(h, "POST", planPath(strangerID), url.Values{"plan": {"gold"}, "once": {"page-0123456789"}}); r.StatusCode != 400 {
		t.Errorf("a plan that there is not: %d", r.StatusCode)
	}
	if r := signedIn(h, "GET", planPath(homeID), nil); r.StatusCode != 404 {
		t.Errorf("a workspace that there is not: %d", r.StatusCode)
	}
	host, _ := s.host()
	host.Operators.Plans = nil
	for _, method := range []string{"GET", "POST"} {
		if r := signedIn(host.Handler(), method, planPath(strangerID), nil); r.StatusCode != 404 {
			t.Errorf("%s without billing: %d", method, r.StatusCode)
		}
	}
}

func TestAnEmailAddressLeadsToAMember(t *testing.T) {
	s := operatorOf(noon)
	h, lines := s.host()
	asked := url.Values{"target": {"grace@example.org"}}
	body := text(t, signedIn(h.Handler(), "POST", "/admin/lookup", asked))
	for _, want := range []string{"the address of a member", string(memberID), string(strangerID)} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q:\n%s", want, body)
		}
	}
	s.empty = true
	none := text(t, signedIn(h.Handler(), "POST", "/admin/lookup", asked))
	if !strings.Contains(none, "No member has signed in") {
		t.Errorf("%s", none)
	}
	for name, where := range map[string]string{"the page": body + none, "the log": lines.String()} {
		if strings.Contains(where, "grace@") {
			t.Errorf("%s has the address that was pasted", name)
		}
	}
}

func TestOnlyOperatorsAreLedToTheirPages(t *testing.T) {
	const lead = `<a href="/admin">Operators</a>`
	for _, path := range []string{"/dashboard", "/settings", billingPath} {
		if strings.Contains(text(t, signedIn(newHouse().handler(), "GET", path, nil)), "/admin") {
			t.Errorf("%s tells a member of the operators' pages", path)
		}
		if !strings.Contains(text(t, signedIn(operatorOf(noon).handler(), "GET", path, nil)), lead) {
			t.Errorf("%s does not lead an operator to their pages", path)
		}
	}
}

func TestFiltersOfEventsAreInTheAddress(t *testing.T) {
	s := operatorOf(noon)
	s.more = true
	h := s.handler()
	path := "/admin/events?focus=security&workspace_id=" + string(strangerID) + "&request_id="
	body := text(t, signedIn(h, "GET", path, nil))
	for _, want := range []string{
		`href="/admin/events?after=next%2Bcursor&amp;focus=security&amp;workspace_id=` + string(strangerID),
		`<option value="security" selected>`, `value="` + string(strangerID) + `"`, "API key", "platform.lookup",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q:\n%s", want, body)
		}
	}
	r := signedIn(h, "GET", "/admin/events?workspace_id=x", nil)
	if body := text(t, r); r.StatusCode != 400 || !strings.Contains(body, "the filter workspace_id has no such value") {
		t.Errorf("%d\n%s", r.StatusCode, body)
	}
	r = signedIn(h, "GET", "/admin/events?focus=all&after=gone", nil)
	if r.StatusCode != 303 || r.Header.Get("Location") != "/admin/events?focus=all" {
		t.Errorf("an old cursor: %d to %s", r.StatusCode, r.Header.Get("Location"))
	}
}

func TestTheRecordOfOperatorsWithholdsTitles(t *testing.T) {
	for _, path := range []string{"/admin", "/admin/events?focus=all"} {
		s := operatorOf(noon)
		body := text(t, signedIn(s.handler(), "GET", path, nil))
		if strings.Contains(body, "Published a revision:") || !strings.Contains(body, "Published a revision") {
			t.Errorf("%s\n%s", path, body)
		}
	}
}
