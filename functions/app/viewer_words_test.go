package app

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"vitrine/functions/app/pages"
	"vitrine/scripts/testkit/browser"
	"vitrine/shared/platform/contract"
)

func TestScriptsShowTheSameTextAsPages(t *testing.T) {
	g, p := open(t), browser.Open(t)
	p.Go(g.link(blob, g.shows("x", "plain", "report.html", htmlType)))
	waitView(p, "artifact")
	p.Do(chromedp.Evaluate[chromedp.Void](`import("` + asset0("exhibit.js") + `").then(m => { window.plain = m.plain })`))
	p.Wait("window.plain")
	const end = 0xF900 // what is beyond is like one of those that are named below
	got := browser.Eval[[]int](&p.Document, fmt.Sprintf(`[...Array(%d).keys(), 0xFEFF, 0x1BCA0, 0x110BD, 0xE0001, 0xF0000].sort((a, b) => a - b).filter(c =>
		(c < 0xD800 || c > 0xDFFF) && plain("x" + String.fromCodePoint(c)) !== "x" + String.fromCodePoint(c))`, end))
	var want []int
	all := []int{0xFEFF, 0x1BCA0, 0x110BD, 0xE0001, 0xF0000}
	for c := range end {
		all = append(all, c)
	}
	slices.Sort(all)
	for _, c := range all {
		if text := "x" + string(rune(c)); (c < 0xD800 || c > 0xDFFF) && pages.Plain(text) != text {
			want = append(want, c)
		}
	}
	if !slices.Equal(got, want) || !slices.Contains(got, 0x202E) {
		t.Errorf("scripts replace %d characters, pages %d", len(got), len(want))
	}
	for _, s := range []string{"", " ", strings.Repeat("ä", 200), strings.Repeat("👩", 201), "<b>"} {
		if got, want := browser.Eval[string](&p.Document, "plain("+strconv.Quote(s)+")"), pages.Plain(s); got != want {
			t.Errorf("plain(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestWhatIsKeptDoesNotExpire(t *testing.T) {
	g, p := open(t), browser.Open(t)
	kept := g.shows("Kept", "plain", "report.html", htmlType, func(r *contract.Resolved) {
		r.Pinned, r.AgentView.ExpiresAt = true, contract.At(time.Now().Add(-time.Hour)) // it would have ended
	})
	p.Go(g.link("kept", kept))
	waitView(p, "artifact")
	if got := p.Text(".placard"); !strings.Contains(got, "Kept: it does not expire") ||
		strings.Contains(strings.ToLower(got), "expired") || strings.Contains(got, "Expires") {
		t.Errorf("shows %q", got)
	}
	p.Go(g.link("ending", g.shows("Ending", "plain", "report.html", htmlType)))
	p.Wait(`document.title === "Ending | Vitrine"`)
	if got := p.Text(".placard"); strings.Contains(got, "Kept") || !strings.Contains(got, "Expires") {
		t.Errorf("of the next one it shows %q", got)
	}
	p.Clean()
}
