// Package console lets an operator work through the pages of the app host in a browser.
package console

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// instruments make a page wait a twentieth of the time between polls.
const instruments = `
const later = window.setTimeout
window.setTimeout = (run, after, ...rest) => later(run, after >= 3000 && after < 15000 ? after / 20 : after, ...rest)`

// signIn signs a person in at the provider's form, which the page shows.
func signIn(p *browser.Page, email, groups string) {
	p.Fill("input[name=groups]", groups)
	p.SignIn(email)
}

// enter opens a page of the operators as a person of some groups.
func enter(t *testing.T, d *harness.Env, email, groups string) *browser.Page {
	t.Helper()
	p := browser.Open(t)
	p.Go(d.Origins.App + "/api/auth/sign-in?returnPathname=/admin")
	signIn(p, email, groups)
	return p
}

// report sends a report as a person without an account does.
func report(t *testing.T, d *harness.Env, target string) {
	t.Helper()
	form := url.Values{"target": {target}, "reason": {"phishing_report"}, "text": {"It asks for my password."}}
	a := harness.Do(t, d.Anyone, "POST", d.Origins.App+"/report", form.Encode(),
		"Content-Type", "application/x-www-form-urlencoded", "Origin", d.Origins.App, "Sec-Fetch-Site", "same-origin")
	if a.Status != http.StatusOK {
		t.Fatalf("the report answers %d %s", a.Status, a.Body)
	}
}

// recorded returns the actions of the operators in the record of all workspaces, with their targets and details.
func recorded(t *testing.T, p *harness.BackendEnv) (found []string) {
	t.Helper()
	for _, i := range p.Scan(t, p.Tables.Events) {
		if harness.Text(i["by_type"]) == "platform" {
			found = append(found, harness.Text(i["action"])+" "+harness.Text(i["on_id"])+" "+harness.Text(i["detail"]))
		}
	}
	return found
}

func TestAReportedArtifactIsFoundLockedAndUnlocked(t *testing.T) {
	e := harness.NewAgentAuthEnv(t, harness.Unlimited)
	agent := e.NewAgent(t)
	file := wire.File{Path: "index.html", Body: []byte("<!doctype html><title>T</title><p>Tides of the bay</p>")}
	made := harness.Must(agent.PublishFiles(ctx, "Tides", "", file))(t)
	shared := made.UnlistedURL
	public, blob, err := wire.SplitLink(shared)
	harness.NoError(t, err)
	reader := browser.Open(t)
	reader.Before(instruments)
	reader.Go(shared)
	reader.Frame("index.html").WaitText("Tides of the bay")

	report(t, e.Env, shared)
	op := enter(t, e.Env, "hedy@example.org", "operators")
	op.WaitText("It asks for my password.")

	op.Fill("#target", shared)
	op.Follow(`form[action="/admin/lookup"] button:not(.quiet)`, "This is an access link")
	if page := op.Text("main"); !strings.Contains(page, string(made.ArtifactID)) || strings.Contains(page, "Tides") {
		t.Errorf("the operator sees %s", page)
	}

	op.Fill("#reason", "phishing_report")
	op.Follow(`form[action="/admin/content"] button`, "You may open it now")
	address := browser.Eval[string](&op.Document, `document.querySelector("main a.button").href`)
	if a := harness.Do(t, e.Anyone, "GET", address, nil); a.Status != http.StatusOK ||
		!strings.Contains(string(a.Body), "Tides of the bay") ||
		!strings.Contains(a.Header.Get("Content-Security-Policy"), "script-src 'none'") {
		t.Errorf("the content answers %d %s", a.Status, a.Body)
	}

	op.Go(e.Origins.App + "/admin/lockdowns?triage_scope=artifact&triage_target=" + string(made.ArtifactID))
	op.Fill("#reason", "illegal_content")
	op.Follow(`form[action="/admin/lockdowns"] button`, "In effect")
	reader.WaitText("This link opens nothing")
	if a := harness.Do(t, e.Anyone, "GET", address, nil); a.Status != http.StatusNotFound {
		t.Errorf("the operator's address of what is locked answers %d", a.Status)
	}

	op.Follow(`form[action="/admin/lockdowns/lift"] button`, "Lifted")
	again := browser.Open(t)
	again.Go(shared)
	again.Frame("index.html").WaitText("Tides of the bay")
	op.Go(e.Origins.App + "/admin/reports")
	op.Follow(`form[action="/admin/reports/handled"] button`, "Handled")

	got, artifact := strings.Join(recorded(t, e), "\n"), string(made.ArtifactID)
	for _, want := range []string{
		"platform.lookup " + string(public) + " found", "platform.content.opened " + artifact + " phishing_report",
		"platform.lockdown.set " + artifact + " illegal_content", "platform.lockdown.lifted " + artifact,
		"artifact.report.handled " + artifact,
	} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is not recorded once:\n%s", want, got)
		}
	}
	if strings.Contains(got, blob) || strings.Contains(e.Log.String(), blob) {
		t.Error("the secret of the link is in the record or in the log")
	}
	op.Clean()
}

func TestAMemberWhoTypesTheAddressSeesTheOrdinaryPage(t *testing.T) {
	e := harness.NewAgentAuthEnv(t, harness.Unlimited)
	p := enter(t, e.Env, "ada@example.org", "")
	p.WaitText("Nothing on show here")
	// Spaces depend on whether the styles have arrived.
	words := func() []string { return strings.Fields(p.Text("body")) }
	refused := words()
	p.Go(e.Origins.App + "/none")
	p.WaitText("Nothing on show here")
	if none := words(); !slices.Equal(none, refused) {
		t.Errorf("a member sees %q, and at another address %q", refused, none)
	}
}

func TestAnOperatorSignsInAnewAfterAWhile(t *testing.T) {
	e := harness.NewAgentAuthEnv(t, harness.Unlimited)
	p := enter(t, e.Env, "hedy@example.org", "operators")
	p.WaitText("Triage")
	e.Clock.Advance(limits.OperatorFresh)
	p.Go(e.Origins.App + "/admin/lockdowns?triage_target=" + string(id.NewArtifact()))
	p.WaitText("Confirm that it is you")
	p.Click("main a.button")
	p.Wait(`document.querySelector("input[name=email]") !== null`)
	q := harness.Must(url.Parse(browser.Eval[string](&p.Document, "location.href")))(t).Query()
	if q.Get("prompt") != "login" || q.Get("max_age") != "0" {
		t.Errorf("the provider is asked for %v", q)
	}
	signIn(p, "hedy@example.org", "operators")
	p.WaitText("Lock something")
}
