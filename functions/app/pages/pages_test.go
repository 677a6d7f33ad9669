package pages

import (
	"strings"
	"testing"
)

func all(zero bool) map[string]Page {
	if zero {
		return map[string]Page{"home": Home{}, "viewer": Viewer{}, "message": Message{}}
	}
	return map[string]Page{
		"home":    Home{APIURL: hostile, AppURL: hostile},
		"viewer":  Viewer{PublicID: hostile, ContentOrigin: hostile, APIURL: hostile},
		"message": Message{Heading: hostile, Text: hostile, RequestID: hostile},
	}
}

const hostile = `javascript:alert(1)//"'><script>alert(2)</script><img src=x onerror=alert(3)>{{.}}</title></noscript>`

func TestEveryTemplateRendersItsZeroValue(t *testing.T) {
	pages := all(true)
	if len(pages) != len(templates) {
		t.Fatalf("%d pages for %d templates", len(pages), len(templates))
	}
	for name, p := range pages {
		body, err := Render(p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if s := string(body); !strings.HasPrefix(s, "<!doctype html>") || !strings.Contains(s, "Vitrine") {
			t.Errorf("%s is no whole document", name)
		}
	}
}

func TestHostileTextStaysText(t *testing.T) {
	for name, p := range all(false) {
		body, err := Render(p)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, bad := range []string{"<script>", "<img", `href="javascript:`, `src="javascript:`, "{{"} {
			if strings.Contains(strings.ReplaceAll(string(body), "{{.}}", ""), bad) {
				t.Errorf("%s contains %q:\n%s", name, bad, body)
			}
		}
	}
}

// The policies of the host allow no inline script or style and no other origin, so templates must not hold any.
func TestTemplatesKeepToThePolicy(t *testing.T) {
	for name, p := range all(true) {
		body, _ := Render(p)
		for _, bad := range []string{" style=", "<style", " onclick", " onload", "<script>", "http://", "href=\"#"} {
			if strings.Contains(string(body), bad) {
				t.Errorf("%s contains %q", name, bad)
			}
		}
	}
}

func TestAssets(t *testing.T) {
	for _, name := range []string{"vitrine.css", "viewer.js", "icon.svg"} {
		a, ok := FindAsset(name)
		if !ok || a.Type == "" || len(a.Body) == 0 {
			t.Errorf("%s: found %v, type %q, %d bytes", name, ok, a.Type, len(a.Body))
		}
		if path, err := AssetPath(name); err != nil || path != "/assets/"+Build()+"/"+name {
			t.Errorf("AssetPath(%s) = %q, %v", name, path, err)
		}
	}
	if len(assets) != 3 {
		t.Errorf("%d assets, want the three above", len(assets))
	}
	if _, err := AssetPath("none.css"); err == nil {
		t.Error("a template may name an asset that does not exist")
	}
}

// Strings that people sent must reach the document as text alone.
func TestScriptsMakeNoMarkup(t *testing.T) {
	a, _ := FindAsset("viewer.js")
	for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "srcdoc", "document.cookie", "localStorage", "\"allow-same-origin"} {
		if strings.Contains(string(a.Body), bad) {
			t.Errorf("viewer.js contains %s", bad)
		}
	}
}
