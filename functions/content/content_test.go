package content_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	host "vitrine/functions/content"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/reading"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/media"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// env is a content host that serves an artifact.
type env struct {
	*reading.Artifact
	host host.Host
}

func newEnv(t testing.TB, files ...string) *env {
	t.Helper()
	s := &env{Artifact: reading.New(t, files...)}
	s.serve(reading.ContentOrigin, reading.AppOrigin)
	return s
}

// serve replaces the host by one with these origins.
func (e *env) serve(contentOrigin, app string) {
	e.T.Helper()
	e.host = host.Host{
		Surface: &web.Server{
			Title:  "Vitrine content",
			Origin: contentOrigin,
			Pace:   e.Numbers.Pace,
			Log:    e.Logger(),
		},
		Reader:  e.Reader(contentOrigin),
		Origins: address.Origins{Content: contentOrigin, App: app},
		Loads:   media.Running(),
		Static:  media.Static(),
	}
	e.Handler = e.host.Handler()
}

// get reads a path with a new token; headers come in pairs.
func (e *env) get(path string, headers ...string) *httptest.ResponseRecorder {
	e.T.Helper()
	return e.Ask("GET", "/v/"+e.Token()+"/"+path, headers...)
}

func (e *env) head(path string, headers ...string) *httptest.ResponseRecorder {
	e.T.Helper()
	return e.Ask("HEAD", "/v/"+e.Token()+"/"+path, headers...)
}

var frame = slices.Concat(reading.InFrame, []string{"Referer", "http://app.test/"})

func wantBody(t testing.TB, w *httptest.ResponseRecorder, body string) {
	t.Helper()
	if w.Code != http.StatusOK || w.Body.String() != body {
		t.Errorf("answered %d %.80q, want 200 %.80q", w.Code, w.Body, body)
	}
}

// wantRefused checks an error response, and that it tells no more than its code.
func wantRefused(t testing.TB, w *httptest.ResponseRecorder, status int, code fault.Code) {
	t.Helper()
	var e struct {
		Error struct {
			Code, Message string
			RequestID     string `json:"request_id"`
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil {
		t.Fatalf("%d %q: %v", w.Code, w.Body, err)
	}
	if w.Code != status || e.Error.Code != string(code) {
		t.Errorf("answered %d %s, want %d %s", w.Code, e.Error.Code, status, code)
	}
	if status == http.StatusNotFound && e.Error.Message != "not_found" {
		t.Errorf("404 says %q", e.Error.Message)
	}
	h := w.Header()
	if h.Get("Cache-Control") != "no-store" || h.Get("X-Frame-Options") != "DENY" ||
		h.Get("X-Request-Id") != e.Error.RequestID ||
		h.Get("ETag") != "" || h.Get("Content-Disposition") != "" || h.Get("WWW-Authenticate") != "" {
		t.Errorf("headers of a refusal: %v", h)
	}
}

func TestFileIsServed(t *testing.T) {
	s := newEnv(t, "index.html", "<h1>hi</h1>", "data/täble 1.csv", "a,b")
	w := s.get("index.html", "X-Request-Id", "request-1")
	wantBody(t, w, "<h1>hi</h1>")
	expect.Results(t, w.Header().Get, map[string]string{
		"Content-Type":                 "text/html; charset=utf-8",
		"Content-Length":               "11",
		"Cache-Control":                "private, no-cache",
		"Accept-Ranges":                "bytes",
		"Content-Disposition":          "",
		"X-Robots-Tag":                 "",
		"X-Request-Id":                 "request-1",
		"Vary":                         "Sec-Fetch-Dest, Sec-Fetch-Mode",
		"Access-Control-Allow-Origin":  "",
		"Referrer-Policy":              "no-referrer",
		"Cross-Origin-Resource-Policy": "cross-origin",
		"Cross-Origin-Opener-Policy":   "same-origin",
		"X-Content-Type-Options":       "nosniff",
		"X-Frame-Options":              "DENY",
		"Strict-Transport-Security":    "max-age=31536000",
		"Permissions-Policy":           "accelerometer=(), camera=(), geolocation=(), microphone=(), payment=(), usb=()",
	})
	wantBody(t, s.get("data/t%C3%A4ble%201.csv"), "a,b")
	wantBody(t, s.get("data%2Ft%C3%A4ble%201.csv"), "a,b") // the whole path is decoded once
}

func TestHEADAnswersTheHeadersOfGET(t *testing.T) {
	s := newEnv(t, "index.html", "<h1>hi</h1>", "a.pdf", "%PDF", "empty.txt", "")
	for _, path := range []string{"index.html", "a.pdf", "empty.txt"} {
		for _, headers := range [][]string{nil, frame, {"Range", "bytes=0-1"}} {
			get, head := s.get(path, headers...), s.head(path, headers...)
			if head.Body.Len() > 0 || head.Code != http.StatusOK {
				t.Errorf("%s: %d with %d bytes", path, head.Code, head.Body.Len())
			}
			if get.Code != http.StatusOK {
				continue // HEAD ignores ranges
			}
			get.Header().Del("X-Request-Id")
			head.Header().Del("X-Request-Id")
			for name := range get.Header() {
				if get.Header().Get(name) != head.Header().Get(name) {
					t.Errorf("%s: %s is %q for GET, %q for HEAD", path, name, get.Header().Get(name), head.Header().Get(name))
				}
			}
			if len(get.Header()) != len(head.Header()) {
				t.Errorf("%s: GET %v\nHEAD %v", path, get.Header(), head.Header())
			}
		}
	}
}

func TestEmptyFileAndHEADDoNotTouchTheObjectStore(t *testing.T) {
	s := newEnv(t, "empty.txt", "", "a.txt", "x", "empty.html", "")
	wantBody(t, s.get("empty.txt"), "")
	s.head("a.txt")
	if w := s.get("empty.html", frame...); w.Code != 200 || !strings.Contains(w.Body.String(), "viewer-height") {
		t.Errorf("%d %q", w.Code, w.Body)
	}
	s.get("a.txt", "If-None-Match", "*")
	s.get("a.txt", "Range", "bytes=9-")
	if n := s.Opened.Load(); n != 0 {
		t.Errorf("%d objects were opened", n)
	}
}

func TestNoIndexIsAHeaderOnly(t *testing.T) {
	s := newEnv(t, "index.html", "<p>")
	s.Claims.NoIndex, s.State.Workspace.ClaimedAt = true, time.Time{}
	for _, headers := range [][]string{nil, {"Range", "bytes=0-0"}, {"If-None-Match", "*"}, {"Range", "bytes=7-"}} {
		w := s.get("index.html", headers...)
		if got := w.Header().Get("X-Robots-Tag"); got != "noindex, nofollow" {
			t.Errorf("%d with X-Robots-Tag %q", w.Code, got)
		}
	}
	wantBody(t, s.get("index.html"), "<p>")
}

func TestAttachmentsKeepTheirNames(t *testing.T) {
	for path, want := range map[string]string{
		"a/report.pdf":            `attachment; filename="report.pdf"`,
		"LICENSE":                 `attachment; filename="LICENSE"`,
		`a "b" 100%.zip`:          `attachment; filename="a _b_ 100%.zip"`,
		"täble.xlsz":              `attachment; filename="t_ble.xlsz"; filename*=UTF-8''t%C3%A4ble.xlsz`,
		"a'(b);c=日.bin":           `attachment; filename="a'(b);c=_.bin"; filename*=UTF-8''a%27%28b%29%3Bc%3D%E6%97%A5.bin`,
		"invoice\u202efdp.exe":    `attachment; filename="invoice_fdp.exe"; filename*=UTF-8''invoice_fdp.exe`,
		"a\u0085b\u00a0c\u2028.x": `attachment; filename="a_b_c_.x"; filename*=UTF-8''a_b_c_.x`,
	} {
		s := newEnv(t, path, "x")
		w := s.get(address.Escape(path))
		if got := w.Header().Get("Content-Disposition"); got != want {
			t.Errorf("%q: %s\nwant %s", path, got, want)
		}
		if got := s.get(address.Escape(path), frame...); got.Header().Get("X-Frame-Options") != "DENY" {
			t.Errorf("%q may be framed", path)
		}
	}
}

func TestSandboxedOriginMayRead(t *testing.T) {
	s := newEnv(t, "a.json", "{}")
	for origin, allowed := range map[string]string{"null": "null", "http://app.test": "", "": "", "NULL": ""} {
		for _, path := range []string{"a.json", "missing.json"} {
			h := s.get(path, "Origin", origin).Header()
			if h.Get("Access-Control-Allow-Origin") != allowed || h.Get("Access-Control-Allow-Credentials") != "" ||
				strings.Contains(h.Get("Vary"), "Origin") != (allowed != "") {
				t.Errorf("%s from %q: %v", path, origin, h)
			}
		}
	}
	preflight := func(origin, method string) *httptest.ResponseRecorder {
		return s.Ask("OPTIONS", "/v/"+s.Token()+"/a.json", "Origin", origin, "Access-Control-Request-Method", method)
	}
	for _, method := range []string{"GET", "HEAD"} {
		h := preflight("null", method).Header()
		if h.Get("Access-Control-Allow-Origin") != "null" || h.Get("Access-Control-Allow-Headers") != "*" ||
			h.Get("Access-Control-Allow-Methods") != "GET, HEAD" || h.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("preflight for %s: %v", method, h)
		}
	}
	for _, c := range [][2]string{{"null", "POST"}, {"null", ""}, {"http://app.test", "GET"}, {"", "GET"}} {
		wantRefused(t, preflight(c[0], c[1]), 404, fault.NotFound)
	}
}

func TestLocallyTheAppsNameIsRefused(t *testing.T) {
	s := newEnv(t, "a.txt", "x")
	s.serve("http://127.0.0.1:8703", "http://localhost:8704")
	path := "/v/" + s.Token() + "/a.txt"
	wantRefused(t, s.Ask("GET", "http://localhost:8703"+path), http.StatusMisdirectedRequest, fault.NotFound)
	wantBody(t, s.Ask("GET", "http://127.0.0.1:8703"+path), "x")
	wantBody(t, s.Ask("GET", "http://192.0.2.1"+path), "x")
	s.host.Strict = true
	s.Handler = s.host.Handler()
	wantRefused(t, s.Ask("GET", "http://192.0.2.1"+path), http.StatusMisdirectedRequest, fault.NotFound)
	wantBody(t, s.Ask("GET", "http://127.0.0.1"+path), "x")
}
