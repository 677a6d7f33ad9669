package mcp

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"vitrine/scripts/testkit/browser"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// cardHost is a client that frames the card and plays its part of the messages.
type cardHost struct {
	*browser.Page
	card *browser.Document

	url      string
	mu       sync.Mutex
	requests []string // that the browser sent
}

// hostPage frames the card as a sandboxed document of no origin. window.got are the messages of the card.
const hostPage = `<!doctype html><html lang=en><title>host</title><link rel=icon href="data:,">
<style>html,body{margin:0;background:#8a8f8c}iframe{display:block;width:100%%;height:100vh;border:0}</style>
<iframe sandbox="allow-scripts" title="card"></iframe>
<script>
const got = window.got = [], frame = document.querySelector("iframe");
const context = %s;
window.tell = (message) => frame.contentWindow.postMessage({jsonrpc: "2.0", ...message}, "*");
addEventListener("message", ({source, origin, data}) => {
  if (source !== frame.contentWindow || origin !== "null") return;
  got.push(data);
  if (data.method === "ui/initialize") tell({id: data.id, result: {protocolVersion: "2026-01-26",
    hostInfo: {name: "test", version: "1"}, hostCapabilities: {openLinks: {}}, hostContext: context}});
  if (data.method === "ui/open-link") tell({id: data.id, ...window.opened});
});
window.opened = {result: {}};
frame.srcdoc = %s;
</script>`

// newCardHost opens the host with a context, which is JSON.
func newCardHost(t *testing.T, context string) *cardHost {
	t.Helper()
	source, err := json.Marshal(card) // which escapes what could end the script
	if err != nil {
		t.Fatal(err)
	}
	h := &cardHost{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.requests = append(h.requests, r.RequestURI)
		h.mu.Unlock()
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Access-Control-Allow-Origin", "*")
		fmt.Fprintf(w, hostPage, context, source)
	}))
	t.Cleanup(server.Close)
	h.url = server.URL
	h.Page = browser.Open(t)
	h.Go(server.URL)
	h.card = h.Frame("srcdoc")
	h.Wait(`got.some((m) => m.method === "ui/notifications/initialized")`)
	return h
}

// deliver sends a result to the card.
func (h *cardHost) deliver(t *testing.T, result any) {
	t.Helper()
	body, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	browser.Eval[bool](&h.Document, `(tell({method: "ui/notifications/tool-input", params: {arguments: {}}}),
		tell({method: "ui/notifications/tool-result", params: `+string(body)+`}), true)`)
}

// silent fails the test if the card sent a request or tried to.
func (h *cardHost) silent(t *testing.T) {
	t.Helper()
	h.card.Clean()
	h.Clean()
	if n := browser.Eval[int](h.card, `performance.getEntriesByType("resource").length`); n != 0 {
		t.Errorf("the card asked for %d resources", n)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.requests, []string{"/"}) {
		t.Errorf("requests: %q", h.requests)
	}
}

// jsonObject is any JSON object.
type jsonObject = map[string]any

// publication is what publish_artifact answers, about an artifact that ends in three days and an hour.
func publication() jsonObject {
	return jsonObject{
		"structuredContent": jsonObject{
			"artifact_id": "art_01HZY7Z0Q0Q0Q0Q0Q0Q0Q0Q0Q0",
			"revision_id": "rev_01HZY7Z0Q0Q0Q0Q0Q0Q0Q0Q0Q0",
			"title":       "Quarterly survey of harbour seals",
			"private_url": "https://app.test/v/art_01HZY7Z0Q0Q0Q0Q0Q0Q0Q0Q0Q0",
			"expires_at":  time.Now().Add(3*limits.Day + time.Hour).UTC().Format(time.RFC3339),
			"upload_stats": jsonObject{
				"total_files": 3, "total_bytes": 48_213, "uploaded_files": 3, "uploaded_bytes": 48_213,
				"reused_files": 0, "reused_bytes": 0,
			},
		},
		"content": []any{},
		"_meta":   jsonObject{cardKey: cardFacts{Visibility: "private"}},
	}
}

// altered is a publication with other facts.
func altered(facts jsonObject) jsonObject {
	p := publication()
	for name, v := range facts {
		p["structuredContent"].(jsonObject)[name] = v
	}
	return p
}

func TestTheCardShowsWhatWasPublished(t *testing.T) {
	h := newCardHost(t, `{"timeZone": "UTC"}`)
	h.deliver(t, publication())
	h.card.WaitText("Quarterly survey of harbour seals")
	at := time.Now().Add(3*limits.Day + time.Hour).UTC().Format("2 January 2006")
	for selector, want := range map[string]string{
		"#state":    "Published",
		"h1":        "Quarterly survey of harbour seals",
		"#ends":     "in 3 days, on " + at,
		"#visible":  "members of the workspace only",
		"#files":    "3 files, 48 kB",
		"#revision": "rev_01HZY7Z0Q0Q0Q0Q0Q0Q0Q0Q0Q0",
		"#address":  "https://app.test/v/art_01HZY7Z0Q0Q0Q0Q0Q0Q0Q0Q0Q0",
	} {
		if got := h.card.Text(selector); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", selector, got, want)
		}
	}
	h.Wait(`got.some((m) => m.method === "ui/notifications/size-changed" && m.params.height > 200)`)
	h.silent(t)
}

func TestTheCardShowsOtherResults(t *testing.T) {
	h := newCardHost(t, `{"timeZone": "UTC"}`)
	inText, _ := json.Marshal(publication()["structuredContent"])
	read := jsonObject{"files": []any{jsonObject{"size_bytes": 1}}, "upload_stats": nil}
	for name, c := range map[string]struct {
		result jsonObject
		shown  string // selector and text
		want   string
	}{
		"what was read": {altered(read), "#state", "Newest revision"},
		"its files":     {altered(read), "#files", "1 file, 1 byte"},
		"no change":     {altered(jsonObject{"upload_stats": jsonObject{"total_files": 0}}), "#state", "Nothing changed"},
		"its text alone": {
			jsonObject{"content": []any{jsonObject{"type": "text", "text": string(inText)}}}, "#state", "Published",
		},
		"an artifact that ended": {
			altered(jsonObject{"expires_at": "2026-01-02T03:04:05Z"}),
			"#ends",
			"ended on 2 January 2026 at 03:04",
		},
		"a failure": {
			jsonObject{"isError": true, "structuredContent": jsonObject{"error": jsonObject{"code": "x", "message": "Upload <b>less</b>."}}},
			"#problem",
			"Upload <b>less</b>.",
		},
		"something else": {jsonObject{"structuredContent": jsonObject{"x": 1}}, "#state", "The result shows no artifact"},
		"nothing":        {jsonObject{}, "#state", "The result shows no artifact"},
	} {
		browser.Eval[bool](&h.Document, `(tell({method: "ui/notifications/tool-cancelled", params: {}}), true)`)
		h.card.WaitText("The call was cancelled")
		h.deliver(t, c.result)
		h.card.Wait(`document.getElementById("state").innerText !== "The call was cancelled"`)
		if got := h.card.Text(c.shown); got != c.want {
			t.Errorf("%s: %s: %q, want %q", name, c.shown, got, c.want)
		}
	}
	h.silent(t)
}

func TestTheCardKeepsToItselfWhatItDoesNotKnow(t *testing.T) {
	h := newCardHost(t, `{}`)
	p := publication()
	delete(p, "_meta")
	h.deliver(t, p)
	h.card.WaitText("Published")
	if h.card.Visible("#visible") || !h.card.Visible("#ends") {
		t.Error("the card tells who sees the artifact")
	}
	p = publication()
	p["_meta"] = jsonObject{cardKey: cardFacts{Visibility: "unlisted", Pinned: true}}
	h.deliver(t, p)
	h.card.WaitText("everyone who has the link")
	if got := h.card.Text("#ends"); got != "never, while it is pinned" {
		t.Errorf("a pinned artifact ends %q", got)
	}
	p = publication()
	p["structuredContent"].(jsonObject)["expires_at"] = contract.At(limits.Never)
	p["_meta"] = jsonObject{cardKey: cardFacts{Visibility: "private"}}
	h.deliver(t, p)
	h.card.WaitText("does not expire")
	if got := h.card.Text("#ends"); got != "does not expire" {
		t.Errorf("an artifact without an end ends %q", got)
	}
}

func TestTheCardShowsHostileTextAsText(t *testing.T) {
	h := newCardHost(t, `{"timeZone": "<b>Nowhere</b>"}`)
	const hostile = `<img src=x onerror="parent.postMessage({jsonrpc:'2.0',method:'hacked'},'*')"></main>` +
		`<script>alert(1)</script>`
	leak := h.url + "/leak"
	p := altered(jsonObject{
		"title":       hostile + `<link rel=stylesheet href="` + leak + `">` + "\u202egnp.exe",
		"revision_id": hostile,
		"expires_at":  hostile,
		"private_url": "javascript:parent.postMessage({jsonrpc:'2.0',method:'hacked'},'*')",
	})
	p["_meta"] = jsonObject{cardKey: jsonObject{"visibility": hostile, "pinned": "yes"}}
	h.deliver(t, p)
	h.card.WaitText("onerror")
	if got := h.card.Text("h1"); !strings.HasPrefix(got, hostile) || strings.Contains(got, "\u202e") {
		t.Errorf("the title reads %q", got)
	}
	if n := browser.Eval[int](h.card, `document.querySelectorAll("img, link, main script, a").length`); n != 0 {
		t.Errorf("%d elements were made of text", n)
	}
	if h.card.Visible("#open") || h.card.Visible("#visible") || h.card.Visible("#ends") {
		t.Error("the card offers what it cannot know")
	}
	for _, text := range []string{hostile, leak} { // as the reason of a failure
		h.deliver(t, jsonObject{"isError": true, "structuredContent": jsonObject{"error": jsonObject{"message": text}}})
		h.card.WaitText(text)
	}
	if browser.Eval[bool](&h.Document, `got.some((m) => m.method === "hacked")`) {
		t.Error("text of the result ran as a script")
	}
	h.silent(t)
}

func TestTheCardHasNoNetwork(t *testing.T) {
	h := newCardHost(t, `{}`)
	browser.Eval[bool](h.card, `fetch(`+fmt.Sprintf("%q", h.url+"/leak")+`).then(() => true, () => false)`)
	h.card.WaitViolation("connect-src")
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Equal(h.requests, []string{"/"}) {
		t.Errorf("requests: %q", h.requests)
	}
}

// opened are the addresses that the card wanted to be opened.
func (h *cardHost) opened() string {
	return browser.Eval[string](&h.Document,
		`got.filter((m) => m.method === "ui/open-link").map((m) => m.params.url).join(" ")`)
}

func TestTheCardOpensTheArtifactThroughTheClient(t *testing.T) {
	const address = "https://app.test/v/art_01HZY7Z0Q0Q0Q0Q0Q0Q0Q0Q0Q0"
	h := newCardHost(t, `{}`)
	h.deliver(t, publication())
	h.card.WaitText("Published")
	h.card.Click("#open")
	h.Wait(`got.some((m) => m.method === "ui/open-link")`)
	if got := h.opened(); got != address {
		t.Errorf("opened %q", got)
	}
	browser.Eval[bool](&h.Document, `(opened = {error: {code: -32000, message: "no"}}, got.length = 0, true)`)
	h.card.Wait(`document.activeElement.id === "open"`)
	h.card.Press(kb.Enter)
	h.card.WaitText("Copy the address")
	if got := h.opened(); got != address {
		t.Errorf("opened %q", got)
	}
	h.silent(t)
}

func TestTheCardAnswersItsClient(t *testing.T) {
	h := newCardHost(t, `{}`)
	browser.Eval[bool](&h.Document, `(
		["ping", "ui/resource-teardown", "tools/list"].forEach((method, i) => tell({id: "h" + i, method, params: {}})),
		[null, 5, "x", {jsonrpc: "2.0"}, {jsonrpc: "2.0", id: 99, result: {}}, {jsonrpc: "2.0", method: "toString"},
			{jsonrpc: "2.0", method: "ui/notifications/tool-result"},
		].forEach((m) => frame.contentWindow.postMessage(m, "*")),
		true)`)
	h.Wait(`got.some((m) => m.id === "h2")`)
	got := browser.Eval[string](&h.Document,
		`JSON.stringify(got.filter((m) => /^h/.test(m.id)).map((m) => m.error?.code ?? m.result))`)
	if got != "[{},{},-32601]" {
		t.Error(got)
	}
	h.card.WaitText("The result shows no artifact")
	h.silent(t)
}

func TestTheCardAloneDoesNothing(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, card)
	}))
	defer server.Close()
	p := browser.Open(t)
	p.Go(server.URL)
	p.WaitText("An MCP client shows a result here")
	if p.Visible("button") {
		t.Error("there is a button")
	}
	p.Clean()
}

func TestTheCardLooksLikeItsClient(t *testing.T) {
	const vars = `"--color-background-primary": "light-dark(#fdfcf8, #262624)",
		"--color-text-primary": "light-dark(#141413, #faf9f5)",
		"--color-text-secondary": "light-dark(#5c5a54, #c2c0b6)",
		"--font-sans": "Georgia, serif"`
	const white = "rgb(255, 255, 255)"
	const inherited = `getComputedStyle(document.documentElement).backgroundColor`
	for name, c := range map[string]struct{ context, wall string }{
		"light":                    {`{"theme": "light"}`, white},
		"dark":                     {`{"theme": "dark"}`, "rgb(21, 31, 27)"},
		"client-light":             {`{"theme": "light", "styles": {"variables": {` + vars + `}}}`, "rgb(253, 252, 248)"},
		"client-dark":              {`{"theme": "dark", "styles": {"variables": {` + vars + `}}}`, "rgb(38, 38, 36)"},
		"half-a-palette":           {`{"theme": "light", "styles": {"variables": {"--color-text-primary": "#fff"}}}`, white},
		"no-theme-and-wrong-types": {`{"theme": 5, "styles": {"variables": {"--color-border-primary": 7}}}`, white},
		"no-palette":               {`{"styles": {"variables": "x"}}`, white},
	} {
		t.Run(name, func(t *testing.T) {
			h := newCardHost(t, c.context)
			h.deliver(t, publication())
			h.card.WaitText("Published")
			if got := browser.Eval[string](h.card, inherited); got != c.wall {
				t.Errorf("the wall is %s, want %s", got, c.wall)
			}
			for _, v := range h.card.Axe() {
				t.Error(v)
			}
			for _, width := range []int64{320, 640} {
				h.Viewport(width, 480)
				h.card.Wait(fmt.Sprintf("innerWidth === %d", width))
				if browser.Eval[int64](h.card, "document.documentElement.scrollWidth") > width {
					t.Errorf("at %d pixels it scrolls sideways", width)
				}
				if strings.HasSuffix(name, "light") || strings.HasSuffix(name, "dark") {
					h.Screenshot(fmt.Sprintf("mcp-card-%s-%d", name, width))
				}
			}
			h.silent(t)
		})
	}
}

func TestTheCardFollowsAChangeOfTheme(t *testing.T) {
	h := newCardHost(t, `{"theme": "light"}`)
	browser.Eval[bool](&h.Document,
		`(tell({method: "ui/notifications/host-context-changed", params: {theme: "dark"}}), true)`)
	h.card.Wait(`getComputedStyle(document.documentElement).backgroundColor === "rgb(21, 31, 27)"`)
	for _, v := range h.card.Axe() {
		t.Error(v)
	}
}
