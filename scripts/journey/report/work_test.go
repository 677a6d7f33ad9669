package report

import (
	"testing"

	"github.com/chromedp/chromedp"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/shared/platform/limits"
)

// newBusyEnv is a deployment in which the next report has to prove work.
func newBusyEnv(t *testing.T) (*harness.BackendEnv, string) {
	t.Helper()
	p := harness.NewBackendEnv(t, func(o *stack.Options) { o.Limits.Reports.Limit = 5 })
	made := harness.PublishPage(t, p.NewAgent(t), "shared")
	other := harness.PublishPage(t, p.NewAgent(t), "other")
	for range 2 { // above a fifth
		wantThanks(t, send(t, p.Env, string(other.ArtifactID)))
	}
	return p, made.UnlistedURL
}

func TestABrowserProvesWorkWhenManyReportsArrive(t *testing.T) {
	d, shared := newBusyEnv(t)
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

func TestWithoutScriptsTheFormSaysWhenToComeAgain(t *testing.T) {
	d, shared := newBusyEnv(t)
	p := browser.Open(t)
	p.NoScripts()
	p.Go(d.Origins.App + "/report")
	p.Do(chromedp.SendKeys(chromedp.CSS("#target"), shared))
	p.Do(chromedp.SendKeys(chromedp.CSS("#reason"), "Phishing"))
	p.Click("main button[type=submit]")
	p.WaitText("Your report was not sent. Send it again in ")
	p.Wait(`/in \d+ (second|minute)s?;/.test(document.querySelector("main").innerText)`)
	p.Clean()
	if n := len(kept(t, d)); n != 1 {
		t.Errorf("%d reports are kept", n)
	}
}
