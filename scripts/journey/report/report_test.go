package report

import (
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// send sends the form as a page of the app host does.
func send(t testing.TB, d *harness.Env, target string, change ...string) wire.Answer {
	t.Helper()
	form := url.Values{"target": {target}, "reason": {"phishing_report"}}
	for n := 0; n < len(change); n += 2 {
		form.Set(change[n], change[n+1])
	}
	return harness.Do(t, d.Anyone, "POST", d.Origins.App+"/report", form.Encode(),
		"Content-Type", "application/x-www-form-urlencoded", "Origin", d.Origins.App, "Sec-Fetch-Site", "same-origin")
}

// wantThanks checks that a report was taken, as far as its sender learns, and returns the page.
func wantThanks(t testing.TB, a wire.Answer) string {
	t.Helper()
	if a.Status != http.StatusOK || !strings.Contains(string(a.Body), "<h1>Thank you</h1>") {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	return string(a.Body)
}

// kept returns the reports that are kept.
func kept(t testing.TB, p *harness.BackendEnv) (found []harness.Item) {
	t.Helper()
	for _, i := range p.Scan(t, p.Tables.Core) {
		if strings.HasPrefix(harness.Text(i["pk"]), "RPT#") {
			found = append(found, i)
		}
	}
	return found
}

func TestAReportReachesOperatorsAlone(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	shared := harness.ShareURL(t, s.Agent, s.Published.ArtifactID)
	public, blob, err := wire.SplitLink(shared)
	harness.NoError(t, err)
	const said, email = "It asks for my password.\r\n<script>alert(1)</script>\u202e", "eve@reader.example"
	thanks := wantThanks(t, send(t, s.Env, shared, "text", said, "email", email))

	rows := kept(t, s.BackendEnv)
	if len(rows) != 1 {
		t.Fatalf("%d reports are kept", len(rows))
	}
	expect.Results(t, func(name string) string { return harness.Text(rows[0][name]) }, map[string]string{
		"pk": "RPT#" + string(s.Published.ArtifactID), "g1p": "REPORTS", "art": string(s.Published.ArtifactID),
		"ws": string(harness.TokenOf(t, s.Agent).Workspace), "link": string(public), "kind": "phishing_report",
		"text": "It asks for my password.\n<script>alert(1)</script>", "email": email,
	})

	op := s.NewOperator(t)
	reported := harness.RecordPath + "?action=artifact.reported"
	list := harness.CallAs[contract.OperatorEventList](t, op, 200, "GET", reported, nil)
	if len(list.Items) != 1 {
		t.Fatalf("operators see %+v", list.Items)
	}
	e := list.Items[0]
	if e.Target != "artifact:"+string(s.Published.ArtifactID) ||
		e.ChangeSummary != "An artifact was reported: phishing_report" {
		t.Errorf("operators see %+v", e)
	}
	audit := harness.TryAs(t, s.Member, "GET", "/v1/web/audit", nil)
	if audit.Status != http.StatusOK || strings.Contains(string(audit.Body), "report") {
		t.Errorf("a member sees %d %s", audit.Status, audit.Body)
	}

	if again := wantThanks(t, send(t, s.Env, string(public), "text", "other words", "reason", "other")); again != thanks {
		t.Error("a repetition looks different")
	}
	if again := kept(t, s.BackendEnv); len(again) != 1 || harness.Text(again[0]["kind"]) != "phishing_report" {
		t.Errorf("a repetition changed %+v", again)
	}
	for _, secret := range []string{blob, email, "password", "alert", string(public)} {
		if strings.Contains(s.Log.String(), secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
}

func TestABrowserProvesWorkWhenManyReportsArrive(t *testing.T) {
	d := harness.NewBackendEnv(t, func(o *stack.Options) { o.Limits.Reports.Limit = 5 })
	shared := harness.PublishPage(t, d.NewAgent(t), "shared").UnlistedURL
	other := harness.PublishPage(t, d.NewAgent(t), "other")
	for range 2 { // above a fifth, so that the next one has to prove work
		wantThanks(t, send(t, d.Env, string(other.ArtifactID)))
	}
	p := browser.Open(t)
	p.Go(d.Origins.App + "/report")
	p.Do(chromedp.SendKeys(chromedp.CSS("#target"), shared))
	p.Do(chromedp.SendKeys(chromedp.CSS("#reason"), "Malware"))
	p.Do(chromedp.SendKeys(chromedp.CSS("#text"), "It sends a program."))
	p.Before(`addEventListener("DOMContentLoaded", () => sessionStorage.setItem("asked",
		(sessionStorage.getItem("asked") ?? "") + (document.querySelector('[name="challenge"]')?.value ?? "-")))`)
	p.Click("main button[type=submit]")
	p.WaitText("Thank you")
	p.Clean()
	asked := browser.Eval[int](&p.Document, `JSON.parse(sessionStorage.getItem("asked").replace(/-$/, "")).difficulty`)
	if asked != limits.PowBits {
		t.Errorf("the browser was asked for %d bits", asked)
	}
	rows := kept(t, d)
	if len(rows) != 2 {
		t.Fatalf("%d reports are kept", len(rows))
	}
	for _, row := range rows {
		if harness.Text(row["kind"]) == "malware_signal" && harness.Text(row["text"]) == "It sends a program." {
			return
		}
	}
	t.Errorf("kept %v", rows)
}
