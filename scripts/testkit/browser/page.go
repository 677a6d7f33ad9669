package browser

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// Page is a tab in a browser context of its own: no cookie, cache or storage is shared with another page.
type Page struct {
	Document
	features []*emulation.MediaFeature
}

// Open returns a new page, 1280 x 800 and light, that closes with the test.
func (b *Browser) Open(t testing.TB) *Page {
	t.Helper()
	ctx, cancel := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(func() {
		cancel()
		if t.Failed() {
			t.Logf("the browser is %s", b.version)
		}
	})
	p := &Page{Document: Document{t: t, ctx: ctx, name: "page"}}
	if err := p.listen(); err != nil {
		t.Fatalf("open a page: %v", err)
	}
	p.Viewport(1280, 800)
	p.Scheme("light")
	return p
}

// Go loads a URL and waits for its load event.
func (p *Page) Go(url string) {
	p.t.Helper()
	p.Do(chromedp.Navigate(url))
}

// Reload loads the document again and waits for its load event.
func (p *Page) Reload() {
	p.t.Helper()
	p.Do(chromedp.Reload())
}

// Viewport sets the size of the visible part in CSS pixels.
func (p *Page) Viewport(width, height int64) {
	p.t.Helper()
	p.Do(chromedp.EmulateViewport(width, height))
}

// Scheme sets the value of prefers-color-scheme: light or dark.
func (p *Page) Scheme(name string) { p.t.Helper(); p.Media("prefers-color-scheme", name) }

// Media sets the value of one media feature and keeps those that were set before.
func (p *Page) Media(feature, value string) {
	p.t.Helper()
	p.features = slices.DeleteFunc(p.features, func(f *emulation.MediaFeature) bool { return f.Name == feature })
	p.features = append(p.features, &emulation.MediaFeature{Name: feature, Value: value})
	call(&p.Document, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: p.features})
}

// NoScripts turns JavaScript off for the documents that the page loads from now on.
func (p *Page) NoScripts() {
	p.t.Helper()
	call(&p.Document, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// Before runs a script in every document that the page loads from now on, before the scripts of the document.
func (p *Page) Before(script string) {
	p.t.Helper()
	call(&p.Document, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// Frame waits for a frame of another site whose URL contains part and returns its document; sandboxed ones are fine.
func (p *Page) Frame(part string) *Document {
	p.t.Helper()
	var id target.ID
	p.until("a frame at "+part, func() (bool, error) {
		infos, err := p.targets("iframe")
		for _, info := range infos {
			if strings.Contains(info.URL, part) {
				id = info.TargetID
			}
		}
		return id != "", err
	})
	ctx, cancel := chromedp.NewContext(p.ctx, chromedp.WithTargetID(id), chromedp.WithDetachOnCancel())
	p.t.Cleanup(cancel)
	f := &Document{t: p.t, ctx: ctx, name: "frame " + part}
	if err := f.listen(); err != nil {
		p.t.Fatalf("attach to the frame at %s: %v", part, err)
	}
	return f
}

// WaitTab waits for a tab that the page opened at a URL.
func (p *Page) WaitTab(url string) {
	p.t.Helper()
	p.until("a tab at "+url, func() (bool, error) {
		infos, err := p.targets("page")
		return slices.ContainsFunc(infos, func(info *target.Info) bool { return info.URL == url }), err
	})
}

// targets lists the targets of one type in the browser context of the page.
func (p *Page) targets(kind string) ([]*target.Info, error) {
	ctx, cancel := context.WithTimeout(p.ctx, waitTimeout)
	defer cancel()
	all, err := chromedp.CallBrowser(ctx, target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		return nil, err
	}
	var mine []*target.Info
	for _, info := range all.TargetInfos {
		if info.Type == kind && info.BrowserContextID == chromedp.FromContext(p.ctx).BrowserContextID {
			mine = append(mine, info)
		}
	}
	return mine, nil
}

// buildVariable names the folder, by an absolute path, in which Screenshot saves pictures.
const buildVariable = "VITRINE_BUILD_DIR"

// Screenshot saves what the viewport shows as screenshots/name.png in the folder that VITRINE_BUILD_DIR names, and returns
// the path. It does nothing where that is not set, because no test reads a picture and a picture takes longer than what is
// measured.
func (p *Page) Screenshot(name string) string {
	p.t.Helper()
	build := os.Getenv(buildVariable)
	if build == "" {
		return ""
	}
	// Two frames later the current state has been painted.
	Eval[bool](&p.Document, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
	shot := call(&p.Document, page.CaptureScreenshot, page.CaptureScreenshotParams{})
	dir := filepath.Join(build, "screenshots")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		p.t.Fatal(err)
	}
	path := filepath.Join(dir, name+".png")
	if err := os.WriteFile(path, shot.Data, 0o644); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// repository returns the folder of the go.mod that the working directory belongs to.
func repository() (string, error) {
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		dir = filepath.Dir(dir)
	}
	return "", os.ErrNotExist
}
