package origins

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/wire"
)

// forgetful opens a page in a browser that keeps neither cookies nor storage.
func forgetful(t *testing.T) *browser.Page {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short: it needs a browser")
	}
	profile := t.TempDir()
	harness.NoError(t, os.Mkdir(filepath.Join(profile, "Default"), 0o700))
	const preferences = `{"profile":{"default_content_setting_values":{"cookies":2}}}`
	harness.NoError(t, os.WriteFile(filepath.Join(profile, "Default", "Preferences"), []byte(preferences), 0o600))
	b := harness.Must(browser.Start(chromedp.UserDataDir(profile)))(t)
	t.Cleanup(b.Close)
	return b.Open(t)
}

// TestTheDetailsSayThatABrowserForgets opens pages that store and one that does not.
func TestTheDetailsSayThatABrowserForgets(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	page := func(script string) string {
		a := e.publish(t, "", wire.File{Path: "index.html", Body: []byte("<!doctype html><body><script>" + script +
			`; document.body.append("ran at ", origin)</script>`)})
		return harness.ShareURL(t, e.agent, a.ArtifactID)
	}
	p := forgetful(t)
	p.Go(page("localStorage.kept = 1; document.title = localStorage.kept"))
	p.Frame("/.vitrine/t/").WaitText("ran at http://art-")
	p.Wait("!" + forgets + ".hidden")
	p.Click(".drawer summary")
	p.Wait(forgets + ".checkVisibility()")
	p.Screenshot("journey-forgets")
	p.Go(page("window.kept = 1"))
	p.Frame("/.vitrine/t/").WaitText("ran at http://art-")
	p.Frame("/.vitrine/t/").Wait(`document.readyState === "complete"`)
	if !browser.Eval[bool](&p.Document, forgets+".hidden") {
		t.Error("the details say that the browser forgets what a page does not store")
	}
}
