package app

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"vitrine/scripts/testkit/unpack"
	"vitrine/shared/platform/script"
)

func TestProgramsOfPagesAreServedToEverybody(t *testing.T) {
	text := strings.Repeat("export default 1;\n", 100)
	h, _ := host(nil)
	h.Programs = fstest.MapFS{
		"node_modules/mermaid/dist/mermaid.esm.min.mjs":                                       {Data: []byte(text)},
		"node_modules/mermaid/package.json":                                                   {Data: []byte("{}")},
		"node_modules/@fontsource/noto-sans-math/files/noto-sans-math-latin-400-normal.woff2": {Data: []byte("wOF2")},
	}
	handler := h.Handler()
	get := func(path, encoding string) *http.Response {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", path, nil)
		r.Header.Set("Accept-Encoding", encoding)
		r.Header.Set("Origin", "null")
		handler.ServeHTTP(w, r)
		return w.Result()
	}
	whole := script.Mermaid.URL("")
	for encoding, coding := range map[string]string{"": "", "gzip, br": "gzip", "gzip, deflate, br, zstd": "zstd"} {
		r := get(whole, encoding)
		packed, err := io.ReadAll(r.Body)
		got := unpack.Text(t, r.Header, packed)
		if r.StatusCode != http.StatusOK || got != text || err != nil || r.Header.Get("Content-Encoding") != coding {
			t.Errorf("%q: %d %q %v %v", encoding, r.StatusCode, got, err, r.Header)
		}
		wantHeaders(t, encoding, r,
			"Content-Type", "text/javascript; charset=utf-8", "Cache-Control", "public, max-age=31536000, immutable",
			"Access-Control-Allow-Origin", "*", "Cross-Origin-Resource-Policy", "cross-origin",
			"Vary", "Accept-Encoding", "X-Content-Type-Options", "nosniff")
	}
	font := get(script.MathFont.URL(""), "gzip")
	body, err := io.ReadAll(font.Body)
	if string(body) != "wOF2" || font.Header.Get("Content-Type") != "font/woff2" || err != nil {
		t.Errorf("the font is %q, %v, %v", body, font.Header, err)
	}
	for _, path := range []string{
		script.PDF.URL(""), // it is not there
		"/scripts/mermaid-12.3.0/package.json",
		"/scripts/mermaid-12.3.0/../../package.json",
		"/scripts/mermaid-1.0.0/dist/mermaid.esm.min.mjs",
		"/scripts/",
	} {
		if r := get(path, ""); r.StatusCode != http.StatusNotFound || r.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: %d %v", path, r.StatusCode, r.Header)
		}
	}
	h.Programs = nil
	wantAnswer(t, "without programs", get(whole, ""), http.StatusNotFound)
}
