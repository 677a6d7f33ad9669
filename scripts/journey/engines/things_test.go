package engines

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
)

// The columns of things.
const (
	sharedOrigin = iota // in Chromium
	ownInChromium
	ownInFirefox
	ownInWebKit
)

// things are what pages that agents make do, with what comes of each at a second visit, by where the page is and in which
// browser. A table in docs/architecture.md says the same.
var things = map[string][4]string{
	"localStorage":       {"works", "kept", "kept", "kept"},
	"IndexedDB":          {"fails", "kept", "kept", "kept"},
	"caches":             {"fails", "kept", "kept", "works"},
	"cookie":             {"works", "kept", "kept", "works"},
	"partitionedCookie":  {"works", "kept", "kept", "works"},
	"worker":             {"fails", "works", "works", "works"},
	"sharedWorker":       {"fails", "works", "works", "works"},
	"blobWorker":         {"works", "works", "works", "works"},
	"blobWorkerOfModule": {"fails", "works", "works", "works"},
	"use":                {"fails", "works", "works", "works"},
	"frame":              {"fails", "works", "works", "works"},
	"fetch":              {"works", "works", "works", "works"},
	"rootFetch":          {"fails", "works", "works", "fails"},
	"rootImport":         {"fails", "works", "works", "fails"},
	"rootForm":           {"fails", "works", "works", "fails"},
	"wasm":               {"works", "works", "works", "works"},
	"pushState":          {"works", "works", "works", "works"},
	"back":               {"works", "works", "works", "works"},
	"deepLink":           {"works", "works", "works", "works"},
	"serviceWorker":      {"fails", "fails", "fails", "fails"},
}

// tab is a tab of a browser with a viewer in it. Conditions and values are JavaScript expressions.
type tab interface {
	Go(url string)
	WaitInFrame(expression string)
	InFrame(expression string) string
}

// InFrame returns a text of the first frame of the page.
func (s *session) InFrame(expression string) string {
	s.t.Helper()
	return value[string](s, expression)
}

// chromium is a page of Chromium with a viewer, whose frame has a URL that contains part.
type chromium struct {
	*browser.Page
	part string
}

func (c chromium) WaitInFrame(expression string) { c.Frame(c.part).Wait(expression) }

func (c chromium) InFrame(expression string) string {
	return browser.Eval[string](c.Frame(c.part), expression)
}

// column returns a column of things, in which some are as but says.
func column(n int, but map[string]string) map[string]string {
	want := map[string]string{}
	for name, outcomes := range things {
		want[name] = outcomes[n]
	}
	maps.Copy(want, but)
	return want
}

// wantThings goes through all things by a link, and checks what comes of them.
func wantThings(t *testing.T, b tab, link string, want map[string]string) {
	t.Helper()
	visit := func(url string) {
		b.Go("about:blank")
		b.Go(url)
	}
	for range 2 {
		visit(link)
		b.WaitInFrame(`window.things`)
	}
	got := map[string]string{}
	harness.NoError(t, json.Unmarshal([]byte(b.InFrame(`JSON.stringify(things)`)), &got))

	b.WaitInFrame(`(document.querySelector("a").click(), true)`)
	b.WaitInFrame(`document.title === "Found" && location.search === "?q=flood"`)
	b.WaitInFrame(`(history.back(), true)`)
	b.WaitInFrame(`document.title === "Things" && window.things`)
	got["back"] = "works"

	b.WaitInFrame(`(window.blocked = "", document.forms[0].requestSubmit(), true)`)
	b.WaitInFrame(`window.blocked || !window.things && document.readyState === "complete"`)
	got["rootForm"] = b.InFrame(`document.title === "Found" && location.search === "?q=ebb" ? "works" : "fails"`)

	at, secret, _ := strings.Cut(link, "#")
	visit(at + "?at=found.html%3Fq%3Ddeep#" + secret)
	b.WaitInFrame(`document.title === "Found" && location.search === "?q=deep"`)
	got["deepLink"] = "works"

	for name, outcome := range want {
		if is, _, _ := strings.Cut(got[name], ":"); is != outcome {
			t.Errorf("%s: %q, want %s", name, got[name], outcome)
		}
	}
	if len(got) != len(things) {
		t.Errorf("tried %d things, want %d: %v", len(got), len(things), got)
	}
}

func TestWhatAgentsMakeWorksAtAnOwnOriginInChromium(t *testing.T) {
	d := harness.NewLinkEnv(t, ownOrigins)
	made := harness.Must(d.Agent.PublishFiles(ctx, "Things", "", files(t, "testdata/things")...))(t)
	b := chromium{browser.Open(t), d.Origins.Of(made.ArtifactID)}
	wantThings(t, b, harness.ShareURL(t, d.Agent, made.ArtifactID), column(ownInChromium, nil))
}

func TestWhatAgentsMakeAtTheSharedOriginInChromium(t *testing.T) {
	d := harness.NewLinkEnv(t)
	b := chromium{browser.Open(t), "/v/"}
	wantThings(t, b, share(t, d, "Things", files(t, "testdata/things")...), column(sharedOrigin, nil))
}
