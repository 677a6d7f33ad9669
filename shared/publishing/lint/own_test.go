package lint

import (
	"slices"
	"strings"
	"testing"

	"vitrine/shared/platform/limits"
)

// TestWhatWorksAtAnOriginOfItsOwn checks pages whose root is that of the revision once their scripts run.
func TestWhatWorksAtAnOriginOfItsOwn(t *testing.T) {
	claimed, unclaimed := site, site
	claimed.Own, unclaimed.Own, unclaimed.Scripts = true, true, false
	for body, want := range map[string]struct{ claimed, unclaimed string }{
		`<link rel=stylesheet href="/style.css">`:   {"", "origin_unclaimed 1 warning"},
		`<a href="/docs/">`:                         {"", "origin_unclaimed 1 warning"},
		`<link rel=stylesheet href="/gone.css">`:    {"missing_file 1 error", "missing_file 1 error"},
		`<link rel=stylesheet href="../style.css">`: {"", ""},
		`<iframe src="docs/index.html"></iframe>`:   {"", "origin_unclaimed 1 warning"},
		`<iframe src="https://a.example"></iframe>`: {"frame_blocked 1 error", "frame_blocked 1 error"},
		`<svg><use href="img/Logo.png#x"/></svg>`:   {"", "origin_unclaimed 1 warning"},
		`<object data="docs/guide.html"></object>`:  {"object_blocked 1 error", "object_blocked 1 error"},
		`<base href="/">`:                           {"", ""},
		`<base href="https://a.example/">`:          {"base_blocked 1 warning", "base_blocked 1 warning"},
		"<script>new Worker('/app.js')</script>":    {"", "script_unclaimed 1 info, origin_unclaimed 1 warning"},
		"<script>fetch('/data/list.json')</script>": {"", "script_unclaimed 1 info, origin_unclaimed 1 warning"},
		`<a href="about"><a href="/users/7">`:       {"", ""},
		`<script src="//a.example/x.js"></script>`: {
			"script_blocked 1 error", "script_blocked 1 error, script_unclaimed 1 info",
		},
		"<script>navigator.serviceWorker.register('s')": {
			"service_worker 1 warning", "script_unclaimed 1 info, service_worker 1 warning",
		},
	} {
		if got := strings.Join(found(claimed, "index.html", body), ", "); got != want.claimed {
			t.Errorf("%s: %q, want %q", body, got, want.claimed)
		}
		if got := strings.Join(found(unclaimed, "index.html", body), ", "); got != want.unclaimed {
			t.Errorf("unclaimed, %s: %q, want %q", body, got, want.unclaimed)
		}
	}
	r := New(unclaimed).Check("index.html", []byte(`<img alt="" src="/img/Logo.png"><svg><use href="a.svg#x"/></svg>`))
	for scripts, want := range map[limits.Scripts]string{
		limits.ScriptsOn:  "",
		limits.ScriptsAsk: "origin_unclaimed origin_unclaimed",
		limits.ScriptsOff: "root_relative needs_origin",
	} {
		var codes []string
		for _, w := range r.Under(scripts).Warnings {
			codes = append(codes, string(w.Code))
		}
		if got := strings.Join(codes, " "); got != want {
			t.Errorf("where scripts are %v: %q, want %q", scripts, got, want)
		}
	}
}

func TestAnAppOfOnePageIsFound(t *testing.T) {
	const vite = `<!doctype html><title>A</title><script type="module" src="/a.js"></script><div id="root"></div>`
	const sveltekit = `<link rel="modulepreload" href="/a.js"><div><script>import("/a.js")</script></div>`
	alone := Revision{Entrypoint: "index.html", Paths: []string{"index.html", "a.js", "404.html", "docs/index.html"}}
	beside := alone
	beside.Paths = append(slices.Clone(alone.Paths), "about.html")
	for _, tt := range []struct {
		name, path, body string
		of               Revision
		want             bool
	}{
		{"Vite", "index.html", vite, alone, true},
		{"SvelteKit", "index.html", sveltekit, alone, true},
		{"a word for those without scripts", "index.html", vite + "<noscript>Turn scripts on</noscript>", alone, true},
		{"another page beside it", "index.html", vite, beside, false},
		{"a page that shows something", "index.html", vite + "<p>hello", alone, false},
		{"no module", "index.html", `<script src="/a.js"></script><div id="root"></div>`, alone, false},
		{"a page in a folder", "docs/index.html", vite, alone, false},
	} {
		if got := Join(New(tt.of).Check(tt.path, []byte(tt.body)), Report{}).App; got != tt.want {
			t.Errorf("%s: an app: %v", tt.name, got)
		}
	}
}
