package app

import (
	"net/http"
	"strings"
	"testing"

	"vitrine/functions/app/pages"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/unpack"
)

var packing = []string{"Accept-Encoding", "gzip, deflate, br, zstd"}

func TestT96WhatASessionHoldsIsNeverPacked(t *testing.T) {
	s := operatorOf(noon)
	h := s.handler()
	wantPlain := func(what string, r *http.Response) {
		t.Helper()
		if r.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s is packed: %v", what, r.Header)
		}
	}
	for _, path := range everyPage {
		r := signedIn(h, "GET", path, nil, append(packing, attemptHeader...)...)
		wantPlain(path, r)
		if r.StatusCode == http.StatusOK && len(text(t, r)) < 1000 {
			t.Errorf("%s has nothing to pack", path)
		}
	}
	for path, form := range everyForm {
		wantPlain("POST "+path, signedIn(operatorOf(noon).handler(), "POST", path, form.fields, packing...))
	}
	wantPlain("what a link shows", send(h, "POST", "/api/access-links/resolve", opening, packing...))
	for _, r := range (&Host{}).routes() {
		if _, ofMembers := r.handle.(members); ofMembers && r.packed {
			t.Errorf("%s is packed", r.path)
		}
	}
}

func TestWhatIsTheSameForEverybodyIsPacked(t *testing.T) {
	h, lines := host(nil)
	handler := h.Handler()
	for _, path := range []string{"/", "/al/" + publicID, asset0("vitrine.css"), asset0("viewer.js")} {
		plain := send(handler, "GET", path, "")
		whole := text(t, plain)
		for accepted, coding := range map[string]string{"gzip": "gzip", "zstd": "zstd", "br": ""} {
			r := send(handler, "GET", path, "", "Accept-Encoding", accepted)
			body := text(t, r)
			if got := unpack.Text(t, r.Header, []byte(body)); got != whole || r.Header.Get("Content-Encoding") != coding ||
				!strings.HasSuffix(r.Header.Get("Vary"), "Accept-Encoding") {
				t.Errorf("%s in %q: %d bytes, %v", path, coding, len(got), r.Header)
			}
			for name := range plain.Header {
				if name != "X-Request-Id" && name != "Content-Length" && r.Header.Get(name) != plain.Header.Get(name) {
					t.Errorf("%s in %q: %s is %q, want %q", path, coding, name, r.Header.Get(name), plain.Header.Get(name))
				}
			}
		}
	}
	expect.Has(t, "the log", lines.String(), `"unpacked_bytes":`)
	for _, path := range []string{"/none", "/healthz", asset0("icon.svg"), "/al/none"} {
		if r := send(handler, "GET", path, "", packing...); r.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s is packed", path)
		}
	}
}

func TestAnAssetIsPackedOnce(t *testing.T) {
	a, _ := pages.FindAsset("vitrine.css")
	again, _ := pages.FindAsset("vitrine.css")
	if one, two := a.Packed("zstd"), again.Packed("zstd"); len(one) > len(a.Body)/3 || &one[0] != &two[0] {
		t.Errorf("%d of %d bytes, packed again: %t", len(one), len(a.Body), &one[0] != &two[0])
	}
}
