package render_test

import (
	"net/url"
	"strings"
	"testing"

	"vitrine/scripts/testkit/browser"
)

// viewer frames a page as tall as that says, as the viewers of the app host do.
const viewer = `<!doctype html><link rel="icon" href="data:,"><meta name="viewport" content="width=device-width"><body style="margin:0">
<h1 style="height:100px;margin:0">The viewer</h1>
<iframe sandbox="allow-scripts" style="width:100%%;height:150px;border:0" src="%s"></iframe><script>
onmessage = ({data}) => { document.querySelector("iframe").style.height = data.height + "px"; window.scripts = data.scripts }</script>`

// plan has what is wider than a phone, and what is longer.
var plan = "# Plan\n\n- [x] done\n- [ ] open\n\n```mermaid\nflowchart LR\nA --> B --> C --> D --> E --> F --> G\n```\n\n" +
	"[On](#the-end)\n\n" + strings.Repeat("|a|b|c|d|\n|-|-|-|-|\n|aaaaaaaa|bbbbbbbb|cccccccc|dddddddd|\n\n", 20) + "## The end\n"

// TestAPageInAFrameIsAsTallAsItSays: on a phone the page around the frame scrolls, and nothing in the frame but sideways.
func TestAPageInAFrameIsAsTallAsItSays(t *testing.T) {
	e := newEnv(t, specimens(t)...)
	e.Add("plan.md", plan)
	e.Add("long.csv", "a,b,c,d\n"+strings.Repeat("one_long_word,one_long_word,one_long_word,one_long_word\n", 40))
	origin := publish(t, e)
	p := browser.Open(t)
	p.Viewport(320, 700)
	for file, holds := range map[string]string{
		"plan.md": `getComputedStyle(document.querySelector("li")).listStyleType === "none" &&
			document.images[0]?.clientWidth < 320 && document.querySelector("button.v-size")`,
		"long.csv":       `document.querySelector(".v-grid").scrollWidth > 320`,
		"greeting.py":    `document.querySelector(".v-line")`,
		"analysis.ipynb": `document.querySelector(".v-cell")`,
		// A bracket is a font's size or so high unless the font of formulas is there.
		"formulas.md": `[...document.querySelectorAll("mo")].filter(o => o.textContent === "(").some(o => o.clientHeight > 50 ||
			o.getBoundingClientRect().height > 50)`,
	} {
		p.Go(e.app + "/viewer?page=" + url.QueryEscape(origin+e.path(file)))
		f := p.Frame("/" + file)
		f.Wait(drawn)
		f.Wait(holds)
		f.Wait(`innerHeight === document.documentElement.scrollHeight && innerHeight !== 150`)
		if n := browser.Eval[int](f, `[...document.querySelectorAll("body *")].filter(e => e.scrollHeight > e.clientHeight + 1 &&
			/auto|scroll/.test(getComputedStyle(e).overflowY)).length`); n > 0 {
			t.Errorf("%s: %d elements scroll by themselves", file, n)
		}
		if browser.Eval[bool](&p.Document, "scripts") {
			t.Errorf("%s tells of scripts that a publisher wrote", file)
		}
		if file == "plan.md" {
			f.Click(`a[href$="#the-end"]`)
			p.Wait("scrollY > 500")
		}
		f.Clean()
	}
}
