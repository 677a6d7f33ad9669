package app

import (
	"net/http"
	"strings"
	"testing"

	"vitrine/functions/app/pages"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/unpack"
	"vitrine/shared/platform/pack"
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

// TestT96GuessesAtASecretAllHaveOneSize sends a member's browser to a page that repeats what the address says beside the
// signed URL of a file, and looks for a letter whose answer is shorter than those of the others.
func TestT96GuessesAtASecretAllHaveOneSize(t *testing.T) {
	const secret = "8703/v/scripts/report.html"
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_/."
	h := newServices().handler()
	size := func(guess string) int {
		r := signedIn(h, "GET", "/v/"+artifactID+"?at=report.html%23"+guess, nil, packing...)
		body := text(t, r)
		if strings.Count(body, secret) == 0 || !strings.Contains(body, "report.html#"+guess) {
			t.Fatalf("the page does not have the guess %s beside the secret: %s", guess, body)
		}
		return len(body)
	}
	asked := 0
	for known := len("8703/v/"); asked < 2000; known = max(len("8703/v/"), (known+1)%len(secret)) {
		right := size(secret[:known+1])
		for _, letter := range letters {
			if asked++; size(secret[:known]+string(letter)) != right {
				t.Fatalf("the letter %q after %s has another size than the right one", letter, secret[:known])
			}
		}
	}
}

// TestT96WhatIsPackedKnowsNothingOfItsReader compares what somebody gets with what a member gets, who asks for something
// else in the query.
func TestT96WhatIsPackedKnowsNothingOfItsReader(t *testing.T) {
	h := newServices().handler()
	for _, path := range []string{"/al/" + publicID, asset0("vitrine.css"), asset0("viewer.js")} {
		somebody := text(t, send(h, "GET", path, "", packing...))
		if member := text(t, signedIn(h, "GET", path+"?q=guess&at=guess", nil, packing...)); member != somebody {
			t.Errorf("%s depends on who asks", path)
		}
	}
	wantRedirect(t, "the front page", signedIn(h, "GET", "/", nil, packing...), "/dashboard")
	if one, two := text(t, send(h, "GET", "/", "")), text(t, send(h, "GET", "/?q=guess", "")); one != two {
		t.Error("the front page repeats the query")
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
				want := plain.Header.Get(name)
				if name == "Etag" && coding != "" {
					want = strings.TrimSuffix(want, `"`) + "-" + coding + `"`
				}
				if got := r.Header.Get(name); name != "X-Request-Id" && name != "Content-Length" && got != want {
					t.Errorf("%s in %q: %s is %q, want %q", path, coding, name, got, want)
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
	first := packedAsset("vitrine.css", pack.Zstd, a.Body)
	if len(first) > len(a.Body)/3 || packedAsset("vitrine.css", pack.Zstd, nil) != first {
		t.Errorf("%d of %d bytes, or packed again", len(first), len(a.Body))
	}
}
