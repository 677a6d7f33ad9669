package lint

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
)

var published = media.Running()

// site is the revision that pages of tests are in.
var site = Revision{
	Entrypoint: "index.html",
	Paths: []string{
		"index.html", "docs/index.html", "docs/guide.html", "img/Logo.png", "img/a b.png", "img/a,b.png", "app.js",
		"style.css", "data/list.json", "100%.png", "notes.md",
	},
	Scripts: true,
	Loads:   published,
}

// found lists the findings in a file as "code line severity".
func found(r Revision, path, body string) (out []string) {
	for _, w := range New(r).Check(path, []byte(body)).Warnings {
		out = append(out, fmt.Sprintf("%s %d %s", w.Code, w.Line, w.Severity))
	}
	return out
}

func TestFilesThatAPageNames(t *testing.T) {
	for _, tt := range []struct{ name, path, body, want string }{
		{"an image that is there", "index.html", `<img alt="" src="img/Logo.png?v=2#x">`, ""},
		{"one that is not", "index.html", "\n\n<img alt='' src='img/gone.png'>", "missing_file 3 error"},
		{"one with another way", "index.html", `<img alt="" src="img/gone.png" onerror="x()">`, "missing_file 1 warning"},
		{"capitals", "index.html", `<img alt="" src="img/logo.png">`, "wrong_case 1 error"},
		{"an encoded space", "index.html", `<img alt="" src="img/a%20b.png">`, ""},
		{"a space as it is", "index.html", `<img alt="" src="img/a b.png">`, ""},
		{"a percent sign that encodes nothing", "index.html", `<img alt="" src="100%.png">`, ""},
		{"tabs and line ends within", "index.html", "<img alt='' src=' img/\nLogo.png\t'>", ""},
		{"a backslash", "index.html", `<img alt="" src="img\Logo.png">`, ""},
		{"from a folder", "docs/guide.html", `<img alt="" src="../img/Logo.png"><a href="index.html">`, ""},
		{"encoded dots", "docs/guide.html", `<img alt="" src="%2e%2E/img/Logo.png">`, ""},
		{"from the root of the host", "index.html", `<script src="/app.js"></script>`, "root_relative 1 error"},
		{"a file that is nowhere", "index.html", `<script src="/gone.js"></script>`, "leaves_artifact 1 error"},
		{"above the root", "docs/guide.html", `<link rel=stylesheet href="../../style.css">`, "leaves_artifact 1 error"},
		{"a link", "index.html", `<a href="gone.html">`, "missing_file 1 warning"},
		{"a folder", "index.html", `<a href="docs/"><a href="img"><a href="./">`, ""},
		{"a page without its extension", "docs/guide.html", `<a href="guide"><a href="../docs/index">`, ""},
		{"a folder that scripts read", "index.html", "<script>fetch('docs/')</script>", "missing_file 1 warning"},
		{"a part of the page", "index.html", `<a href="#top"><a href="?x"><a href="">`, ""},
		{"other places", "index.html", `<a href="https://a.example/x"><a href="mailto:a@b.c"><a href="//b.example">`, ""},
		{"a file of a computer", "index.html", `<img alt="" src="file:///home/ada/a.png">`, "local_file 1 error"},
		{"a drive", "index.html", `<img alt="" src="C:\pics\a.png">`, "local_file 1 error"},
		{"a template", "index.html", `<img alt="" src="{{ .Src }}"><img alt="" src="${x}.png">`, ""},
		{"in a template element", "index.html", `<template><img src="gone.png"></template>`, ""},
		{"in a comment", "index.html", `<!-- <img src="gone.png"> -->`, ""},
		{"a set of images", "index.html", `<img alt="" srcset="img/Logo.png 1x, img/gone.png 2x">`, "missing_file 1 warning"},
		{"a set with a comma in a name", "index.html", `<img alt="" srcset="img/a,b.png 1x, img/Logo.png, img/Logo.png">`, ""},
		{"a set with data", "index.html", `<img alt="" srcset="data:image/png;base64,AAAA 1x">`, ""},
		{"a style sheet that is not there", "index.html", `<link rel="stylesheet" href="gone.css">`, "missing_file 1 error"},
		{"an icon that is not there", "index.html", `<link rel="icon" href="gone.ico">`, ""},
		{"in a style", "index.html", "<style>\n/* url(x.png) */\nb{background:url('gone.png')}</style>", "missing_file 3 warning"},
		{"in an attribute", "index.html", `<p style="background:url(gone.png)">`, "missing_file 1 warning"},
		{"a fetch", "index.html", "<script>\nfetch('data/list.json'); fetch('data/gone.json')</script>", "missing_file 2 warning"},
		{"a fetch of a server", "index.html", "<script>fetch('/api/x')</script>", "leaves_artifact 1 warning"},
		{"a fetch that is put together", "index.html", "<script>fetch('data/' + n); fetch(`d/${n}`)</script>", ""},
		{"a fetch in a comment", "index.html", "<script>// fetch('gone.json')</script>", ""},
		{"another function", "index.html", "<script>prefetch('gone.json'); cache.fetch('gone.json')</script>", ""},
		{"a module", "index.html", "<script type=module>import a from './gone.js'</script>", "missing_file 1 warning"},
		{"a name of an import map", "index.html", "<script type=module>import a from 'react'</script>", ""},
		{"twice the same", "index.html", `<a href="x"><a href="x">`, "missing_file 1 warning"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(found(site, tt.path, tt.body), ", "); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestWhatThePolicyBlocks(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"a script of another host", `<script src="https://a.example/x.js"></script>`, "script_blocked 1 error"},
		{"one that is allowed", `<script src="https://cdn.jsdelivr.net/npm/x"></script>`, ""},
		{"one with its port", `<script src="https://unpkg.com:443/x"></script>`, ""},
		{"one with another port", `<script src="https://unpkg.com:8443/x"></script>`, "script_blocked 1 error"},
		{"one whose name ends like it", `<script src="https://evilunpkg.com/x"></script>`, "script_blocked 1 error"},
		{"one as its user", `<script src="https://unpkg.com@a.example/x"></script>`, "script_blocked 1 error"},
		{"by http", `<script src="http://unpkg.com/x"></script>`, "mixed_content 1 error"},
		{"by neither", `<script src="//unpkg.com/x"></script>`, ""},
		{"data in a script element", `<script type="application/json" src="https://a.example"></script>`, ""},
		{"a style", `<link rel=stylesheet href="https://a.example/x.css">`, "style_blocked 1 error"},
		{"one that is allowed", `<link rel=stylesheet href="https://fonts.googleapis.com/css2?family=A">`, ""},
		{"a hint", `<link rel=preconnect href="https://a.example"><link rel=canonical href="https://a.example">`, ""},
		{"an imported style", "<style>@import url('https://a.example/x.css');</style>", "style_blocked 1 warning"},
		{"a font", "<style>@font-face{font-family:A;src:url(https://a.example/a.woff2)}</style>", "font_blocked 1 warning"},
		{"fonts that are allowed",
			"<style>@font-face{src:url(https://fonts.gstatic.com/a),url(data:font/woff2;base64,AA)}</style>", ""},
		{"an image", `<img alt="" src="https://a.example/x.png">`, "image_blocked 1 error"},
		{"data and blobs", `<img alt="" src="data:image/png;base64,AA"><img alt="" src="blob:x">`, ""},
		{"an image of a style", "<style>b{background:url(//a.example/x)}</style>", "image_blocked 1 warning"},
		{"one of a drawing", `<svg><image href="https://a.example/x.png"/></svg>`, "image_blocked 1 error"},
		{"a sound", `<audio src="https://a.example/x.mp3"></audio>`, "media_blocked 1 error"},
		{"a sound in the page", `<audio src="data:audio/mp3;base64,AA"></audio>`, ""},
		{"a tile", `<img alt="" src="https://b.tile.openstreetmap.org/1/2/3.png">`, ""},
		{"one of a host that ends alike", `<img alt="" src="https://eviltile.openstreetmap.org/x">`, "image_blocked 1 error"},
		{"data of a package", "<script>fetch('https://cdn.jsdelivr.net/npm/x/a.json')</script>", ""},
		{"a frame", `<iframe src="https://a.example"></iframe>`, "frame_blocked 1 error"},
		{"a frame of the artifact", `<iframe src="docs/index.html"></iframe>`, "frame_blocked 1 error"},
		{"an empty frame", `<iframe src="about:blank"></iframe><iframe></iframe>`, ""},
		{"a worker", "<script>new Worker('app.js')</script>", "needs_origin 1 warning"},
		{"a part of another drawing", `<svg><use href="img/i.svg#x"/><use href="#y"/></svg>`, "needs_origin 1 error"},
		{"a service worker", "<script>navigator.serviceWorker.register('sw.js')</script>", "service_worker 1 warning"},
		{"an object", `<object data="docs/guide.html"></object>`, "object_blocked 1 error"},
		{"a request", "<script>\nfetch(\"https://a.example/x?key=1\")</script>", "connect_blocked 2 warning"},
		{"a socket", "<script>new WebSocket('wss://a.example')</script>", "connect_blocked 1 warning"},
		{"a stream", "<script>new EventSource('https://a.example')</script>", "connect_blocked 1 warning"},
		{"an old request", "<script>x.open('GET', 'https://a.example')</script>", "connect_blocked 1 warning"},
		{"an open file", "<script>x.open('a.txt', 'r')</script>", ""},
		{"a beacon", "<script>navigator.sendBeacon('https://a.example')</script>", "connect_blocked 1 warning"},
		{"an import", "<script>import('https://a.example/x.js')</script>", "script_blocked 1 warning"},
		{"an import that is allowed", "<script type=module>import x from 'https://esm.sh/x'</script>", ""},
		{"an import of a module", "<script type=module>import {x} from \"https://a.example/x\"</script>", "script_blocked 1 warning"},
		{"a form with an address", `<form action="https://a.example"></form>`, "form_blocked 1 warning"},
		{"a form that is sent", `<form method=post action="login"></form>`, "form_blocked 1 warning"},
		{"a button that sends it", `<form><button formaction="//a.example/x">Go</button></form>`, "form_blocked 1 warning"},
		{"a search form", `<form action="search.html"><input name=q></form>`, ""},
		{"a form that is heard", `<form><button>Go</button></form><script>f.addEventListener("submit", g)</script>`, ""},
		{"a field without a button", `<form><input></form>`, ""},
		{"a base", `<base href="https://a.example/">`, "base_blocked 1 warning"},
		{"a base for targets", `<base target="_blank">`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(found(site, "index.html", tt.body), ", "); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestWhatAPageShouldHave(t *testing.T) {
	whole := `<!doctype html><html lang="en"><head><title>A</title><meta name="viewport" content="x"></head>`
	for _, tt := range []struct{ name, body, want string }{
		{"all of it", whole, ""},
		{"a piece of a page", "<p>hello", ""},
		{"no title", strings.Replace(whole, "<title>A</title>", "", 1), "missing_title 0 info"},
		{"an empty title", strings.Replace(whole, "<title>A<", "<title> <", 1), "missing_title 0 info"},
		{"a title of a drawing", strings.Replace(whole, "<title>A</title>", "<svg><title>A</title></svg>", 1), "missing_title 0 info"},
		{"a title by a script", strings.Replace(whole, "<title>A</title>", "<script>document.title=1</script>", 1), ""},
		{"no language", strings.Replace(whole, ` lang="en"`, "", 1), "missing_lang 1 info"},
		{"no viewport", strings.Replace(whole, "viewport", "x", 1), "missing_viewport 0 info"},
		{"an image without words", whole + "\n<img src='img/Logo.png'><img src='img/Logo.png'>", "missing_alt 2 info"},
		{"an ornament", whole + `<img src="img/Logo.png" alt><img src="img/Logo.png" aria-hidden="true">`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(found(site, "index.html", tt.body), ", "); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestScriptsThatDoNotRunYet(t *testing.T) {
	unclaimed := site
	unclaimed.Scripts = false
	for body, want := range map[string]string{
		"<script>x()</script>\n<script src=app.js></script>": "script_unclaimed 1 info",
		"<script>localStorage.x = 1</script>":                "script_unclaimed 1 info, storage_blocked 1 info",
		"<p onclick='x()'>":                                  "script_unclaimed 1 info",
		"<a href='javascript:x()'>":                          "script_unclaimed 1 info",
		"<a href='javascript:void(0)'>":                      "",
		"<script type='text/x-template'></script>":           "",
		"<noscript><script>x()</script></noscript>":          "",
	} {
		if got := strings.Join(found(unclaimed, "index.html", body), ", "); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
		if got := found(site, "index.html", body); len(got) > 0 {
			t.Errorf("once claimed, %s has %v", body, got)
		}
	}
}

func TestLinksOfMarkdown(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"a link that is there", "[a](docs/guide.html#x) ![b](img/Logo.png \"t\")", ""},
		{"a link that is not", "x\n\n[a](gone.md)", "missing_file 3 warning"},
		{"an image that is not", "![a](gone.png)", "missing_file 1 warning"},
		{"capitals", "![a](img/logo.png)", "wrong_case 1 warning"},
		{"with brackets", "![a](<img/a b.png>) ![a](<gone b.png>)", "missing_file 1 warning"},
		{"a definition", "[a]: gone.md \"title\"", "missing_file 1 warning"},
		{"a footnote", "[^1]: gone.md", ""},
		{"parentheses", "[a](b_(c).png)", ""},
		{"elsewhere", "[a](https://a.example) ![b](https://a.example/x.png)", ""},
		{"code", "`[a](gone.md)`\n\n    [a](gone.md)\n\n```\n[a](gone.md)\n```\n", ""},
		{"after code", "~~~ go\n```\n~~~\n[a](gone.md)", "missing_file 4 warning"},
		{"a comment", "<!-- [a](gone.md)\n[b](gone.md) -->", ""},
		{"HTML", "<p><img width=3 src=\"gone.png\"></p>", "missing_file 1 warning"},
		{"from the root", "[a](/docs/guide.html)", "root_relative 1 warning"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(found(site, "notes.md", tt.body), ", "); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestSecretsAreFoundAndNotShown(t *testing.T) {
	token := credential.Mint(credential.RefreshToken, credential.Preview, id.NewWorkspace(), "").Reveal()
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat("Ab+/", 16) + "\n-----END PRIVATE KEY-----\n"
	for _, path := range []string{"index.html", "notes.md"} {
		body := "<p>\n" + token + "\n" + key + "[x](" + token + ") <a href='" + token + "'>"
		r := New(site).Check(path, []byte(body))
		secrets := 0
		for _, w := range r.Warnings {
			said := w.Message(published)
			if strings.Contains(said+w.Path+w.Subject, token[20:40]) || strings.Contains(said, "Ab+/Ab+/") {
				t.Errorf("%s: %q shows the secret", path, w.Message(published))
			}
			if w.Code == SecretFound {
				secrets++
			}
			if w.Code == SecretFound && (w.Severity != Error || w.Line != 2 && w.Line != 3) {
				t.Errorf("%s: %+v", path, w)
			}
		}
		if secrets != 2 {
			t.Errorf("%s: %d secrets in %+v", path, secrets, r.Warnings)
		}
	}
	if got := found(site, "index.html", "<p>ap_pk_preview_… and -----BEGIN PRIVATE KEY----- in words"); len(got) > 0 {
		t.Errorf("what only looks like a secret is %v", got)
	}
}

func TestAFindingSaysWhatToWriteInstead(t *testing.T) {
	for body, want := range map[string]string{
		`<img alt="" src="../img/logo.png">`:       `write "../img/Logo.png"`,
		`<script src="/app.js"></script>`:          `write "../app.js"`,
		`<a href="/">`:                             `write "../index.html"`,
		`<script>fetch("../docs")</script>`:        `write "index.html"`,
		`<a href="/docs/">`:                        `write "index.html", or build`,
		`<script src="//a.example/x.js"></script>`: "script-src blocks scripts from https://a.example;",
	} {
		r := New(site).Check("docs/guide.html", []byte(body))
		if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Message(published), want) {
			t.Errorf("%s: %+v, want %q", body, r.Warnings, want)
		}
	}
}

func TestEveryCodeHasAMessage(t *testing.T) {
	for code := range messages {
		for _, instead := range []string{"", "y"} {
			if instead == "" && (code == WrongCase || code == RootRelative) { // which always know
				continue
			}
			m := Warning{Code: code, Subject: "x", Instead: instead}.Message(published)
			if m == "" || strings.ContainsAny(m, "{}%") {
				t.Errorf("%s says %q", code, m)
			}
		}
	}
	later := Report{Warnings: []Warning{{Code: "made_up_later", Path: "x"}, {Code: MissingTitle, Path: "x"}}}
	if wire := later.Wire(published); len(wire) != 1 || wire[0].Code != "missing_title" {
		t.Errorf("codes of later releases are shown as %+v", wire)
	}
}

func TestAFindingNamesTheHostsOfTheDeployment(t *testing.T) {
	listed := media.Sources{
		Scripts: []string{"cdn.example"},
		Styles:  []string{"cdn.example", "*.fonts.example"},
		Fonts:   []string{"*.fonts.example"},
		Images:  []string{"cdn.example", "tiles.example:8443"},
		Connect: []string{"data.example"},
	}
	const own = "; put the file into the artifact and name it by a relative path"
	const scripts, styles = "script-src blocks scripts from https://unpkg.com", "style-src blocks styles from https://unpkg.com"
	const fonts = "font-src blocks fonts from https://unpkg.com"
	const script = `<script src="https://unpkg.com/x.js"></script>`
	const style = `<link rel=stylesheet href="https://unpkg.com/x.css">`
	const font = `<link rel=preload as=font href="https://unpkg.com/x.woff2">`
	none := media.Sources{}
	for _, tt := range []struct {
		from   media.Sources
		page   string
		blocks string // empty: nothing
	}{
		{listed, `<script src="https://cdn.example/x.js"></script>`, ""},
		{listed, script, scripts + own + ", or load it from cdn.example"},
		{none, script, scripts + own},
		{listed, `<link rel=stylesheet href="https://a.fonts.example/x.css">`, ""},
		{listed, style, styles + own + ", or load it from one of cdn.example, *.fonts.example"},
		{none, style, styles + own},
		{listed, font, fonts + own + ", or use *.fonts.example"},
		{none, font, fonts + own},
		{listed, `<img alt="" src="https://tiles.example:8443/x.png">`, ""},
		{listed, `<img alt="" src="https://tiles.example/x.png">`, "img-src blocks images from https://tiles.example" + own +
			", write it as a data: URL, or use cdn.example, tiles.example:8443"},
		{none, `<img alt="" src="https://unpkg.com/x.png">`,
			"img-src blocks images from https://unpkg.com" + own + ", or write it as a data: URL"},
		{listed, `<script>fetch("https://data.example/x.json")</script>`, ""},
		{none, `<script>fetch("https://esm.sh/x.json")</script>`,
			"connect-src blocks requests to https://esm.sh; put the data into the artifact and fetch it from there"},
	} {
		var got []string
		revision := site
		revision.Loads = tt.from
		for _, w := range New(revision).Check("index.html", []byte(tt.page)).Warnings {
			got = append(got, w.Message(tt.from))
		}
		if strings.Join(got, "\n") != tt.blocks {
			t.Errorf("%s: %q, want %q", tt.page, got, tt.blocks)
		}
	}
}

func TestTheWorstFindingsComeFirstAndTheOthersAreCounted(t *testing.T) {
	var a, b Report
	for n := range 15 {
		a.Warnings = append(a.Warnings, Warning{Code: MissingAlt, Severity: Info, Path: "a", Line: 20 - n})
		b.Warnings = append(b.Warnings, Warning{Code: MissingFile, Severity: Error, Path: "b", Line: 20 - n})
	}
	b.More = 2
	all := Join(a, b)
	if len(all.Warnings) != limits.LintWarnings || all.More != 12 || all.Urgent() != 15 {
		t.Fatalf("%d are kept, %d are counted, %d are urgent", len(all.Warnings), all.More, all.Urgent())
	}
	if all.Warnings[0].Line != 6 || all.Warnings[14].Severity != Error || all.Warnings[15].Line != 6 {
		t.Errorf("in the order %+v", all.Warnings)
	}
}

func TestALargeFirstPageIsReported(t *testing.T) {
	l := New(site)
	if r := l.CheckSize(limits.LargeEntrypoint); len(r.Warnings) > 0 {
		t.Errorf("at the limit: %+v", r)
	}
	r := l.CheckSize(6 << 20)
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0].Message(published), "6.3 MB") {
		t.Errorf("above it: %+v", r)
	}
	if r := New(Revision{Entrypoint: "a.png", Listing: true}).CheckSize(6 << 20); len(r.Warnings) > 0 {
		t.Errorf("of a list of files: %+v", r)
	}
}

func TestOtherFilesHaveNoFindings(t *testing.T) {
	for _, path := range []string{"app.js", "x.svg", "x.txt", "x"} {
		if r := New(site).Check(path, []byte("<img src=gone.png>")); len(r.Warnings) > 0 {
			t.Errorf("%s: %+v", path, r)
		}
	}
}

// hostile are inputs that slow or confuse a careless reader.
var hostile = map[string]string{
	"open tags":        strings.Repeat("<", limits.LintedFile),
	"deep nesting":     strings.Repeat("<div>", limits.LintedFile/5),
	"attributes":       "<img " + strings.Repeat("a=1 ", limits.LintedFile/4-2),
	"handlers":         "<img " + strings.Repeat("onx=1 ", limits.LintedFile/6-2) + ">",
	"a long attribute": `<img srcset="` + strings.Repeat("a,", limits.LintedFile/2-10) + `">`,
	"different images": images(),
	"an open script":   "<script>" + strings.Repeat("<!--<script", limits.LintedFile/12),
	"calls":            "<script type=module>" + strings.Repeat(" from import(fetch('", limits.LintedFile/21),
	"an open style":    "<style>" + strings.Repeat("/*url(", limits.LintedFile/7),
	"open urls":        "<style>" + strings.Repeat("url(", limits.LintedFile/5),
	"heads of keys":    strings.Repeat("-----BEGIN PRIVATE KEY-----\n", limits.LintedFile/28),
	"heads of secrets": strings.Repeat("ap_", limits.LintedFile/3),
	"line ends":        strings.Repeat("\n", limits.LintedFile),
	"brackets":         strings.Repeat("[](", limits.LintedFile/3),
	"open code":        strings.Repeat("`", limits.LintedFile),
	"open comments":    strings.Repeat("<!--", limits.LintedFile/4),
	"no UTF-8":         `<a href="` + strings.Repeat("\xff\xfe", 200) + `">`,
	"other directions": "<a href='\u202eexe.\u2066\x1b[31m\x07\u0000x'>",
}

// images names as many different files as there is room for.
func images() string {
	var b strings.Builder
	for n := 0; b.Len() < limits.LintedFile-40; n++ {
		fmt.Fprintf(&b, "<img src=%x>", n)
	}
	return b.String()
}

func TestHostileFilesAreReadOnce(t *testing.T) {
	for name, body := range hostile {
		for _, path := range []string{"index.html", "notes.md"} {
			r := New(site).Check(path, []byte(body))
			if len(r.Warnings) > maxFound {
				t.Errorf("%s: %d findings are kept", name, len(r.Warnings))
			}
			checkShown(t, r)
		}
	}
	if r := New(site).Check("index.html", []byte(images())); len(r.Warnings) < maxFound || r.More < 10000 {
		t.Errorf("of many, %d are kept and %d are counted", len(r.Warnings), r.More)
	}
}

// checkShown checks that no finding shows what a terminal would obey.
func checkShown(t *testing.T, r Report) {
	t.Helper()
	for _, w := range r.Warnings {
		m := w.Message(published)
		if m == "" || len(m) > 1000 || strings.ContainsFunc(m, func(c rune) bool {
			return unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c == unicode.ReplacementChar
		}) {
			t.Errorf("%s says %q", w.Code, m)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, body := range hostile {
		f.Add("docs/a.html", body[:min(len(body), 300)])
	}
	f.Add("a.md", "[a](b) ![c](<d>)\n[e]: f\n")
	f.Add("index.html", `<script type=module>import x from "./y.js"; fetch("https://z")</script><style>@font-face{src:url(x)}</style>`)
	f.Fuzz(func(t *testing.T, path, body string) {
		r := New(Revision{Entrypoint: path, Paths: []string{path}}).Check(path, []byte(body))
		checkShown(t, r)
		last := strings.Count(body, "\n") + 1
		if slices.ContainsFunc(r.Warnings, func(w Warning) bool { return w.Line < 0 || w.Line > last || w.Path != path }) {
			t.Errorf("of %d lines: %+v", last, r.Warnings)
		}
	})
}
