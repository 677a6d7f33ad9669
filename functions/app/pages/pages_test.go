package pages

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/text"
)

func TestEveryTemplateRendersItsZeroValue(t *testing.T) {
	rendered := map[string]bool{}
	for _, p := range empty {
		rendered[p.template()] = true
		body, err := Render(p, Site{}, now)
		if err != nil {
			t.Errorf("%T: %v", p, err)
		}
		if s := string(body); !strings.HasPrefix(s, "<!doctype html>") || !strings.Contains(s, "Vitrine") {
			t.Errorf("%T is no whole document", p)
		}
		// The host's policies forbid inline scripts and styles and other origins.
		expect.Lacks(t, fmt.Sprintf("%T", p), string(body), " style=", "<style", " onclick", " onload", "<script>", "http://", "#ZgotmplZ")
	}
	if len(rendered) != len(templates) {
		t.Errorf("%d pages for %d templates", len(rendered), len(templates))
	}
}

func TestHostileTextStaysText(t *testing.T) {
	for _, p := range empty {
		for _, f := range forms {
			body, err := Render(filled(p, f), Site{}, now)
			if err != nil {
				t.Fatalf("%T, form %d: %v", p, f.n, err)
			}
			for _, bad := range []string{
				"<script>", "<img src=x", `href="javascript:`, `src="javascript:`, "{{", "\u202E", "\u2066", " style=",
			} {
				if strings.Contains(strings.ReplaceAll(string(body), "{{.}}", ""), bad) {
					t.Errorf("%T, form %d, contains %q:\n%s", p, f.n, bad, body)
				}
			}
		}
	}
}

func TestAssets(t *testing.T) {
	for _, name := range []string{
		"vitrine.css", "viewer.js", "exhibit.js", "live.js", "private.js", "panel.js", "claim.js", "forms.js", "decision.js",
		"icon.svg", "report.js", "since.js", "publish.js", "choose.js", "transfer.js", "sha256.js", "title.js",
		"ignore.js", "leak.js", "feedback.js", "guest.js", "guest.html", "pow.js", "threads.css",
	} {
		a, ok := FindAsset(name)
		if !ok || a.Type == "" || len(a.Body) == 0 {
			t.Errorf("%s: found %v, type %q, %d bytes", name, ok, a.Type, len(a.Body))
		}
		if path, err := AssetPath(name); err != nil || path != "/assets/"+Build()+"/"+name {
			t.Errorf("AssetPath(%s) = %q, %v", name, path, err)
		}
	}
	if len(assets) != 24 {
		t.Errorf("%d assets, want those above", len(assets))
	}
	if _, err := AssetPath("none.css"); err == nil {
		t.Error("a template may name an asset that does not exist")
	}
}

// User-controlled strings must reach the document as text only.
func TestScriptsMakeNoMarkup(t *testing.T) {
	var scripts string
	for _, name := range []string{
		"viewer.js", "exhibit.js", "live.js", "private.js", "panel.js", "claim.js", "forms.js", "decision.js",
		"report.js", "publish.js", "choose.js", "transfer.js", "title.js", "feedback.js", "guest.js",
	} {
		a, _ := FindAsset(name)
		scripts += string(a.Body)
	}
	expect.Lacks(t, "a script", scripts,
		"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "srcdoc", "document.cookie",
		"localStorage", "\"allow-same-origin",
	)
}

func TestPlainTextCannotPassForAnother(t *testing.T) {
	expect.Results(t, Plain, map[string]string{
		"Seals of the bay":             "Seals of the bay",
		"gpj\u202Eexe.":                "gpj\uFFFDexe.",
		"a\u2066b\u2069":               "a\uFFFDb\uFFFD",
		"line\r\nbreak\x00\x1b[31m":    "line\uFFFD\uFFFDbreak\uFFFD\uFFFD[31m",
		"zero\u200Bwidth\uFEFF":        "zero\uFFFDwidth\uFFFD",
		"\xff\xfe":                     "\uFFFD",
		"":                             "(no name)",
		" \u00A0 ":                     "(no name)",
		"café 漢字 עברית":                "café 漢字 עברית",
		"👩\u200D🚀":                     "👩\u200D🚀",
		"می\u200Cخواهم":                "می\u200Cخواهم",
		"Ver\u00ADfassung \u0600٣":     "Ver\u00ADfassung \u0600٣",
		"a\u200Eb\u061Cc\u2060":        "a\uFFFDb\uFFFDc\uFFFD",
		strings.Repeat("ä", 200):       strings.Repeat("ä", 200),
		strings.Repeat("ä", 201):       strings.Repeat("ä", 200) + "…",
		"<b>&amp;</b>":                 "<b>&amp;</b>", // templates escape
		"paragraph\u2029and\u2028line": "paragraph\uFFFDand\uFFFDline",
	})
}

func TestSizesAreThoseOfTheCommandLine(t *testing.T) {
	for _, n := range []int64{0, 1, 999, 1000, 18_412, 999_999, 2_340_000, 10 << 20, 5_000_000_000_000} {
		if size(n) != text.Size(n) || n > 0 && most(n) != text.SizeLimit(n) {
			t.Errorf("%d bytes are %s and %s here, %s and %s there", n, size(n), most(n), text.Size(n), text.SizeLimit(n))
		}
	}
}

func TestNumbersForPeople(t *testing.T) {
	for got, want := range map[string]string{
		size(0):                       "0 bytes",
		size(1):                       "1 byte",
		size(999):                     "999 bytes",
		size(1000):                    "1 kB",
		size(18_412):                  "18 kB",
		size(2_340_000):               "2.3 MB",
		size(999_999):                 "1 MB",
		size(5_000_000_000_000):       "5 TB",
		most(10 << 20):                "10 MiB",
		most(1500):                    "1.5 kB",
		Span(24 * time.Hour):          "1 day",
		Span(72 * time.Hour):          "3 days",
		Span(36 * time.Hour):          "36 hours",
		Span(90 * time.Second):        "90 seconds",
		Wait(0):                       "1 second",
		Wait(1100 * time.Millisecond): "2 seconds",
		Wait(90 * time.Second):        "90 seconds",
		Wait(91 * time.Second):        "2 minutes",
		Wait(time.Hour + time.Second): "61 minutes",
		Wait(100 * time.Minute):       "2 hours",
		Wait(24*time.Hour + 1):        "25 hours",
		utc(time.Date(2026, 3, 1, 23, 5, 0, 0, time.FixedZone("", 3600))):     "1 March 2026, 22:05 UTC",
		machine(time.Date(2026, 3, 1, 23, 5, 0, 0, time.FixedZone("", 3600))): "2026-03-01T22:05:00Z",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
