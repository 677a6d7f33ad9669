package lint

import (
	"bytes"
	"strings"
	"testing"

	"vitrine/shared/platform/limits"
)

func TestRelative(t *testing.T) {
	for _, tt := range []struct{ name, path, body, want string }{
		{"src", "index.html", `<script type="module" src="/app.js"></script>`,
			`<script type="module" src="app.js"></script>`},
		{"from a folder", "docs/guide.html", `<a href='/docs/index.html#x'>`, `<a href='index.html#x'>`},
		{"above it", "docs/guide.html", `<link rel=stylesheet href=/style.css?v=1&copy=2>`,
			`<link rel=stylesheet href=../style.css?v=1&copy=2>`},
		{"no quotes, closed", "index.html", `<IMG SRC=/img/Logo.png/><img src=/img/Logo.png>`,
			`<IMG SRC=/img/Logo.png/><img src=img/Logo.png>`},
		{"spaces around", "index.html", "<img alt  =\n'x' src\t= ' /img/Logo.png\n' >",
			"<img alt  =\n'x' src\t= 'img/Logo.png' >"},
		{"encoded names", "index.html", `<img src="/img/a%20b.png"><img src="/100%.png"><img src="/img/a&#x2c;b.png">`,
			`<img src="img/a%20b.png"><img src="100%25.png"><img src="img/a,b.png">`},
		{"a set", "index.html", `<img srcset="/img/Logo.png 1x, https://a.example/x.png 2x,/img/a,b.png, /img/gone.png 3x">`,
			`<img srcset="img/Logo.png 1x, https://a.example/x.png 2x,img/a,b.png, /img/gone.png 3x">`},
		{"a poster", "index.html", `<video poster=/img/Logo.png></video>`, `<video poster=img/Logo.png></video>`},
		{"a drawing", "index.html", `<svg><image xlink:href="/img/Logo.png"/></svg>`,
			`<svg><image xlink:href="img/Logo.png"/></svg>`},
		{"the page of a folder", "docs/guide.html", `<a href="/docs/">`, `<a href="index.html">`},
		{"a page without its ending", "index.html", `<a href="/docs/guide?x#y">`, `<a href="docs/guide.html?x#y">`},
		{"the root", "docs/guide.html", `<a href="/">`, `<a href="../index.html">`},
		{"a style attribute", "index.html", `<p style="color:red;background:url(&quot;/img/Logo.png&quot;)">`,
			`<p style="color:red;background:url(&#34;img/Logo.png&#34;)">`},
		{"a style element", "docs/guide.html", "<style>@import '/style.css';\n b{background:url( /img/Logo.png )}</style>",
			"<style>@import '../style.css';\n b{background:url( ../img/Logo.png )}</style>"},
		{"a style sheet", "style.css", `@import"/style.css";@font-face{src:url(/img/Logo.png?#x)}/* url(/app.js) */`,
			`@import"style.css";@font-face{src:url(img/Logo.png?#x)}/* url(/app.js) */`},
		{"no files", "index.html", `<a href="/gone.html"><a href="//app.js"><a href="/\app.js"><a href="/img/logo.png">`, ""},
		{"scripts", "index.html", `<script>fetch("/app.js"); x = '<img src="/img/Logo.png">'</script>`, ""},
		{"other attributes", "index.html", `<div data-src="/app.js" title="/app.js"></div>`, ""},
		{"a base, comments and text", "index.html", `<base href="/"><!-- <img src="/app.js"> --><p>src="/app.js"`, ""},
		{"a tag that does not end", "index.html", `<p>x<img src="/img/Logo.png`, ""},
		{"other files", "notes.md", `<img src="/img/Logo.png">`, ""},
		{"a script", "app.js", `<img src="/img/Logo.png">`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, changed := New(site).Relative(tt.path, []byte(tt.body))
			if tt.want == "" && len(changed) > 0 || tt.want != "" && len(changed) == 0 {
				t.Errorf("Relative changes %q", changed)
			}
			if tt.want == "" {
				tt.want = tt.body
			}
			if string(got) != tt.want {
				t.Errorf("Relative(%s) =\n%s, want\n%s", tt.body, got, tt.want)
			}
		})
	}
}

func TestRelativeTellsWhatItChanged(t *testing.T) {
	body := `<a href="/"><script src="/app.js?v=2"></script><style>b{background:url(/img/Logo.png)}</style><a href="docs">`
	_, changed := New(site).Relative("index.html", []byte(body))
	if got := strings.Join(changed, " "); got != "/ /app.js /img/Logo.png" {
		t.Errorf("changed %s", got)
	}
}

func TestBlank(t *testing.T) {
	const dead, blocked = `<script src="/assets/x.js"></script>`, `<script src="https://a.example/x.js"></script>`
	for _, tt := range []struct {
		name, body string
		want       int // scripts that are named
	}{
		{"a script from the root", `<!doctype html><title>T</title><div id="root"></div>` + dead, 1},
		{"one of a blocked host", `<body>` + blocked + "\n", 1},
		{"both", dead + blocked + `<noscript>You need JavaScript.<img src=x></noscript><canvas></canvas>`, 2},
		{"data is no script", dead + `<script type="application/json">{"a":1}</script><style>b{}</style>`, 1},
		{"a host in another way", `<script src="//a.example/x"></script><script src="http:\\b.example"></script>`, 2},
		{"no script", `<div></div>`, 0},
		{"a script of the artifact", dead + `<script src="app.js"></script>`, 0},
		{"one that is missing", dead + `<script src="gone.js"></script>`, 0},
		{"one of a host that is allowed", dead + `<script src="https://unpkg.com/x"></script>`, 0},
		{"a program in the page", dead + `<script>x()</script>`, 0},
		{"a handler", dead + `<body onload="x()">`, 0},
		{"text", dead + `<div id="root">Loading</div>`, 0},
		{"a picture", `<img src="x.png">` + dead, 0},
		{"a drawing", `<svg><path d="M0 0"/></svg>` + dead, 0},
	} {
		if got := New(site).Blank("index.html", []byte(tt.body)); len(got) != tt.want {
			t.Errorf("%s: Blank = %q, want %d", tt.name, got, tt.want)
		}
	}
	if got := New(site).Blank("notes.md", []byte(dead)); got != nil {
		t.Errorf("a page of markdown lacks %q", got)
	}
}

func TestScriptsOfTheEntrypoint(t *testing.T) {
	page := `<script src="app.js?v=1"></script><script src="./app.js"></script><script src="gone.js"></script>
<script src="/app.js"></script><script type="text/template" src="style.css"></script>`
	l := New(site)
	if got := l.Check("index.html", []byte(page)).Linked; len(got) != 1 || got[0] != "app.js" {
		t.Errorf("the entrypoint links %q", got)
	}
	if got := l.Check("docs/guide.html", []byte(page)).Linked; len(got) > 0 {
		t.Errorf("another page links %q", got)
	}
	var many strings.Builder
	r := Revision{Entrypoint: "index.html"}
	for _, name := range strings.Split("abcdefgh", "") {
		r.Paths = append(r.Paths, name+".js")
		many.WriteString("<script src=" + name + ".js></script>")
	}
	if got := New(r).Check("index.html", []byte(many.String())).Linked; len(got) != limits.LintedScripts {
		t.Errorf("of 8 scripts it links %q", got)
	}
}

func TestWhatALinkedScriptAsks(t *testing.T) {
	unclaimed := site
	unclaimed.Scripts = false
	for _, tt := range []struct{ name, body, want string }{
		{"a service worker", "\nnavigator.serviceWorker.register('/sw.js')", "service_worker 2 warning"},
		{"a worker of a file", `new Worker("w.js",{type:"module"})`, "needs_origin 1 warning"},
		{"one by its module", `new SharedWorker(new URL("./w.js",import.meta.url))`, "needs_origin 1 warning"},
		{"one that it made", `new Worker("blob:x");new Worker("data:x");new Worker(URL.createObjectURL(b))`, ""},
		{"a file from the root", `fetch("/data/list.json")`, "root_relative 1 warning"},
		{"a file that the page knows", `fetch("data/gone.json")`, ""},
		{"a server", `fetch("https://a.example/x")`, "connect_blocked 1 warning"},
		{"a chunk of another host", `import("https://a.example/x.js")`, "script_blocked 1 warning"},
		{"storage", "localStorage.a=1;localStorage[x];sessionStorage.b;my.localStorages;document.cookie",
			strings.Repeat("storage_blocked 1 info, ", 2) + "storage_blocked 1 info"},
	} {
		if got := strings.Join(found(unclaimed, "data/app.js", tt.body), ", "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	if got := found(site, "app.js", "localStorage.a=1;document.cookie"); len(got) > 0 {
		t.Errorf("where scripts run, storage has %v", got)
	}
	fetched := New(site).Check("data/app.js", []byte(`fetch("/data/list.json");import("/app.js")`)).Warnings
	if len(fetched) != 2 || fetched[0].Instead != "data/list.json" || fetched[1].Instead != "../app.js" {
		t.Errorf("requests begin at the page and modules at the script: %+v", fetched)
	}
}

// FuzzRelative checks that all bytes stay but those of addresses, and that nothing is left to do.
func FuzzRelative(f *testing.F) {
	for _, body := range hostile {
		f.Add([]byte(body[:min(len(body), 300)]))
	}
	f.Add([]byte(`<a href=/app.js><img srcset="/img/a,b.png 1x,/app.js"><p style='x:url("/app.js")'>`))
	f.Add([]byte(`<style>@import "/style.css"`))
	f.Fuzz(func(t *testing.T, body []byte) {
		l := New(site)
		for _, path := range []string{"index.html", "style.css"} {
			once, changed := l.Relative(path, bytes.Clone(body))
			if len(changed) == 0 && !bytes.Equal(once, body) {
				t.Errorf("without an address %q became %q", body, once)
			}
			if again, left := l.Relative(path, bytes.Clone(once)); len(left) > 0 || !bytes.Equal(again, once) {
				t.Errorf("of %q, %q is left in %q", body, left, once)
			}
		}
	})
}
