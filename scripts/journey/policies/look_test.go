package policies

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// TestTheExamplesInABrowser walks as a guest, a person who is refused and one who is let in, at the widths of a phone and
// of a desk and in both themes.
func TestTheExamplesInABrowser(t *testing.T) {
	for _, x := range examples {
		t.Run(x.file, func(t *testing.T) {
			e := startExample(t, x.file)
			p := browser.Open(t)
			look := func(name string) {
				t.Helper()
				name = strings.TrimSuffix(x.file, ".json") + "-" + name
				for _, width := range []int64{320, 1280} {
					for _, theme := range []string{"light", "dark"} {
						p.Viewport(width, 800)
						p.Scheme(theme)
						if browser.Eval[bool](&p.Document, "document.documentElement.scrollWidth > innerWidth") {
							t.Errorf("%s is wider than %d px", name, width)
						}
						p.Screenshot(fmt.Sprintf("%s-%d-%s", name, width, theme))
					}
				}
			}
			p.Go(e.Origins.App + "/")
			look("guest")
			if x.refused != "" {
				p.Go(e.Origins.App + "/dashboard")
				p.SignIn(x.refused)
				p.WaitText("may not use this deployment")
				look("refused")
			}
			p.Go(e.Origins.App + "/api/auth/sign-in?returnPathname=/dashboard")
			p.SignIn(x.allowed)
			p.WaitText("Overview")
			look("overview")
			p.Go(e.Origins.App + "/device")
			look("device")
			x.lookAtALink(t, e, p)
			look("link")
		})
	}
}

func TestPagesSayThatScriptsAreOff(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.json")
	harness.NoError(t, os.WriteFile(file, []byte(`{"members": {"scripts": "off"}, "brand": {"name": "Quiet pages"}}`), 0o600))
	e, p := start(t, file), browser.Open(t)
	member := keyOf(t, e, e.SignedIn(t, "ada@example.com"))
	const page = `<!doctype html><h1 id=said>Still</h1><script>said.textContent = "ran"</script>`
	published, err := member.PublishFiles(ctx, "Still", "", harness.Page(page))
	harness.NoError(t, err)
	view, err := member.AgentView(ctx, published.ArtifactID)
	harness.NoError(t, err)
	if found := fmt.Sprint(view.PageWarnings); !strings.Contains(found, "scripts_off") || strings.Contains(found, "claim") {
		t.Errorf("the findings are %s", found)
	}
	const says = "Quiet pages does not run the scripts of pages"
	p.Go(harness.ShareURL(t, member, published.ArtifactID))
	p.Frame(e.Origins.Content).WaitText("Still")
	p.WaitText(says)
	p.Screenshot("scripts-off")
	p.Go(e.Origins.App + "/api/auth/sign-in?returnPathname=/v/" + string(published.ArtifactID))
	p.SignIn("ada@example.com")
	p.Frame(e.Origins.Content).WaitText("Still")
	p.WaitText(says)
}

// scripted is a page with a script from each host.
func scripted(hosts ...string) string {
	page := "<!doctype html><title>Scripts</title><h1>Scripts</h1>"
	for _, host := range hosts {
		page += `<script src="https://` + host + `/x.js"></script>`
	}
	return page
}

// lookAtALink opens a page with a script from a host that pages may load from, and from one that they may not.
func (x example) lookAtALink(t *testing.T, e *harness.BackendEnv, p *browser.Page) {
	t.Helper()
	member := keyOf(t, e, e.SignedIn(t, x.allowed))
	const listed, unlisted = "cdn.jsdelivr.net", "scripts.example.org"
	published, err := member.PublishFiles(ctx, "Scripts", "", harness.Page(scripted(listed, unlisted)))
	harness.NoError(t, err)
	p.Go(harness.ShareURL(t, member, published.ArtifactID))
	frame := p.Frame(e.Origins.Content)
	frame.WaitText("Scripts")
	frame.WaitViolation(unlisted)
	for _, m := range frame.Messages() {
		if strings.Contains(m.Text, "https://"+listed+"/x.js") && strings.Contains(m.Text, "violates") {
			t.Errorf("a script of %s is blocked: %v", listed, m)
		}
	}
}
