package render

import (
	"context"
	"io"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/publishing/tree"
)

// sourceOf is a file among others of a revision.
func sourceOf(path, text string, others ...string) Source {
	s := Source{Path: path, Pages: "/r/T/", Raw: "/v/T/"}
	for _, p := range append([]string{path}, others...) {
		s.Files = append(s.Files, tree.File{Path: p, Size: int64(len(text))})
	}
	s.File = s.Files[0]
	s.Open = func(_ context.Context, size int64) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text[:size])), nil
	}
	return s
}

// pageOf returns the page of a source.
func pageOf(t testing.TB, s Source, q Query) string {
	t.Helper()
	var b strings.Builder
	expect.OK(t, New().Page(t.Context(), &b, s, q))
	return b.String()
}

// mainOf returns the part of a page that its view made, with the notes.
func mainOf(t testing.TB, s Source, q Query) string {
	t.Helper()
	_, after, found := strings.Cut(pageOf(t, s, q), `<main class="body">`)
	if !found {
		t.Fatal("the page has no main part")
	}
	return strings.TrimSuffix(after, "</main></body></html>")
}

// wantInert checks that nothing in a page can run, load from elsewhere, submit or restyle, however a browser reads it.
func wantInert(t testing.TB, page string) {
	t.Helper()
	_, page, _ = strings.Cut(page, "</style>")
	for _, r := range []*Runner{diagramRunner, pdfRunner} { // the only scripts, and only whole and at the end
		page = strings.Replace(page, "</main>"+r.element()+"</body></html>", "</main></body></html>", 1)
	}
	root, err := html.Parse(strings.NewReader(page))
	expect.OK(t, err)
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script", "style", "iframe", "object", "embed", "form", "base", "meta", "link", "svg", "template",
			"button", "textarea", "select", "frame", "frameset", "applet", "portal":
			t.Errorf("the page has an element %s", n.Data)
		}
		wantOurMath(t, n)
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "srcdoc" || a.Key == "formaction" ||
				a.Key == "srcset" || a.Key == "poster" || a.Key == "ping" || a.Key == "background" {
				t.Errorf("%s has the attribute %s=%.80q", n.Data, a.Key, a.Val)
			}
			if a.Key == "href" || a.Key == "src" {
				wantHarmless(t, n.Data, a.Key, a.Val)
			}
		}
	}
}

// wantOurMath checks that an element of mathematics is a listed one with listed attributes, and that no other is in it.
func wantOurMath(t testing.TB, n *html.Node) {
	t.Helper()
	_, listed := mathElements[n.Data]
	switch inside := n.Parent != nil && n.Parent.Namespace == "math"; {
	case listed != (n.Namespace == "math"):
		t.Errorf("%s is an element of %q", n.Data, n.Namespace)
	case inside && !listed:
		t.Errorf("%s is in a formula", n.Data)
	case inside && (n.Data == "math" || mathTokens[n.Parent.Data]):
		t.Errorf("%s is in %s", n.Data, n.Parent.Data)
	}
	for _, a := range n.Attr {
		if shape := mathAttributes[a.Key]; listed && a.Key != "class" && a.Key != "alttext" &&
			(shape == nil || !shape.MatchString(a.Val)) {
			t.Errorf("%s has the attribute %s=%.80q", n.Data, a.Key, a.Val)
		}
	}
}

func wantHarmless(t testing.TB, element, key, address string) {
	t.Helper()
	lower := strings.ToLower(strings.TrimSpace(address))
	own := strings.HasPrefix(lower, "/r/t") || strings.HasPrefix(lower, "/v/t/") || strings.HasPrefix(lower, "#")
	away := strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://") || strings.HasPrefix(lower, "mailto:")
	switch {
	case own:
	case key == "href" && away:
	case element == "img" && strings.HasPrefix(lower, "data:image/"):
	default:
		t.Errorf("%s has %s=%.80q", element, key, address)
	}
}

func wantHas(t testing.TB, page string, parts ...string) {
	t.Helper()
	expect.Has(t, "the page", page, parts...)
}

func wantNot(t testing.TB, page string, parts ...string) {
	t.Helper()
	expect.Lacks(t, "the page", page, parts...)
}
