package app

import (
	"path"
	"regexp"
	"strings"
	"testing"

	"vitrine/functions/app/pages"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/pack"
	"vitrine/shared/platform/policy"
)

// branded is the brand of an owner who chose everything.
var branded = policy.Brand{
	Name:    "A&B 'C'",
	Accent:  "#1f6feb",
	Logo:    policy.Logo{Type: "image/svg+xml", Data: []byte(`<svg xmlns="http://www.w3.org/2000/svg"></svg>`)},
	Contact: "mailto:help@example.com",
	Terms:   "https://example.com/terms",
	Privacy: "https://example.com/privacy",
}

const escapedName = "A&amp;B &#39;C&#39;"

func TestTheAccentIsJudgedByTheColoursOfThePages(t *testing.T) {
	sheet, _ := pages.FindAsset("vitrine.css")
	expect.Has(t, "the style sheet", string(sheet.Body),
		"--wall: light-dark("+policy.LightBackground+", "+policy.DarkBackground+");")
}

// brandPaths returns the paths of the brand's files in a page.
func brandPaths(page string) []string {
	return regexp.MustCompile(`/assets/[0-9a-f]{16}/(?:accent|logo)\.(?:css|svg|png)`).FindAllString(page, -1)
}

func TestPagesLoadTheBrandFromTheirHost(t *testing.T) {
	h, _ := host(nil)
	h.Brand = branded
	handler := h.Handler()
	page := wantAnswer(t, "the front page", send(handler, "GET", "/", ""), 200,
		"<title>"+escapedName+": files behind glass</title>",
		`href="mailto:help@example.com"`, `href="https://example.com/terms"`, `href="https://example.com/privacy"`)
	paths := brandPaths(page)
	if len(paths) != 3 || paths[0] != paths[2] { // icon, style sheet and mark
		t.Fatalf("the page loads %q", paths)
	}
	for i, want := range []struct{ media, body string }{
		{"image/svg+xml", string(branded.Logo.Data)},
		{"text/css; charset=utf-8", ":root { --accent: #1f6feb; --on-accent: #ffffff }\n"},
	} {
		r := send(handler, "GET", paths[i], "")
		wantHeaders(t, paths[i], r, "Content-Type", want.media, "Cache-Control", "public, max-age=31536000, immutable",
			policyHeader, "default-src 'none'; style-src 'unsafe-inline'; sandbox", "X-Content-Type-Options", "nosniff")
		if body := wantAnswer(t, paths[i], r, 200); body != want.body {
			t.Errorf("%s is %q", paths[i], body)
		}
		other := "/assets/0011223344556677/" + path.Base(paths[i])
		r = send(handler, "GET", other, "")
		wantHeaders(t, other, r, "Cache-Control", "no-store")
		wantAnswer(t, other, r, 200)
	}
	missing := strings.Replace(paths[0], ".svg", ".png", 1)
	wantAnswer(t, missing, send(handler, "GET", missing, ""), 404, "Nothing on show here")
	plain, _ := host(nil)
	wantAnswer(t, "without a brand", send(plain.Handler(), "GET", paths[0], ""), 404)
}

func TestAFailureSaysWhomToAsk(t *testing.T) {
	h, _ := host(nil)
	h.Brand = branded
	for path, status := range map[string]int{"/none": 404, "/al/x": 404} {
		r := send(h.Handler(), "GET", path, "")
		wantAnswer(t, path, r, status, " | "+escapedName+"</title>", "What is "+escapedName+"?",
			`Contact: <a href="mailto:help@example.com">help@example.com</a>`)
	}
}

func TestThePageOfALinkIsAnotherOneWithAnotherBrand(t *testing.T) {
	h, _ := host(nil)
	handler := h.Handler()
	tag := send(handler, "GET", "/al/"+publicID, "").Header.Get("ETag")
	if r := send(handler, "GET", "/al/"+publicID, "", "If-None-Match", tag); r.StatusCode != 304 {
		t.Errorf("the same page: %d", r.StatusCode)
	}
	for name, b := range map[string]policy.Brand{
		"a name": {Name: "Pictures"}, "an accent": {Accent: "#1f6feb"}, "a contact": {Contact: branded.Contact},
		"a logo": {Logo: branded.Logo},
	} {
		h.Brand = b
		if r := send(h.Handler(), "GET", "/al/"+publicID, "", "If-None-Match", tag); r.StatusCode != 200 {
			t.Errorf("with %s: %d", name, r.StatusCode)
		}
	}
}

// With everything that a brand has, an opening stays within what it may take.
func TestABrandedOpeningIsSmall(t *testing.T) {
	h, _ := host(nil)
	h.Brand = branded
	handler := h.Handler()
	page := text(t, send(handler, "GET", "/al/"+publicID, ""))
	for _, c := range pack.Codings {
		size := len(pack.Tightly(c, []byte(page)))
		files := append(paths(announced, page), paths(started, page)...)
		for _, path := range append(files, asset0("vitrine.css"), brandPaths(page)[1]) {
			size += len(text(t, send(handler, "GET", path, "", "Accept-Encoding", string(c))))
		}
		if size > 20_000 {
			t.Errorf("it takes %d bytes of %s", size, c)
		}
	}
}

func TestWithoutReportsTheFormIsUnknown(t *testing.T) {
	s := newServices()
	h, _ := s.host()
	h.NoReports = true
	handler := h.Handler()
	unknown := text(t, send(handler, "GET", "/none", ""))
	for _, method := range []string{"GET", "POST", "PUT"} {
		if got := wantAnswer(t, method, send(handler, method, "/report", "", "Content-Type", formType), 404); got != unknown {
			t.Errorf("%s /report differs from an unknown page:\n%s", method, got)
		}
	}
	wantCalls(t, "reports", s)
	if page := text(t, send(handler, "GET", "/", "")); strings.Contains(page, "eport abuse") {
		t.Error("the front page offers the form")
	}
}
