package pages

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
)

func TestALinkIsReadWithoutScripts(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	made := harness.Must(d.NewAgent(t).PublishFiles(ctx, "Tide tables", "", interactive))(t)
	page, _, _ := strings.Cut(made.UnlistedURL, "#")
	p := browser.Open(t)
	p.NoScripts()
	p.Go(made.UnlistedURL)
	p.WaitText("Open it without scripts")
	p.Do(chromedp.SendKeys(chromedp.CSS("#pasted"), made.UnlistedURL))
	p.Click("form button")
	p.WaitText("Tide tables")
	p.Frame(d.Origins.Content).WaitText("scripts are off")
	if at := browser.Eval[string](&p.Document, "location.href"); at != page {
		t.Errorf("the page is at %s", at)
	}
	p.Clean()
}
