package app

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/manual"
)

// TestEachDocumentOfTheManualIsServed also holds that the routes and the documents are the same.
func TestEachDocumentOfTheManualIsServed(t *testing.T) {
	h, _ := host(nil)
	handler := h.Handler()
	documents := h.Manual.Documents()
	var paths []string
	for _, r := range h.manualRoutes() {
		paths = append(paths, r.path)
	}
	slices.Sort(paths)
	if want := slices.Sorted(maps.Keys(documents)); !slices.Equal(paths, want) {
		t.Fatalf("routes %q, documents %q", paths, want)
	}
	rules := text(t, send(handler, "GET", "/robots.txt", ""))
	expect.Has(t, "the rules for crawlers", rules, "\nDisallow: /\n")
	for path, want := range documents {
		expect.Has(t, "the rules for crawlers", rules, "\nAllow: "+path+"\n")
		r := send(handler, "GET", path, "")
		if got := wantAnswer(t, path, r, http.StatusOK); got != want.Body {
			t.Errorf("%s: %.300q", path, got)
		}
		wantHeaders(t, path, r, "Content-Type", want.Media, "Cache-Control", "public, max-age=300",
			"Access-Control-Allow-Origin", "*", policyHeader, policyNone, "Set-Cookie", "")
		tag := r.Header.Get("ETag")
		known := send(handler, "GET", path, "", "If-None-Match", tag)
		if body := wantAnswer(t, path, known, http.StatusNotModified); body != "" || tag == "" {
			t.Errorf("%s: the copy with the tag %q is answered by %.100q", path, tag, body)
		}
		wantHeaders(t, path, known, "ETag", tag, "Cache-Control", "public, max-age=300")
		wantAnswer(t, path, send(handler, "GET", path, "", "If-None-Match", `"other"`), http.StatusOK)
		wantAnswer(t, path, send(handler, "POST", path, ""), http.StatusMethodNotAllowed)
	}
}

// TestTheManualComesPackedToThoseWhoTakeIt leaves the archive as it is, so that its digest holds.
func TestTheManualComesPackedToThoseWhoTakeIt(t *testing.T) {
	h, _ := host(nil)
	handler := h.Handler()
	for path, want := range map[string]string{"/skill.md": "gzip", "/llms-full.txt": "gzip", "/skills/vitrine.zip": ""} {
		r := send(handler, "GET", path, "", "Accept-Encoding", "gzip")
		wantHeaders(t, path, r, "Content-Encoding", want)
	}
}

func TestTheManualIsTheSameForMembers(t *testing.T) {
	s := newServices()
	h, _ := s.host()
	handler := h.Handler()
	for _, path := range manual.Paths() {
		if one, two := text(t, send(handler, "GET", path, "")), text(t, signedIn(handler, "GET", path, nil)); one != two {
			t.Errorf("%s differs for a member", path)
		}
	}
	if len(s.calls) > 0 {
		t.Errorf("it asks %q", s.calls)
	}
	expect.Has(t, "the skill", text(t, send(handler, "GET", "/skill.md", "")), s.appURL)
}
