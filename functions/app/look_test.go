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
	const rgba = color => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data] };
	const luminance = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b };
	const behind = e => { for (; e; e = e.parentElement) { const c = rgba(getComputedStyle(e).backgroundColor); if (c[3] === 255) return c } return [255, 255, 255, 255] };
	const bad = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	for (let n = walk.nextNode(); n; n = walk.nextNode()) {
		const e = n.parentElement, style = getComputedStyle(e);
		if (!n.data.trim() || !e.checkVisibility()) continue;
		const [a, b] = [rgba(style.color), behind(e)].map(luminance), ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		const large = parseFloat(style.fontSize) >= 24 || parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700;
		if (ratio < (large ? 3 : 4.5)) bad.push(n.data.trim() + ": " + ratio.toFixed(2));
	}
	return bad })()`

// small lists the controls that are too small for a finger (WCAG 2.2 target size, 24 px, links inside sentences aside).
const small = `[...document.querySelectorAll("a, button, summary, input, select, textarea")].filter(e => e.checkVisibility() && !e.matches(".skip") && !e.closest("p:not(:has(> :only-child))"))
	.map(e => [e.innerText || e.id, e.getBoundingClientRect()]).filter(([, r]) => r.height < 24 || r.width < 24).map(([t, r]) => t + ": " + r.width + " x " + r.height)`

// TestLook takes pictures of every view, narrow and wide, light and dark, and checks what can be measured.
func TestLook(t *testing.T) {
	g := open(t)
	long := "Quarterly survey of the harbour seals between the northern hook and the great sandbank, with counts by bay, by tide and by observer, and all raw data"
	scenes := []struct{ name, url, prepare, until string }{
		{"home", g.appURL + "/", "", "document.querySelector('h1')"},
		{"message", g.appURL + "/none", "", "document.querySelector('h1')"},
		{"viewer-artifact", g.link("artifact", g.shows("Seals of the bay", "plain", "report.html", htmlType, unclaimed)), "", "document.querySelector('iframe')"},
		{"viewer-details", g.link("details", g.shows(long, "plain", "tall.html", htmlType)),
			`document.querySelector("details").open = true`, "document.querySelector('iframe')?.clientHeight > 2500"},
		{"viewer-parcel", g.link("parcel", g.shows("Minutes of the meeting", "plain", "minutes-of-the-meeting.pdf", "application/pdf")), "", "document.querySelector('.parcel')?.checkVisibility()"},
		{"viewer-gone", g.appURL + "/al/" + publicID + "#none", "", `document.querySelector('[data-view="gone"]').hidden === false`},
		{"viewer-unavailable", g.link("down", refuses(fault.NewCode(fault.DatabaseUnavailable))), "", `document.querySelector('[data-view="unavailable"]').hidden === false`},
	}
	p := browser.Open(t)
	p.Media("prefers-reduced-motion", "reduce") // no picture of a half-way transition
	for _, scene := range scenes {
		for width, height := range map[int64]int64{320: 640, 1280: 800} {
			p.Viewport(width, height)
			p.Go("about:blank")
			p.Go(scene.url)
			p.Wait(scene.until)
			if scene.prepare != "" {
				browser.Eval[any](&p.Document, scene.prepare)
			}
			for _, scheme := range []string{"light", "dark"} {
				p.Scheme(scheme)
				name := fmt.Sprintf("%s-%d-%s", scene.name, width, scheme)
				p.Wait(`matchMedia("(prefers-color-scheme: ` + scheme + `)").matches`)
				p.Screenshot(name)
				if wide := browser.Eval[int](&p.Document, "document.documentElement.scrollWidth"); int64(wide) > width {
					t.Errorf("%s is %d px wide", name, wide)
				}
				for _, bad := range browser.Eval[[]string](&p.Document, contrast) {
					t.Errorf("%s: contrast of %s", name, bad)
				}
				for _, bad := range browser.Eval[[]string](&p.Document, small) {
					t.Errorf("%s: too small: %s", name, bad)
				}
			}
			p.Clean()
		}
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
