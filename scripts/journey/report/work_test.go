package report

import (
	"testing"

	"github.com/chromedp/chromedp"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/shared/platform/limits"
)

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
