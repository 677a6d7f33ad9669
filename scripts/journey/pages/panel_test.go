package pages

import (
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// paste sends the form that the page of a link has for browsers without scripts.
func paste(t *testing.T, d *harness.Env, page, link string) wire.Answer {
	t.Helper()
	return harness.Do(t, d.Anyone, "POST", page, url.Values{"link": {link}}.Encode(),
		"Content-Type", "application/x-www-form-urlencoded")
}

func TestALinkIsReadWithoutScripts(t *testing.T) {
	d := harness.NewEnv(t, harness.Unlimited)
	agent, _, err := d.Anyone.Provision(ctx)
	harness.NoError(t, err)
	made := harness.Must(agent.PublishFiles(ctx, "Tide tables", "", interactive))(t)
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

	dead := paste(t, d, page, "https://elsewhere.example")
	if dead.Status != 404 || !strings.Contains(string(dead.Body), "This link opens nothing") {
		t.Errorf("what is no link answers %d %s", dead.Status, dead.Body)
	}
	wrong := []byte(made.UnlistedURL)
	wrong[len(wrong)-20] ^= 1
	for name, link := range map[string]string{"another secret": string(wrong), "a link without its secret": page} {
		if a := paste(t, d, page, link); a.Status != 404 || string(a.Body) != string(dead.Body) {
			t.Errorf("%s answers %d %s", name, a.Status, a.Body)
		}
	}
	harness.TryDelete(t, agent, made.ArtifactID)
	if a := paste(t, d, page, made.UnlistedURL); a.Status != 404 || string(a.Body) != string(dead.Body) {
		t.Errorf("a link to what was deleted answers %d %s", a.Status, a.Body)
	}
}

func TestOnlyLinksOfTheDeploymentAreDrawn(t *testing.T) {
	d := harness.NewEnv(t, harness.Unlimited)
	agent, _, err := d.Anyone.Provision(ctx)
	harness.NoError(t, err)
	made := harness.Must(agent.PublishFiles(ctx, "Tide tables", "", interactive))(t)
	public, blob, err := wire.SplitLink(made.UnlistedURL)
	harness.NoError(t, err)
	draw := func(blob string) wire.Answer {
		return harness.Do(t, d.Anyone, "POST", d.Origins.App+"/api/access-links/qr",
			contract.ResolveRequest{PublicID: public, Blob: blob})
	}
	a := draw(blob)
	if a.Status != 200 || a.Header.Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(string(a.Body), "<svg ") {
		t.Errorf("%d %v %s", a.Status, a.Header, a.Body)
	}
	for _, other := range []string{strings.ToLower(blob), blob[1:], blob + "A", "https://elsewhere.example"} {
		harness.WantRefused(t, draw(other), 404, fault.NotFound)
	}

	p := browser.Open(t)
	p.Go(made.UnlistedURL)
	p.WaitText("Tide tables")
	p.Click(".drawer > summary")
	p.Click(".fold > summary")
	p.Wait(`document.querySelector(".drawn img")?.naturalWidth > 0`)
	p.Screenshot("journey-panel")
	p.Clean()
}
