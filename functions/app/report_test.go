package app

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/pow"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/abuse"
)

// fakeReports takes reports as the core does where that is busy: by a proof of work.
type fakeReports struct {
	mu      sync.Mutex
	refusal error
	bits    int // of the work that is asked for; 0: none
	wait    time.Duration
	filed   []abuse.Request
}

func (d *fakeReports) File(_ context.Context, r abuse.Request) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.filed = append(d.filed, r)
	switch {
	case d.refusal != nil:
		return d.refusal
	case r.Proof != nil && solved(r.Proof):
		return nil
	case r.Proof != nil:
		return fault.NewCode(fault.PowInvalid)
	case d.bits > 0:
		return &pow.Required{
			Fault:     fault.NewCode(fault.PowRequired).After(d.wait),
			Challenge: contract.Challenge{Nonce: "0123456789_abcdefghi-A", Difficulty: d.bits},
		}
	}
	return nil
}

// solved reports whether the SHA-256 digest of the nonce and the counter begins with as many zeros as asked for.
func solved(p *pow.Proof) bool {
	digest := sha256.Sum256(fmt.Appendf(nil, "%s:%d", p.Solution.Nonce, p.Solution.Counter))
	return binary.BigEndian.Uint64(digest[:8])>>(64-p.Challenge.Difficulty) == 0
}

// reporting is an app host that takes reports, and its log.
func reporting(t *testing.T) (*fakeReports, *Host, *bytes.Buffer) {
	t.Helper()
	d := &fakeReports{}
	host, lines := newServices().host()
	host.Reports = d
	return d, host, lines
}

var typedReport = url.Values{
	"target": {"http://localhost:8704/al/" + publicID + "#" + blob},
	"reason": {"phishing_report"},
	"text":   {"It asks for <b>my</b>\npassword."},
	"email":  {"ada@example.test"},
}

func sendReport(h http.Handler, form url.Values, header ...string) *http.Response {
	return send(h, "POST", "/report", form.Encode(), append([]string{"Content-Type", formType}, header...)...)
}

func TestTheReportFormKnowsWhatItIsAbout(t *testing.T) {
	_, host, _ := reporting(t)
	h := host.Handler()
	for path, want := range map[string]string{
		"/report":                                  `name="target" value=""`,
		"/report?link=" + publicID:                 `name="target" value="` + publicID + `"`,
		"/report?artifact=" + artifactID:           `name="target" value="` + artifactID + `"`,
		"/report?link=" + publicID + "&artifact=x": `name="target" value="` + publicID + `"`,
		"/report?link=%22%3E%3Cscript%3E":          `name="target" value=""`,
		"/report?artifact=" + publicID:             `name="target" value=""`,
	} {
		r := send(h, "GET", path, "")
		expect.Lacks(t, path, wantAnswer(t, path, r, 200, want), "problem")
		wantHeaders(t, path, r, "Referrer-Policy", "no-referrer", policyHeader, policyPage)
	}
}

func TestACompleteReportIsThankedFor(t *testing.T) {
	d, host, _ := reporting(t)
	r := sendReport(host.Handler(), typedReport, "X-Request-Id", "request-17")
	body := wantAnswer(t, "the thanks", r, 200, "<h1>Thank you</h1>")
	wantHeaders(t, "the thanks", r, "Cache-Control", "no-store")
	expect.Lacks(t, "the thanks", body, blob, publicID, "ada@example.test", "password")
	want := abuse.Form{
		Target: typedReport.Get("target"),
		Reason: abuse.Phishing,
		Text:   typedReport.Get("text"),
		Email:  "ada@example.test",
	}
	if got := d.filed[0]; got.Form != want || got.Proof != nil || got.RequestID != "request-17" || !got.From.IsValid() {
		t.Errorf("filed %+v", got)
	}
}

func TestARefusedReportKeepsWhatWasTyped(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		status int
		want   []string
	}{
		"target": {
			&abuse.Invalid{Fault: fault.New(fault.InvalidRequest, "Paste the link."), Field: abuse.TargetField}, 400,
			[]string{"Paste the link.", `aria-describedby="target-help problem" aria-invalid="true"`},
		},
		"reason": {
			&abuse.Invalid{Fault: fault.New(fault.InvalidRequest, "Choose one."), Field: abuse.ReasonField}, 400,
			[]string{"Choose one.", `required aria-invalid="true" aria-describedby="problem"`},
		},
		"text": {
			&abuse.Invalid{Fault: fault.New(fault.InvalidRequest, "Too long."), Field: abuse.TextField}, 400,
			[]string{"Too long.", `aria-describedby="text-help problem" aria-invalid="true"`},
		},
		"email": {
			&abuse.Invalid{Fault: fault.New(fault.InvalidRequest, "Not one."), Field: abuse.EmailField}, 400,
			[]string{"Not one.", `aria-describedby="email-help problem" aria-invalid="true"`},
		},
		"too many": {
			fault.NewCode(fault.RateLimitedActor).After(4 * time.Minute), 429,
			[]string{"There were too many reports, so this one was not sent. Send it again in 4 minutes."},
		},
		"a solution that is over": {
			fault.NewCode(fault.PowInvalid), 400, []string{"The check by your browser took too long"},
		},
		"no store": {
			fault.NewCode(fault.DatabaseUnavailable), 503, []string{"does not answer, so the report was not sent"},
		},
	} {
		d, host, lines := reporting(t)
		d.refusal = c.err
		r := sendReport(host.Handler(), typedReport)
		body := text(t, r)
		want := append(c.want, "&lt;b&gt;my&lt;/b&gt;\npassword.</textarea>", `value="ada@example.test"`,
			`<option value="phishing_report" selected>`, publicID+"#"+blob)
		expect.Has(t, name, body, want...)
		if r.StatusCode != c.status || strings.Count(body, `id="problem"`) != 1 || strings.Contains(body, "<b>") {
			t.Errorf("%s: %d\n%s", name, r.StatusCode, body)
		}
		if (r.Header.Get("Retry-After") == "240") != (c.status == 429) {
			t.Errorf("%s: Retry-After %q", name, r.Header.Get("Retry-After"))
		}
		wantNothingTyped(t, lines.String())
		if !strings.Contains(lines.String(), `"route":"/report"`) || !strings.Contains(lines.String(), `"code"`) {
			t.Errorf("%s: the log is %s", name, lines)
		}
	}
}

// wantNothingTyped reports what a log shows of a report.
func wantNothingTyped(t *testing.T, log string) {
	t.Helper()
	expect.Lacks(t, "the log", log, blob, publicID, "ada@", "password", "192.0.2")
}

func TestAnErrorThatNamesTheAddressStaysOutOfTheLog(t *testing.T) {
	d, host, lines := reporting(t)
	d.refusal = errors.New("cannot read " + typedReport.Get("target"))
	wantAnswer(t, "the answer", sendReport(host.Handler(), typedReport), 500)
	wantNothingTyped(t, lines.String())
}

func TestABusyDeskAsksForWork(t *testing.T) {
	d, host, _ := reporting(t)
	h := host.Handler()
	d.bits, d.wait = 8, 7*time.Minute
	r := sendReport(h, typedReport)
	wantHeaders(t, "the page", r, "Retry-After", "420")
	wantAnswer(t, "the page", r, 429, "Send it again in 7 minutes; what you wrote", `name="challenge" value="{&#34;nonce&#34;:`)
	for name, sent := range map[string]url.Values{
		"no counter":   {"challenge": {`{"nonce":"x"}`}, "counter": {""}},
		"no number":    {"challenge": {`{"nonce":"x"}`}, "counter": {"-1"}},
		"no challenge": {"counter": {"1"}},
		"no JSON":      {"challenge": {`<script>`}, "counter": {"1"}},
	} {
		if r := sendReport(h, sent); r.StatusCode != 429 || d.filed[len(d.filed)-1].Proof != nil {
			t.Errorf("%s: %d", name, r.StatusCode)
		}
	}
	const challenge = `{"nonce":"0123456789012345678901","difficulty":40,"signature":"x"}`
	forged := url.Values{"challenge": {challenge}, "counter": {"1"}}
	wantAnswer(t, "a forged challenge", sendReport(h, forged), 400)
	d.wait = 0
	r = sendReport(h, typedReport)
	if wait := r.Header.Get("Retry-After"); wait != "" || !strings.Contains(text(t, r), "Turn JavaScript on, then") {
		t.Errorf("Retry-After %q", wait)
	}
}

func TestHostileReportsAreRefusedBeforeTheyAreRead(t *testing.T) {
	d, host, lines := reporting(t)
	h := host.Handler()
	large := typedReport.Encode() + "&x=" + strings.Repeat("x", 10<<20)
	for name, c := range map[string]struct {
		body   string
		header []string
		status int
	}{
		"10 MB":            {large, []string{"Content-Type", formType}, 400},
		"a field twice":    {"target=a&target=b", []string{"Content-Type", formType}, 400},
		"JSON":             {`{"target":"x"}`, []string{"Content-Type", "application/json"}, 400},
		"no type":          {typedReport.Encode(), nil, 400},
		"multipart":        {"--x--", []string{"Content-Type", "multipart/form-data; boundary=x"}, 400},
		"another site":     {typedReport.Encode(), []string{"Content-Type", formType, "Sec-Fetch-Site", "cross-site"}, 403},
		"a sibling":        {typedReport.Encode(), []string{"Content-Type", formType, "Sec-Fetch-Site", "same-site"}, 403},
		"a foreign origin": {typedReport.Encode(), []string{"Content-Type", formType, "Origin", "https://evil.example"}, 403},
	} {
		wantAnswer(t, name, send(h, "POST", "/report", c.body, c.header...), c.status)
	}
	if len(d.filed) > 0 {
		t.Errorf("filed %v", d.filed)
	}
	wantNothingTyped(t, lines.String())
}

// serveReports starts the host at localhost, for browsers.
func serveReports(t *testing.T) (*fakeReports, string) {
	t.Helper()
	d, host, _ := reporting(t)
	var handler http.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	host.Origins.App = strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	handler = host.Handler()
	return d, host.Origins.App
}

// fillReport types a report.
func fillReport(p *browser.Page, target, reason, said, email string) {
	values, _ := json.Marshal(map[string]string{"target": target, "reason": reason, "text": said, "email": email})
	browser.Eval[bool](&p.Document, `((values) => {
		for (const [id, value] of Object.entries(values)) document.getElementById(id).value = value;
		return true;
	})(`+string(values)+`)`)
}

func TestAScriptSolvesTheChallengeAndKeepsTheSecret(t *testing.T) {
	d, app := serveReports(t)
	d.bits, d.wait = 12, time.Minute
	p := browser.Open(t)
	p.Go(app + "/report")
	fillReport(p, app+"/al/"+publicID+"#"+blob, "malware_signal", "A & B <c>\nline", "")
	p.Click(submit)
	p.WaitText("Thank you")
	p.Clean()
	if len(d.filed) != 2 || d.filed[1].Proof == nil || d.filed[1].Proof.Challenge.Difficulty != 12 {
		t.Fatalf("filed %+v", d.filed)
	}
	for _, r := range d.filed {
		if r.Target != app+"/al/"+publicID || r.Text != "A & B <c>\r\nline" || r.Reason != abuse.Malware {
			t.Errorf("sent %+v", r.Form)
		}
	}
}

func TestWithoutScriptsAPersonIsToldWhenToComeAgain(t *testing.T) {
	d, app := serveReports(t)
	d.bits, d.wait = 12, 90*time.Second
	p := browser.Open(t)
	p.NoScripts()
	p.Go(app + "/report?link=" + publicID)
	p.Do(chromedp.SendKeys(chromedp.CSS("#reason"), "Phishing"))
	p.Do(chromedp.SendKeys(chromedp.CSS("#text"), "It asks for my password."))
	p.Click(submit)
	p.WaitText("Send it again in 90 seconds")
	d.mu.Lock()
	d.bits = 0
	d.mu.Unlock()
	p.Click(submit)
	p.WaitText("Thank you")
	p.Clean()
	last := d.filed[len(d.filed)-1]
	if last.Target != publicID || last.Text != "It asks for my password." || last.Reason != abuse.Phishing {
		t.Errorf("sent %+v", last.Form)
	}
}

// showNoScript shows what a page has for browsers without scripts. Those cannot be measured themselves.
const showNoScript = `(() => {
	const hidden = document.querySelector("noscript"), shown = document.createElement("div");
	shown.innerHTML = hidden.textContent;
	hidden.replaceWith(shown);
	document.querySelector('[data-part="work"]').hidden = true;
	return true;
})()`

func TestTheReportFormLooks(t *testing.T) {
	d, app := serveReports(t)
	hostile := strings.Repeat("Harbour", 40) + " \u202Egpj.exe <script>alert(1)</script>"
	wrong := func(f abuse.Field, said string) func() {
		return func() { d.refusal = &abuse.Invalid{Fault: fault.New(fault.InvalidRequest, "%s", said), Field: f} }
	}
	p := browser.Open(t)
	p.Media("prefers-reduced-motion", "reduce")
	for _, s := range []struct {
		name string
		set  func() // nil: the form is not sent
	}{
		{"report", nil},
		{"report-target", wrong(abuse.TargetField, "This is no address of this service.")},
		{"report-reason", wrong(abuse.ReasonField, "Choose what is wrong with it.")},
		{"report-often", func() { d.refusal = fault.NewCode(fault.RateLimitedActor).After(8 * time.Minute) }},
		{"report-works", func() { d.bits = 60 }},
		{"report-no-script", func() { d.bits, d.wait = 60, 8*time.Minute }},
	} {
		p.Viewport(widths[0], 640)
		d.mu.Lock()
		if d.refusal, d.bits = nil, 0; s.set != nil {
			s.set()
		}
		d.mu.Unlock()
		p.Go(app + "/report")
		if s.set != nil {
			fillReport(p, app+"/al/"+publicID, "other", hostile, "ada@example.test")
			press(submit)(p)
		}
		if s.name == "report-no-script" {
			browser.Eval[bool](&p.Document, showNoScript)
		}
		lookAt(t, p, s.name)
	}
}
