package app

import (
	"fmt"
	"testing"

	"vitrine/scripts/testkit/browser"
	"vitrine/shared/platform/fault"
)

// contrast lists the texts on show whose contrast with what is behind them is below WCAG AA (4.5, large text 3).
const contrast = `(() => {
	const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
	const rgba = color => {
		canvas.clearRect(0, 0, 1, 1);
		canvas.fillStyle = color;
		canvas.fillRect(0, 0, 1, 1);
		return [...canvas.getImageData(0, 0, 1, 1).data];
	};
	const luminance = c => {
		const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * r + 0.7152 * g + 0.0722 * b;
	};
	const behind = e => {
		for (; e; e = e.parentElement) {
			const c = rgba(getComputedStyle(e).backgroundColor);
			if (c[3] === 255) return c;
		}
		return [255, 255, 255, 255];
	};
	const bad = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n = walk.nextNode(); n; n = walk.nextNode()) {
		const e = n.parentElement, style = getComputedStyle(e);
		if (!n.data.trim() || !e.checkVisibility()) continue;
		const [a, b] = [rgba(style.color), behind(e)].map(luminance), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		const size = parseFloat(style.fontSize), large = size >= 24 || size >= 18.66 && style.fontWeight >= 700;
		if (ratio < (large ? 3 : 4.5)) bad.push(n.data.trim() + ": " + ratio.toFixed(2));
	}
	return bad;
})()`

// small lists the controls that are too small for a finger (WCAG 2.2 target size, 24 px, links inside sentences aside).
const small = `[...document.querySelectorAll("a, button, summary, input, select, textarea")].filter(e => e.checkVisibility() && !e.matches(".skip") && !e.closest("p:not(:has(> :only-child))"))
	.map(e => [e.innerText || e.id, e.getBoundingClientRect()]).filter(([, r]) => r.height < 24 || r.width < 24).map(([t, r]) => t + ": " + r.width + " x " + r.height)`

// measured is what of a page depends on its width.
const measured = `({Small: ` + small + `, Wide: document.documentElement.scrollWidth, High: document.documentElement.scrollHeight})`

// widths are those of a phone, a tablet and a desk.
var widths = []int64{320, 768, 1280}

// lookAt looks at a page at all widths.
func lookAt(t *testing.T, p *browser.Page, name string) {
	t.Helper()
	for _, width := range widths {
		p.Viewport(width, 640)
		look(t, p, fmt.Sprintf("%s-%d", name, width), width)
	}
}

// look measures a whole page.
func look(t *testing.T, p *browser.Page, name string, width int64) {
	t.Helper()
	m := browser.Eval[struct {
		Small      []string
		Wide, High int64
	}](&p.Document, measured)
	for _, bad := range m.Small {
		t.Errorf("%s: too small: %s", name, bad)
	}
	if m.Wide > width {
		t.Errorf("%s is %d px wide", name, m.Wide)
	}
	p.Viewport(width, min(max(m.High, 640), 4000))
	lookInThemes(t, p, name, width)
}

// lookInThemes takes pictures of what the viewport shows and measures what depends on colours, in both themes. A tablet
// shows nothing that neither a phone nor a desk does, so that its layout alone is measured.
func lookInThemes(t *testing.T, p *browser.Page, name string, width int64) {
	t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		if width == widths[1] {
			continue
		}
		p.Scheme(scheme)
		p.Wait(`matchMedia("(prefers-color-scheme: ` + scheme + `)").matches`)
		p.Screenshot(name + "-" + scheme)
		for _, bad := range browser.Eval[[]string](&p.Document, contrast) {
			t.Errorf("%s-%s: contrast of %s", name, scheme, bad)
		}
		// What axe looks at depends on the layout or on the theme and not on both, and it takes most of the time.
		if (width == widths[0]) == (scheme == "light") {
			for _, v := range p.Axe() {
				t.Errorf("%s-%s: %s", name, scheme, v)
			}
		}
	}
	p.Clean()
}

func TestMembersPagesLook(t *testing.T) {
	const parts = 3
	for part := range parts {
		t.Run(fmt.Sprintf("part %d", part+1), func(t *testing.T) {
			t.Parallel()
			var some []state
			for i := part; i < len(states); i += parts {
				some = append(some, states[i])
			}
			show(t, some)
		})
	}
}

// show shows states, each once on a phone, and looks at the page that it ends with narrow and wide.
func show(t *testing.T, some []state) {
	server := startServer(t)
	p := browser.Open(t)
	p.Media("prefers-reduced-motion", "reduce")
	for _, s := range some {
		server.reset(long, s.set)
		p.Viewport(widths[0], 640)
		server.enter(p)
		p.Go(server.appURL + s.path)
		if s.act != nil {
			s.act(p)
		}
		p.Wait(`document.readyState === "complete" && document.querySelector("h1") && !location.hash`)
		lookAt(t, p, s.name)
	}
}

// TestViewersLook looks at every view of an access link.
func TestViewersLook(t *testing.T) {
	g := open(t)
	title := "Quarterly survey of the harbour seals between the northern hook and the great sandbank, with all raw data"
	minutes := g.shows("Minutes of the meeting", "plain", "minutes-of-the-meeting.pdf", "application/pdf")
	p := browser.Open(t)
	p.Media("prefers-reduced-motion", "reduce") // no picture of a half-way transition
	for _, s := range []struct{ name, url, until string }{
		{"home", g.appURL + "/", "document.querySelector('h1')"},
		{"message", g.appURL + "/none", "document.querySelector('h1')"},
		{
			"viewer-artifact",
			g.link("artifact", g.shows(title, "plain", "tall.html", htmlType, unclaimed)),
			"document.querySelector('iframe')?.clientHeight > 2500",
		},
		{"viewer-parcel", g.link("parcel", minutes), "document.querySelector('.parcel')?.checkVisibility()"},
		{"viewer-gone", g.appURL + "/al/" + publicID + "#none", `document.querySelector('[data-view="gone"]').hidden === false`},
		{
			"viewer-unavailable",
			g.link("down", fails(fault.NewCode(fault.DatabaseUnavailable))),
			`document.querySelector('[data-view="unavailable"]').hidden === false`,
		},
	} {
		p.Go("about:blank")
		p.Go(s.url)
		p.Wait(s.until)
		lookAt(t, p, s.name)
	}
}

func TestFocusShowsAndMotionCanBeOff(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Media("prefers-reduced-motion", "reduce")
	p.Go(g.link("focus", g.shows("Focus", "plain", "report.html", htmlType)))
	p.Frame("report.html").WaitText("harbour")
	p.Press("\t")
	p.Wait(`document.activeElement.matches(".wordmark")`)
	if got := browser.Eval[string](&p.Document, `getComputedStyle(document.activeElement).outlineStyle + getComputedStyle(document.activeElement).outlineWidth`); got != "solid2px" {
		t.Errorf("focus outline %q", got)
	}
	moving := browser.Eval[[]string](&p.Document, `[...document.querySelectorAll("*")].filter(e => { const s = getComputedStyle(e);
		return s.animationName !== "none" || s.transitionDuration !== "0s" }).map(e => e.outerHTML)`)
	if len(moving) > 0 {
		t.Errorf("still moving: %v", moving)
	}
}
