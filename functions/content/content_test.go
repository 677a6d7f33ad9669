package content_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	host "vitrine/functions/content"
	"vitrine/scripts/testkit/browser"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/cache"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/content"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// env is a content host over fakes in this file. They hold one artifact, and do what the test says.
type env struct {
	t            testing.TB
	host         host.Host
	handler      http.Handler
	log          bytes.Buffer
	codec        *token.Codec
	bundles      *token.Codec
	exportTokens *token.Codec
	archive      string // of the revision, or of the export
	exported     export.Export
	now          time.Time
	claims       token.Claims
	state        readaccess.State
	revision     *artifact.Revision // any but the current one
	tree         tree.Tree
	bodies       map[tree.Object]string
	opened       atomic.Int32
	openErr      error
	body         func(size int64) io.ReadCloser // nil: from bodies
	storeErr     error
	mu           sync.Mutex
	counts       map[string]int
	streams      map[rate.Stream]int64 // open streams, by streams without Until
	numbers      limits.Limits
}

func newEnv(t testing.TB, files ...string) *env {
	t.Helper()
	s := &env{
		t:       t,
		now:     time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		bodies:  map[tree.Object]string{},
		counts:  map[string]int{},
		streams: map[rate.Stream]int64{},
		numbers: limits.Default(),
		claims: token.Claims{
			Workspace: id.NewWorkspace(),
			Artifact:  id.NewArtifact(),
			Revision:  id.NewRevision(),
			Scripts:   true,
		},
	}
	s.claims.Expires = s.now.Add(time.Hour)
	s.state = readaccess.State{
		Workspace: &workspace.Workspace{ID: s.claims.Workspace, ClaimedAt: s.now},
		Artifact: &artifact.Artifact{
			ID:               s.claims.Artifact,
			Owner:            s.claims.Workspace,
			StorageWorkspace: s.claims.Workspace,
			Status:           artifact.Live,
			ExpiresAt:        s.now.Add(time.Hour),
			Current:          s.claims.Revision,
		},
	}
	for i := 0; i < len(files); i += 2 {
		s.add(files[i], files[i+1])
	}
	s.serve("http://content.test", "http://app.test")
	return s
}

func (s *env) add(path, body string) {
	o := tree.Object{Session: "upl_1", Entry: len(s.tree)}
	f := tree.File{
		Path:   path,
		Size:   int64(len(body)),
		SHA256: tree.DigestOf(body),
		Object: o,
	}
	s.tree = append(s.tree, f)
	s.bodies[o] = body
}

// serve replaces the host by one with these origins.
func (s *env) serve(contentOrigin, app string) {
	s.t.Helper()
	ring := keyring.New().Content
	var err1, err2, err3 error
	s.codec, err1 = token.New(ring, token.Content, contentOrigin)
	s.bundles, err2 = token.New(ring, token.Bundle, contentOrigin)
	s.exportTokens, err3 = token.New(ring, token.Export, contentOrigin)
	if err := errors.Join(err1, err2, err3); err != nil {
		s.t.Fatal(err)
	}
	clock := func() time.Time { return s.now }
	addresses, err := keyring.New().Content.Derive("address")
	if err != nil {
		s.t.Fatal(err)
	}
	s.host = host.Host{
		Surface: &web.Server{
			Title:  "Vitrine content",
			Origin: contentOrigin,
			Pace:   s.numbers.Pace,
			Log:    slog.New(slog.NewJSONHandler(&s.log, nil)),
		},
		Reader: &content.Reader{
			Tokens:       s.codec,
			Bundles:      s.bundles,
			ExportTokens: s.exportTokens,
			Exports:      exports{s},
			Store:        s,
			Bytes:        s,
			Now:          clock,
			Limiter:      &rate.Limiter{Counters: s, Limits: &s.numbers, Now: clock},
			Streams:      &rate.Streams{Store: s, Limits: &s.numbers, Now: clock},
			Addresses:    addresses,
			Cache:        cache.New(s.numbers.Cache),
		},
		Origins: address.Origins{Content: contentOrigin, App: app},
	}
	s.handler = s.host.Handler()
}

// The ports.

func (s *env) ReadState(context.Context, readaccess.Query) (readaccess.State, error) {
	return s.state, s.storeErr
}

func (s *env) Workspace(context.Context, id.Workspace) (*workspace.Workspace, error) {
	return nil, s.storeErr
}

func (s *env) Revision(context.Context, id.Artifact, id.Revision) (*artifact.Revision, error) {
	return s.revision, s.storeErr
}

func (s *env) Tree(context.Context, id.Artifact, id.Revision) (tree.Tree, error) {
	return s.tree, s.storeErr
}

func (s *env) Count(_ context.Context, w rate.Window, add, limit int) (int, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	window := w.Subject + w.Start.String()
	if s.counts[window] >= limit {
		return 0, false, nil
	}
	s.counts[window] += add
	return s.counts[window], true, nil
}

func (s *env) AcquireStream(_ context.Context, st rate.Stream, most int, _ time.Time) (free []int, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	until := st.Until.UnixNano()
	st.Until = time.Time{}
	if s.streams[st] == 0 {
		s.streams[st] = until
		return nil, true, s.storeErr
	}
	for st.Slot = range most {
		if s.streams[st] == 0 {
			free = append(free, st.Slot)
		}
	}
	return free, false, nil
}

func (s *env) ReleaseStream(_ context.Context, st rate.Stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	until := st.Until.UnixNano()
	if st.Until = (time.Time{}); s.streams[st] == until {
		delete(s.streams, st)
	}
	return nil
}

func (s *env) Open(_ context.Context, _ id.Workspace, o tree.Object, offset, size int64) (io.ReadCloser, error) {
	s.opened.Add(1)
	if s.openErr != nil {
		return nil, s.openErr
	}
	if s.body != nil {
		return s.body(size), nil
	}
	return io.NopCloser(strings.NewReader(s.bodies[o][offset : offset+size])), nil
}

func (s *env) OpenBundle(_ context.Context, o artifact.BundleObject, offset, size int64) (io.ReadCloser, error) {
	s.opened.Add(1)
	if want := s.state.Artifact.BundleObject(s.claims.Revision); o != want {
		return nil, fmt.Errorf("%+v is opened, not %+v", o, want)
	}
	return io.NopCloser(strings.NewReader(s.archive[offset : offset+size])), s.openErr
}

func (s *env) OpenExport(_ context.Context, o export.Object, offset, size int64) (io.ReadCloser, error) {
	s.opened.Add(1)
	if want := s.exported.Object(o.Volume); o != want {
		return nil, fmt.Errorf("%+v is opened, not %+v", o, want)
	}
	return io.NopCloser(strings.NewReader(s.archive[offset : offset+size])), s.openErr
}

func (s *env) token() string {
	s.t.Helper()
	text, err := s.codec.Mint(s.claims)
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

// get reads a path with a new token; headers come in pairs.
func (s *env) get(path string, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	return s.ask("GET", "/v/"+s.token()+"/"+path, headers...)
}

func (s *env) head(path string, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	return s.ask("HEAD", "/v/"+s.token()+"/"+path, headers...)
}

func (s *env) ask(method, target string, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.handler.ServeHTTP(w, r)
	return w
}

var frame = []string{"Sec-Fetch-Dest", "iframe", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Site", "cross-site"}

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
	for name, want := range map[string]string{
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
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
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
	if n := s.opened.Load(); n != 0 {
		t.Errorf("%d objects were opened", n)
	}
}

func TestNoIndexIsAHeaderOnly(t *testing.T) {
	s := newEnv(t, "index.html", "<p>")
	s.claims.NoIndex, s.state.Workspace.ClaimedAt = true, time.Time{}
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
		"täble.xlsx":              `attachment; filename="t_ble.xlsx"; filename*=UTF-8''t%C3%A4ble.xlsx`,
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
	wantRefused(t,
		s.ask("OPTIONS", "/v/"+s.token()+"/a.json", "Origin", "null", "Access-Control-Request-Method", "GET"), 404,
		fault.NotFound)
}

func TestLocallyTheAppsNameIsRefused(t *testing.T) {
	s := newEnv(t, "a.txt", "x")
	s.serve("http://127.0.0.1:8703", "http://localhost:8704")
	path := "/v/" + s.token() + "/a.txt"
	wantRefused(t, s.ask("GET", "http://localhost:8703"+path), http.StatusMisdirectedRequest, fault.NotFound)
	wantBody(t, s.ask("GET", "http://127.0.0.1:8703"+path), "x")
	wantBody(t, s.ask("GET", "http://192.0.2.1"+path), "x")
	s.host.Strict = true
	s.handler = s.host.Handler()
	wantRefused(t, s.ask("GET", "http://192.0.2.1"+path), http.StatusMisdirectedRequest, fault.NotFound)
	wantBody(t, s.ask("GET", "http://127.0.0.1"+path), "x")
}
