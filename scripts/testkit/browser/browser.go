// Package browser drives Debian's Chromium in tests: pages, sandboxed frames, console messages, policy violations,
// screenshots.
//
// A test package that uses it hands its tests to Main, so that one Chromium serves them all and leaves no files behind:
//
//	func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }
package browser

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

// Install is the command that installs Chromium.
const Install = "apt-get install -y chromium"

// chromiumVariable names the program that is used instead of the installed Chromium.
const chromiumVariable = "VITRINE_CHROMIUM"

// Find returns the path of Chromium; the error is one sentence that names the command to install it.
func Find() (string, error) {
	if path := os.Getenv(chromiumVariable); path != "" {
		return path, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("browser tests need Chromium, which is missing: install it with `" + Install + "`")
}

// Browser is one running Chromium with an empty profile.
type Browser struct {
	ctx     context.Context
	release func()
	version string // as Chrome/156.0.8078.79
}

// flags keep the browser from sending requests of its own, so that every request in a test is one
// that the page made.
var flags = []chromedp.ExecAllocatorOption{
	chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck,
	chromedp.Flag("disable-quic", true),
	chromedp.Flag("disable-background-networking", true),
	chromedp.Flag("disable-component-update", true),
	chromedp.Flag("disable-sync", true),
	chromedp.Flag("disable-default-apps", true),
	chromedp.Flag("disable-extensions", true),
	chromedp.Flag("disable-breakpad", true),
	chromedp.Flag("disable-dev-shm-usage", true),
	chromedp.Flag("disable-renderer-backgrounding", true),
	chromedp.Flag("disable-backgrounding-occluded-windows", true),
	chromedp.Flag("disable-background-timer-throttling", true),
	chromedp.Flag("force-color-profile", "srgb"),
	chromedp.Flag("lang", "en-US"),
	chromedp.Flag("password-store", "basic"),
	// A process for the next site, which each document would start and few use.
	chromedp.Flag("disable-features", addressBar+",SpareRendererForSitePerProcess"),
}

// addressBar are two pages of the address bar, which each new window would load and nobody sees.
const addressBar = "WebUIOmniboxPopup,WebUIOmniboxAimPopup"

// SpareRenderer has Chromium start a process for the next site ahead, as it does for people.
var SpareRenderer = chromedp.Flag("disable-features", addressBar)

// Start launches Chromium with options beside those of tests; the caller closes it.
func Start(more ...chromedp.ExecAllocatorOption) (*Browser, error) {
	path, err := Find()
	if err != nil {
		return nil, err
	}
	profile, err := os.MkdirTemp("", "vitrine-chromium-")
	if err != nil {
		return nil, err
	}
	opts := append([]chromedp.ExecAllocatorOption{chromedp.ExecPath(path), chromedp.UserDataDir(profile)}, flags...)
	opts = append(opts, more...)
	alloc, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	// The DevTools protocol is newer than Chromium or the reverse, so that messages which one side
	// does not know are no failure.
	ctx, cancel := chromedp.NewContext(alloc, chromedp.WithErrorf(func(string, ...any) {}))
	b := &Browser{ctx: ctx, release: func() {
		cancel()
		stop()
		os.RemoveAll(profile)
	}}
	if err := chromedp.Do(ctx); err != nil {
		b.release()
		return nil, err
	}
	version, err := chromedp.CallBrowser(ctx, browser.GetVersion, cdp.Empty{})
	if err != nil {
		b.release()
		return nil, err
	}
	b.version = version.Product
	return b, nil
}

// Close ends Chromium, waits for it and removes its profile.
func (b *Browser) Close() {
	chromedp.Cancel(b.ctx)
	b.release()
}

// Tab opens an empty tab with a profile of its own, all of whose requests go through a proxy, even those to this
// machine. The returned context drives it with chromedp; it ends with ctx, or when the tab is closed.
func (b *Browser) Tab(ctx context.Context, proxy string) (tab context.Context, closeTab func(), err error) {
	throughProxy := func(p *target.CreateBrowserContextParams) {
		p.ProxyServer, p.ProxyBypassList = proxy, "<-loopback>"
	}
	tab, closeTab = chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext(throughProxy))
	context.AfterFunc(ctx, closeTab)
	return tab, closeTab, chromedp.Do(tab)
}

var shared struct {
	sync.Mutex
	browser *Browser
}

// Open returns a new page in the Chromium of the test binary, which starts with the first page.
// A missing Chromium fails the test. `go test -short` leaves out the tests that open a page.
func Open(t testing.TB) *Page {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short: it needs a browser")
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.browser == nil {
		b, err := Start()
		if err != nil {
			t.Fatal(err)
		}
		shared.browser = b
	}
	return shared.browser.Open(t)
}

// Main runs the tests and then ends the Chromium that Open started.
func Main(m *testing.M) int {
	defer func() {
		shared.Lock()
		defer shared.Unlock()
		if shared.browser != nil {
			shared.browser.Close()
			shared.browser = nil
		}
	}()
	return m.Run()
}
