package content_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/expect"
)

// keep has the secret artifact use all that its origin has.
const keep = `(async () => {
	localStorage.secret = "told"
	await new Promise((done) => (indexedDB.open("secret").onsuccess = done))
	await (await caches.open("secret")).put("/secret", new Response("told"))
	document.cookie = "secret=told; Path=/; Secure; SameSite=None; Partitioned"
	window.worker = new SharedWorker("/worker.js", "secret")
	window.heard = []
	window.channel = new BroadcastChannel("secret")
	channel.onmessage = (e) => heard.push(e.data)
	return await new Promise((done) => (worker.port.onmessage = (e) => done(e.data)))
})()`

func TestT101WhatAnOriginKeepsIsApartFromItsSiblings(t *testing.T) {
	t.Parallel()
	s := newSiteEnv(t)
	secret, hostile := s.both(s.open(t))
	browser.Eval[int](secret, keep)
	own := s.secret.origin()
	for name, script := range map[string]string{
		"storage":   `localStorage.secret`,
		"databases": `indexedDB.databases().then((all) => all[0].name && "told")`,
		"caches":    `caches.match("/secret").then((r) => r.text())`,
		"cookies":   `document.cookie.includes("secret=told") && "told"`,
		"shared workers": `new Promise((done) => {
			new SharedWorker("/worker.js", "secret").port.onmessage = (e) => done(e.data > 1 && "told")
		})`,
		"document":             `parent.frames[0].document.body && "told"`,
		"storage in its frame": `parent.frames[0].localStorage.secret`,
		"address":              `parent.frames[0].location.href && "told"`,
	} {
		script = `(async () => await (` + script + `))().catch(() => "").then((got) => got || "refused")`
		if got := browser.Eval[string](secret, script); got != "told" {
			t.Errorf("%s: the artifact itself has %s", name, got)
		}
		if got := browser.Eval[string](hostile, script); got != "refused" {
			t.Errorf("%s: a sibling has %s", name, got)
		}
	}
	for name, script := range map[string]string{
		"a shared worker of it":   `new Promise((_, failed) => new SharedWorker("` + own + `/worker.js").onerror = failed)`,
		"a worker of it":          `new Promise((done, failed) => new Worker("` + own + `/worker.js").onerror = failed)`,
		"a service worker for it": `navigator.serviceWorker.register("` + own + `/worker.js")`,
		"the domain":              `document.domain = "content.test"`,
		"moving its frame":        `parent.frames[0].location = "about:blank"`,
		"moving the page around":  `top.location = "about:blank"`,
	} {
		script = `(async () => await (` + script + `))().then(() => "done", () => "refused")`
		if got := browser.Eval[string](hostile, script); got != "refused" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestT101ASiblingIsNotHeard waits until the browser has sent the message of the sibling to those who may hear it.
func TestT101ASiblingIsNotHeard(t *testing.T) {
	t.Parallel()
	s := newSiteEnv(t)
	secret, hostile := s.both(s.open(t))
	browser.Eval[int](secret, keep)
	const say = `new Promise((done) => {
		const out = new BroadcastChannel("secret"), in_ = new BroadcastChannel("secret")
		in_.onmessage = () => done(true)
		out.postMessage(origin)
	})`
	browser.Eval[bool](hostile, say)
	browser.Eval[bool](secret, say)
	secret.Wait(`heard.length`)
	if got := browser.Eval[string](secret, `heard.join()`); got != s.secret.origin() {
		t.Errorf("heard from %s", got)
	}
}

// TestT101ASiblingWithoutAPolicyOpensNothing asks from a page of the same site, which the app frames and no policy
// holds, as if the policy of artifacts did not. The browser sends the cookie.
func TestT101ASiblingWithoutAPolicyOpensNothing(t *testing.T) {
	t.Parallel()
	s := newSiteEnv(t)
	p := s.open(t)
	p.Go(around("app.test", s.secret.opening("/"), around("www.content.test")))
	p.Frame(s.secret.origin() + "/").WaitText("the secret")
	d := p.Frame("www.content.test")
	own := s.secret.origin()
	opening := "/.vitrine/open/" + s.secret.Token()
	load := func(element, path string) string {
		return `new Promise((done) => document.body.append(Object.assign(document.createElement("` + element +
			`"), {src: "` + own + path + `", onload: done, onerror: done}))).then(() => true)`
	}
	get := func(path string) string {
		return `fetch("` + own + path + `", {credentials: "include", mode: "no-cors"}).then(() => true, () => true)`
	}
	for path, script := range map[string]string{
		"/fetch":             get("/fetch"),
		"/image":             load("img", "/image"),
		"/script":            load("script", "/script"),
		"/frame":             load("iframe", "/frame"),
		opening + "/fetch":   get(opening + "/fetch"),
		opening + "/frame":   load("iframe", opening+"/frame"),
		"/.vitrine/ready/in": load("iframe", "/.vitrine/ready/in"),
	} {
		browser.Eval[bool](d, script)
		if got := s.last(t, path); got.status != http.StatusNotFound || got.from != "same-site" || len(got.tokens) != 1 {
			t.Errorf("%s: %+v", path, got)
		}
	}
	browser.Eval[bool](d, `(window.held = open("`+own+opening+`/popup"), true)`)
	p.WaitTab(own + opening + "/popup")
	d.Wait(`held.closed`) // the handle is cut
	browser.Eval[bool](d, `(location = "`+own+opening+`/link", true)`)
	p.Frame(opening + "/link")
	for _, name := range []string{"/popup", "/link"} {
		if got := s.last(t, opening+name); got.status != http.StatusNotFound || got.from != "same-site" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestT101TheCookieIsThatOfTheFrameInTheApp(t *testing.T) {
	t.Parallel()
	s := newSiteEnv(t)
	p := s.open(t)
	s.both(p)
	if got := s.last(t, "/"); len(got.tokens) != 1 || got.status != http.StatusOK {
		t.Fatalf("in the app: %+v", got)
	}
	own := s.secret.origin()
	for name, url := range map[string]string{
		"another site frames it":         around("evil.test", own+"/a"),
		"a tab":                          own + "/a",
		"a sibling around frames it":     around("www.content.test", own+"/a"),
		"another site frames the app":    around("evil.test", around("app.test", own+"/a")),
		"the app frames it by a sibling": around("www.content.test", around("app.test", own+"/a")),
	} {
		s.asked = nil
		p.Go(url)
		if got := s.last(t, "/a"); len(got.tokens) != 0 || got.status != http.StatusNotFound {
			t.Errorf("%s: %+v", name, got)
		}
	}
	p.Go(around("evil.test", s.secret.opening("/")))
	p.WaitViolation("frame-ancestors https://app.test")
}

// TestT106AnOpeningComesFromTheApp sends the frame of one artifact to the opening of another one, over a site that
// redirects, so that it no longer comes from the same site.
func TestT106AnOpeningComesFromTheApp(t *testing.T) {
	t.Parallel()
	s := newSiteEnv(t)
	p := s.open(t)
	path := "/.vitrine/open/" + s.secret.Token() + "/"
	to := "https://evil.test/?" + url.Values{"to": {s.secret.opening("/")}}.Encode()
	for policy, referrer := range map[string]string{
		"no-referrer": "",
		"same-origin": "",
		"origin":      s.hostile.origin() + "/",
		"unsafe-url":  s.hostile.origin() + "/",
	} {
		s.asked = nil
		p.Go(around("app.test", s.hostile.opening("/")))
		d := p.Frame(s.hostile.origin() + "/")
		d.WaitText("hostile")
		browser.Eval[bool](d, fmt.Sprintf(`(document.head.append(Object.assign(document.createElement("meta"),
			{name: "referrer", content: %q})), location.href = %q, true)`, policy, to))
		p.Frame(path)
		got := s.last(t, path)
		if got.status != http.StatusNotFound || got.from != "cross-site" || got.referrer != referrer {
			t.Errorf("%s: %+v", policy, got)
		}
	}
	p.Go(around("app.test", s.secret.opening("/")))
	p.Frame(s.secret.origin() + "/").WaitText("the secret")
	if got := s.last(t, path); got.status != http.StatusSeeOther || got.referrer != "https://app.test/" {
		t.Errorf("the app: %+v", got)
	}
}

// TestT102CookiesOfSiblingsAreNotOurs sets cookies for the whole domain from the page of a sibling.
func TestT102CookiesOfSiblingsAreNotOurs(t *testing.T) {
	t.Parallel()
	s := newSiteEnv(t)
	p := s.open(t)
	secret, hostile := s.both(p)
	const get = `fetch("/index.html").then((r) => r.status)`
	set := func(cookie string) { browser.Eval[string](hostile, fmt.Sprintf("document.cookie = %q", cookie)) }
	evil := expect.Value(s.hostile.Tokens.Mint(s.hostile.Claims))(t)
	const domain = "; Domain=content.test; Path=/; Secure; SameSite=None; Partitioned"
	for _, cookie := range []string{
		"tossed=" + evil + domain,
		"__Host-v=" + evil + domain,
		"__Host-v=" + evil + "; Path=/index.html; Secure; SameSite=None; Partitioned",
		"__host-V=" + evil + domain,
		"=__Host-v=" + evil + domain,
		"\u2000__Host-v=" + evil + domain,
		"$Version=1; __Host-v=" + evil + domain,
		"a=\"; __Host-v=" + evil + domain,
		"a=1, __Host-v=" + evil + domain,
		"__Host-v\t=" + evil + domain,
		"__Secure-v=" + evil + domain,
		"__Host-other=" + evil + domain,
	} {
		set(cookie)
		if got := browser.Eval[int](secret, get); got != http.StatusOK {
			t.Errorf("%q: %d", cookie, got)
		}
		got := s.last(t, "/index.html")
		if len(got.tokens) != 1 || got.tokens[0] != s.secret.Token() {
			t.Errorf("%q: %+v", cookie, got)
		}
	}
	if got := s.last(t, "/index.html"); got.cookies < 400 {
		t.Errorf("the browser sends none of them: %+v", got)
	}
}

func TestAReaderOpensAnArtifactAgainAfterABombOfCookies(t *testing.T) {
	t.Parallel()
	s := newSiteEnv(t)
	p := s.open(t)
	const get = `fetch("/index.html").then((r) => r.status)`
	bomb := func(d *browser.Document, count int) {
		browser.Eval[int](d, fmt.Sprintf(`(() => { for (let n = 0; n < %d; n++) document.cookie = "b" + n + "=" +
			"x".repeat(1990) + "; Domain=content.test; Path=/; Secure; SameSite=None; Partitioned"; return 1 })()`, count))
	}
	secret, hostile := s.both(p)
	bomb(hostile, 5)
	for n, small := range []bool{false, true} {
		code := browser.Eval[int](secret, get)
		got := s.last(t, "/index.html")
		if code != http.StatusOK || (got.cookies < 8<<10) != small {
			t.Errorf("request %d: %d %+v", n, code, got)
		}
	}
	bomb(hostile, 40) // the browser drops ours
	if code := browser.Eval[int](secret, get); code != http.StatusNotFound {
		t.Errorf("%d %+v", code, s.last(t, "/index.html"))
	}
	s.both(p)
}

// TestAPathWithTwoSlashesStaysAtTheOrigin opens what browsers would take for another host if it stood alone.
func TestAPathWithTwoSlashesStaysAtTheOrigin(t *testing.T) {
	t.Parallel()
	s := newSiteEnv(t)
	p := s.open(t)
	s.both(p)
	own := s.secret.origin()
	for frame, last := range map[string]string{
		s.secret.opening("/%2Fevil.test/x"):      "/.vitrine/ready//evil.test/x",
		s.secret.opening("/%5C%5Cevil.test/x"):   `/\\evil.test/x`,
		own + "/.vitrine/ready/%2Fevil.test/x":   "//evil.test/x",
		own + "/.vitrine/ready/%5Cevil.test/x":   `/\evil.test/x`,
		own + "/.vitrine/ready/.%2F/evil.test/x": "//evil.test/x",
	} {
		s.mu.Lock()
		s.asked = nil
		s.mu.Unlock()
		p.Go(around("app.test", frame))
		if got := s.last(t, last); got.status != http.StatusNotFound {
			t.Errorf("%s: %+v", frame, got)
		}
	}
	s.mu.Lock() // a browser asks for more than the page, and later
	defer s.mu.Unlock()
	if slices.Contains(s.hosts, "evil.test") {
		t.Error("a frame has left the origin")
	}
}
