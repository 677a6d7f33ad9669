package browser

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/security"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	"vitrine/scripts/testkit/output"
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

// TrustAll lets the page load what servers of tests send by TLS, whose certificates nobody vouches for.
func (p *Page) TrustAll() {
	p.t.Helper()
	call(&p.Document, security.SetIgnoreCertificateErrors, security.SetIgnoreCertificateErrorsParams{Ignore: true})
}

// Before runs a script in every document that the page loads from now on, before the scripts of the document.
func (p *Page) Before(script string) {
	p.t.Helper()
	call(&p.Document, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
}

// Accept waits for a dialog of the page or of a frame in it, and says yes.
func (p *Page) Accept() {
	p.t.Helper()
	p.until("a dialog", func() (bool, error) {
		_, err := chromedp.Call(p.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{Accept: true})
		return err == nil, err
	})
}

// Frame waits for a frame of another site whose URL contains part and returns its document; sandboxed ones are fine. It
// looks again where a frame goes, or moves to another process, before it is attached to.
func (p *Page) Frame(part string) *Document {
	p.t.Helper()
	var f *Document
	p.until("a frame at "+part, func() (bool, error) {
		infos, err := p.targets("iframe")
		for _, info := range slices.Backward(infos) {
			if strings.Contains(info.URL, part) {
				f, err = p.attach(info.TargetID, "frame "+part)
				break
			}
		}
		return f != nil, err
	})
	return f
}

// attach returns the document of a target.
func (p *Page) attach(t target.ID, name string) (*Document, error) {
	ctx, cancel := chromedp.NewContext(p.ctx, chromedp.WithTargetID(t), chromedp.WithDetachOnCancel())
	f := &Document{t: p.t, ctx: ctx, name: name}
	if err := f.listen(); err != nil {
		cancel()
		return nil, err
	}
	p.t.Cleanup(cancel)
	return f, nil
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

// Screenshot saves what the viewport shows as a picture where pictures are wanted, and returns its path.
func (p *Page) Screenshot(name string) string {
	p.t.Helper()
	return output.Picture(p.t, name, func() []byte {
		// Two frames later the current state has been painted.
		Eval[bool](&p.Document, `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))`)
		return call(&p.Document, page.CaptureScreenshot, page.CaptureScreenshotParams{}).Data
	})
}
