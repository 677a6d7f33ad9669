package content_test

import (
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/tree"
)

func TestETagNamesWhatTheClientGets(t *testing.T) {
	s := newEnv(t, "a.html", "<p>", "b.html", "<p>", "a.txt", "x")
	etag := func(path string, headers ...string) string { return s.get(path, headers...).Header().Get("ETag") }
	alone := etag("a.html")
	if len(alone) != 66 || strings.Trim(alone[1:65], "0123456789abcdef") != "" || alone[0] != '"' {
		t.Errorf("%s is not a quoted SHA-256", alone)
	}
	if etag("a.html") != alone || s.head("a.html").Header().Get("ETag") != alone {
		t.Error("the same file has another tag")
	}
	scripted := etag("a.html", frame...)
	s.Claims.Scripts = false
	reported := etag("a.html", frame...)
	if etag("a.html") != alone {
		t.Error("scripts change the tag of a direct read, whose policy they do not change")
	}
	s.Claims.Revision = "rev_00000000000000000000000001"
	s.State.Artifact.Current = s.Claims.Revision
	seen := map[string]bool{}
	for _, tag := range []string{alone, scripted, reported, etag("a.html"), etag("b.html")} {
		if seen[tag] {
			t.Errorf("%s stands for two answers", tag)
		}
		seen[tag] = true
	}
	if w := s.head("a.html", frame...); w.Header().Get("ETag") != s.get("a.html", frame...).Header().Get("ETag") {
		t.Error("F60: HEAD of a changed body has another tag")
	}
}

func TestIfNoneMatch(t *testing.T) {
	s := newEnv(t, "a.txt", "x", "a.pdf", "x")
	tag := s.get("a.txt").Header().Get("ETag")
	for _, header := range []string{tag, "W/" + tag, "*", `"x", ` + tag, `W/"x",W/` + tag + ` , "y"`} {
		for _, w := range []*httptest.ResponseRecorder{
			s.get("a.txt", "If-None-Match", header), s.head("a.txt", "If-None-Match", header),
		} {
			h := w.Header()
			if w.Code != http.StatusNotModified || w.Body.Len() > 0 || h.Get("ETag") != tag ||
				h.Get("Cache-Control") != "private, no-cache" ||
				h.Get("Content-Length") != "" || h.Get("Content-Security-Policy") == "" || h.Get("Vary") == "" ||
				h.Get("X-Request-Id") == "" {
				t.Errorf("%s: %d %v", header, w.Code, h)
			}
		}
	}
	for _, header := range []string{`"x"`, "", tag[1:65], strings.ToUpper(tag), `"*"`, "w/" + tag} {
		wantBody(t, s.get("a.txt", "If-None-Match", header), "x")
	}
	if w := s.get("a.txt", "If-None-Match", `"x"`, "If-None-Match", tag); w.Code != http.StatusNotModified {
		t.Errorf("the second line was not read: %d", w.Code)
	}
	if w := s.get("a.txt", "If-None-Match", tag, "Range", "bytes=0-0"); w.Code != http.StatusNotModified {
		t.Errorf("a range beat the condition: %d", w.Code)
	}
}

func TestRanges(t *testing.T) {
	s := newEnv(t, "a.bin", "0123456789", "empty.bin", "", "a.html", "0123456789")
	for header, want := range map[string]string{
		"bytes=0-3":                       "0123 bytes 0-3/10",
		"bytes=9-9":                       "9 bytes 9-9/10",
		"bytes=4-":                        "456789 bytes 4-9/10",
		"bytes=-3":                        "789 bytes 7-9/10",
		"bytes=-99":                       "0123456789 bytes 0-9/10",
		"bytes=5-99":                      "56789 bytes 5-9/10",
		"Bytes= 2-3":                      "23 bytes 2-3/10",
		"bytes=8-99999999999999999999999": "89 bytes 8-9/10",
		"bytes=-99999999999999999999999":  "0123456789 bytes 0-9/10",
		"bytes=00-01":                     "01 bytes 0-1/10",
	} {
		w := s.get("a.bin", "Range", header)
		got := w.Body.String() + " " + w.Header().Get("Content-Range")
		if w.Code != http.StatusPartialContent || got != want ||
			w.Header().Get("Content-Length") != strconv.Itoa(w.Body.Len()) {
			t.Errorf("%s: %d %s (%s bytes), want %s", header, w.Code, got, w.Header().Get("Content-Length"), want)
		}
		if w.Header().Get("ETag") != s.get("a.bin").Header().Get("ETag") {
			t.Errorf("%s: another tag", header)
		}
	}
	for _, header := range []string{
		"bytes=", "bytes=-", "bytes=3-2", "bytes=a-b", "bytes=1", "bytes 0-1", "items=0-1", "bytes=0-1,3-4", "bytes=0-1,",
		"bytes=--1", "bytes=+1-2", "bytes=0-1 2", "", "bytes=0x1-2",
	} {
		if w := s.get("a.bin", "Range", header); w.Code != 200 || w.Body.Len() != 10 ||
			w.Header().Get("Content-Range") != "" {
			t.Errorf("%q: %d %q", header, w.Code, w.Body)
		}
	}
	for file, headers := range map[string][]string{
		"a.bin":     {"bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999-"},
		"empty.bin": {"bytes=0-", "bytes=0-0", "bytes=-0"},
	} {
		for _, header := range headers {
			w := s.get(file, "Range", header)
			size := "10"
			if file == "empty.bin" {
				size = "0"
			}
			if w.Code != http.StatusRequestedRangeNotSatisfiable || w.Header().Get("Content-Range") != "bytes */"+size ||
				w.Body.Len() > 0 ||
				w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Content-Security-Policy") == "" {
				t.Errorf("%s %s: %d %v", file, header, w.Code, w.Header())
			}
		}
	}
	wantBody(t, s.get("empty.bin", "Range", "bytes=-5"), "")
	wantBody(t, s.get("a.bin", "Range", "bytes=0-1", "Range", "bytes=0-1"), "0123456789")
	if w := s.get("a.html", append([]string{"Range", "bytes=0-1"}, frame...)...); w.Code != 200 ||
		w.Header().Get("Accept-Ranges") != "none" || w.Body.Len() <= 10 {
		t.Errorf("a changed body has ranges: %d %v", w.Code, w.Header())
	}
}

func TestIfRange(t *testing.T) {
	s := newEnv(t, "a.bin", "0123456789")
	tag := s.get("a.bin").Header().Get("ETag")
	if w := s.get("a.bin", "Range", "bytes=1-2", "If-Range", tag); w.Code != http.StatusPartialContent {
		t.Errorf("the right tag: %d", w.Code)
	}
	for _, condition := range []string{`"x"`, "W/" + tag, "Sun, 01 Mar 2026 12:00:00 GMT", "*", ""} {
		wantBody(t, s.get("a.bin", "Range", "bytes=1-2", "If-Range", condition), "0123456789")
	}
	wantBody(t, s.get("a.bin", "Range", "bytes=99-", "If-Range", `"x"`), "0123456789")
}

func TestIfMatch(t *testing.T) {
	s := newEnv(t, "a.bin", "0123456789")
	tag := s.get("a.bin").Header().Get("ETag")
	for _, condition := range []string{tag, "*", `"x", ` + tag} {
		if w := s.get("a.bin", "Range", "bytes=1-2", "If-Match", condition); w.Code != http.StatusPartialContent {
			t.Errorf("%s: %d, want a part", condition, w.Code)
		}
	}
	for _, condition := range []string{`"x"`, "W/" + tag, ""} {
		w := s.get("a.bin", "Range", "bytes=1-2", "If-Match", condition)
		if w.Code != http.StatusPreconditionFailed || w.Body.Len() > 0 || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %q, want a refusal", condition, w.Code, w.Body)
		}
	}
}

func TestF62ObjectStoreFailsBeforeTheAnswer(t *testing.T) {
	s := newEnv(t, "a.pdf", "x")
	s.OpenErr = fault.Wrap(fault.StorageUnavailable,
		errors.New(`Get "http://s3.test/o/1?X-Amz-Signature=abc": SlowDown`), "the file store does not answer")
	for _, headers := range [][]string{nil, frame, {"Range", "bytes=0-0"}} {
		wantRefused(t, s.get("a.pdf", headers...), http.StatusServiceUnavailable, fault.StorageUnavailable)
	}
	if text := s.Log.String(); strings.Contains(text, "Signature") || !strings.Contains(text, "SlowDown") {
		t.Errorf("logged: %s", text)
	}
	s.OpenErr = fault.NewCode(fault.NotFound) // the file is deleted during the read
	wantRefused(t, s.get("a.pdf"), http.StatusNotFound, fault.NotFound)
}

// breaking returns some bytes and then fails, or just ends.
type breaking struct {
	left int
	err  error
}

func (b *breaking) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, b.err
	}
	n := min(len(p), b.left)
	b.left -= n
	return n, nil
}

func (b *breaking) Close() error { return nil }

// listen serves the host over TCP, where responses can break off.
func (e *env) listen(t testing.TB) *httptest.Server {
	server := httptest.NewUnstartedServer(e.Handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	return server
}

// fetch reads a URL over TCP, in a coding; empty: without asking for one.
func fetch(t testing.TB, url, coding string) *http.Response {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if coding != "" {
		r.Header.Set("Accept-Encoding", coding)
	}
	resp, err := (&http.Transport{DisableCompression: true, DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func TestF63ObjectStoreFailsWithinTheAnswer(t *testing.T) {
	const size, given = 1 << 20, 300 << 10
	for name, err := range map[string]error{
		"failure":        errors.New("connection reset"),
		"early end":      io.EOF,
		"told early end": io.ErrUnexpectedEOF,
	} {
		t.Run(name, func(t *testing.T) {
			s := newEnv(t)
			s.Files = append(s.Files, tree.File{Path: "big.html", Size: size, Object: tree.Object{Session: "upl_1"}})
			s.Body = func(int64) io.ReadCloser { return &breaking{given, err} }
			server := s.listen(t)
			resp := fetch(t, server.URL+"/v/"+s.Token()+"/big.html", "")
			got, err := io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			if resp.StatusCode != 200 || resp.ContentLength != size || got > given || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%d: %d of %d bytes, %v; want a short body", resp.StatusCode, got, resp.ContentLength, err)
			}
			server.Close()
			if text := s.Log.String(); !strings.Contains(text, `"code":"storage_unavailable"`) ||
				!strings.Contains(text, `"level":"ERROR"`) {
				t.Errorf("logged: %s", text)
			}
		})
	}
}

func TestClientThatLeavesIsNoError(t *testing.T) {
	const size = 64 << 20
	s := newEnv(t)
	s.Files = append(s.Files, tree.File{Path: "big.bin", Size: size, Object: tree.Object{Session: "upl_1"}})
	s.Body = func(n int64) io.ReadCloser { return &breaking{int(n), io.EOF} }
	server := s.listen(t)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(conn, "GET /v/"+s.Token()+"/big.bin HTTP/1.1\r\nHost: content.test\r\n\r\n")
	io.ReadFull(conn, make([]byte, 1000))
	conn.Close()
	server.Close() // waits for the handler
	if text := s.Log.String(); !strings.Contains(text, `"client_left":true`) || !strings.Contains(text, `"level":"INFO"`) {
		t.Errorf("logged: %s", text)
	}
}

// sink is a client that discards the response.
type sink struct {
	header http.Header
	status int
	bytes  int64
}

func (s *sink) Header() http.Header    { return s.header }
func (s *sink) WriteHeader(status int) { s.status = status }
func (s *sink) Write(b []byte) (int, error) {
	s.bytes += int64(len(b))
	return len(b), nil
}

func TestMemoryDoesNotGrowWithTheFile(t *testing.T) {
	const size = 25 << 20
	s := newEnv(t, "small.bin", "x")
	s.Files = append(s.Files, tree.File{Path: "big.html", Size: size, Object: tree.Object{Session: "upl_9"}})
	for _, headers := range [][]string{nil, frame} {
		s.Body = func(n int64) io.ReadCloser { return &breaking{int(n), io.EOF} }
		read := func() *sink {
			r := httptest.NewRequest("GET", "/v/"+s.Token()+"/big.html", nil)
			for i := 0; i < len(headers); i += 2 {
				r.Header.Set(headers[i], headers[i+1])
			}
			w := &sink{header: http.Header{}}
			s.Handler.ServeHTTP(w, r)
			return w
		}
		read() // fills the pool
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w := read()
		runtime.ReadMemStats(&after)
		if w.status != 200 || w.bytes < size || w.header.Get("Content-Length") != strconv.FormatInt(w.bytes, 10) {
			t.Errorf("%d: %d bytes, %s announced", w.status, w.bytes, w.header.Get("Content-Length"))
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 256<<10 {
			t.Errorf("%d bytes were allocated for a file of 25 MB", grown)
		}
	}
}

// TestCacheControl asks for a whole file, for a part of it, for its headers and with its tag; all say the same.
func TestCacheControl(t *testing.T) {
	const minute, ask = "private, max-age=60", "private, no-cache"
	for name, c := range map[string]struct {
		path   string
		set    func(*env)
		want   string
		framed bool
	}{
		"a file":                     {path: "style.css", want: minute},
		"a file in a frame":          {path: "style.css", want: minute, framed: true},
		"the entrypoint":             {path: "read.md", want: ask},
		"another page in a frame":    {path: "index.html", want: ask, framed: true},
		"a token that ends in 7.5 s": {path: "style.css", set: goOn(7500 * time.Millisecond), want: "private, max-age=7"},
		"through a link":             {path: "style.css", set: (*env).link, want: ask},
	} {
		t.Run(name, func(t *testing.T) {
			s := newEnv(t, "style.css", "body {}", "read.md", "# Read me", "index.html", "<p>page")
			s.State.Artifact.Entrypoint = "read.md"
			if c.set != nil {
				c.set(s)
			}
			var headers []string
			if c.framed {
				headers = frame
			}
			whole := s.get(c.path, headers...)
			tag := whole.Header().Get("ETag")
			for status, h := range map[int]http.Header{
				whole.Code: whole.Header(),
				206:        s.get(c.path, append([]string{"Range", "bytes=1-2"}, headers...)...).Header(),
				304:        s.get(c.path, append([]string{"If-None-Match", tag}, headers...)...).Header(),
				0:          s.head(c.path, headers...).Header(),
			} {
				if h.Get("Cache-Control") != c.want || !strings.HasPrefix(h.Get("Vary"), "Sec-Fetch-Dest, Sec-Fetch-Mode") {
					t.Errorf("%d: %q, Vary %q, want %q", status, h.Get("Cache-Control"), h.Get("Vary"), c.want)
				}
			}
			if whole.Code != http.StatusOK || s.Opened.Load() != 1 {
				t.Errorf("%d, and %d objects are read", whole.Code, s.Opened.Load())
			}
			past := s.get(c.path, "Range", "bytes=100-")
			if past.Code != http.StatusRequestedRangeNotSatisfiable || past.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("a range after the end: %d %q", past.Code, past.Header().Get("Cache-Control"))
			}
		})
	}
}

// goOn sets the clock to some time before the end of the token.
func goOn(left time.Duration) func(*env) {
	return func(s *env) {
		s.Now = s.Claims.Expires.Add(-left)
		s.State.Artifact.ExpiresAt = s.Claims.Expires
	}
}

// link makes the token one of an access link.
func (e *env) link() {
	e.Claims.Link = id.NewPublic()
	e.State.Link = &link.Link{Public: e.Claims.Link, Artifact: e.Claims.Artifact, CreatedAt: e.Now}
}

func TestAPageInMemoryStaysAsItWasPublished(t *testing.T) {
	const page = "<h1>hi</h1>"
	s := newEnv(t, "index.html", page)
	for range 2 {
		framed := s.get("index.html", frame...)
		if body := framed.Body.String(); !strings.HasPrefix(body, page) || strings.Count(body, "<script>") != 1 {
			t.Errorf("in a frame: %q", body)
		}
		wantBody(t, s.get("index.html"), page)
		if part := s.get("index.html", "Range", "bytes=4-").Body.String(); part != page[4:] {
			t.Errorf("a part: %q", part)
		}
	}
	if s.Opened.Load() != 1 {
		t.Errorf("the object is read %d times", s.Opened.Load())
	}
}
