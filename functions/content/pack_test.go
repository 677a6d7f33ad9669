package content_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/unpack"
	"vitrine/shared/platform/pack"
	"vitrine/shared/publishing/tree"
)

// long is a text that is worth packing. large is one that is not kept in memory.
var (
	long  = "<!doctype html><head><title>a</title></head>" + strings.Repeat("<p>All the same.</p>\n", 200)
	large = long + strings.Repeat("<p>And so on.</p>\n", 20_000)
)

// wantPacked checks that an answer has a body in a coding; empty: as it is.
func wantPacked(t testing.TB, w *httptest.ResponseRecorder, coding, body string) {
	t.Helper()
	if got := unpack.Text(t, w.Header(), w.Body.Bytes()); w.Code != 200 || w.Header().Get("Content-Encoding") != coding ||
		got != body {
		t.Errorf("%d %q with %d bytes, want %q with %d", w.Code, w.Header().Get("Content-Encoding"), len(got), coding, len(body))
	}
	if ranges, tag := w.Header().Get("Accept-Ranges"), w.Header().Get("ETag"); coding != "" &&
		(ranges != "" || !strings.HasSuffix(tag, "-"+coding+`"`)) {
		t.Errorf("ETag %s, Accept-Ranges %q", tag, ranges)
	}
}

func TestFilesArePackedByTheirType(t *testing.T) {
	for _, body := range []string{long, large} {
		for path, packed := range map[string]bool{
			"a.html": true, "a.htm": true, "a.css": true, "a.js": true, "a.mjs": true, "a.json": true, "a.map": true,
			"a.svg": true, "a.xml": true, "a.csv": true, "a.md": true, "a.txt": true, "a.log": true, "a.wasm": true,
			"a.ttf": true, "a.otf": true, "a.ipynb": true, "a.tsv": true, "a.yaml": true, "a.py": true, "Makefile": true,
			"a.png": false, "a.jpg": false, "a.webp": false, "a.avif": false, "a.gif": false, "a.ico": false, "a.mp3": false,
			"a.mp4": false, "a.woff": false, "a.woff2": false, "a.pdf": false, "a.zip": false, "a.bin": false, "a": false,
		} {
			s := newEnv(t, path, body)
			for _, coding := range []string{"zstd", "gzip"} {
				want := map[bool]string{true: coding}[packed]
				w := s.get(path, "Accept-Encoding", coding)
				wantPacked(t, w, want, body)
				if varies := strings.Contains(w.Header().Get("Vary"), "Accept-Encoding"); varies != packed {
					t.Errorf("%s: Vary is %q", path, w.Header().Get("Vary"))
				}
			}
		}
	}
}

func TestAClientThatAsksForNothingGetsTheFileAsItIs(t *testing.T) {
	for _, body := range []string{long, large} {
		s := newEnv(t, "a.txt", body)
		s.get("a.txt", "Accept-Encoding", "zstd")
		w := s.get("a.txt")
		wantPacked(t, w, "", body)
		expect.Results(t, w.Header().Get, map[string]string{
			"Content-Length": strconv.Itoa(len(body)),
			"Accept-Ranges":  "bytes",
			"Vary":           "Sec-Fetch-Dest, Sec-Fetch-Mode, Accept-Encoding",
		})
		head := s.head("a.txt", "Accept-Encoding", "zstd").Header()
		for name := range w.Header() {
			if name != "X-Request-Id" && head.Get(name) != w.Header().Get(name) {
				t.Errorf("HEAD: %s is %q, want %q", name, head.Get(name), w.Header().Get(name))
			}
		}
	}
}

func TestEachFormHasAnETagOfItsOwn(t *testing.T) {
	s := newEnv(t, "a.txt", long)
	tags := map[string]string{}
	for _, coding := range []string{"", "gzip", "zstd"} {
		tags[coding] = s.get("a.txt", "Accept-Encoding", coding).Header().Get("ETag")
	}
	if tags[""] == tags["gzip"] || tags["gzip"] == tags["zstd"] || tags[""] == tags["zstd"] {
		t.Fatalf("%v", tags)
	}
	opened := s.Opened.Load()
	for form, tag := range tags {
		for _, coding := range []string{"", "gzip", "zstd"} {
			w := s.get("a.txt", "Accept-Encoding", coding, "If-None-Match", tag)
			if w.Code != 304 || w.Header().Get("ETag") != tag || w.Header().Get("Content-Encoding") != "" ||
				!strings.HasSuffix(w.Header().Get("Vary"), "Accept-Encoding") {
				t.Errorf("the form %q, asked for %q: %d %v", form, coding, w.Code, w.Header())
			}
		}
		part := s.get("a.txt", "Accept-Encoding", "zstd", "Range", "bytes=0-1", "If-Range", tag)
		if want := map[bool]int{true: 206, false: 200}[form == ""]; part.Code != want {
			t.Errorf("a range if it is still the form %q: %d, want %d", form, part.Code, want)
		}
		if part.Header().Get("Content-Encoding") != "" || part.Header().Get("ETag") != tags[""] {
			t.Errorf("a range of the form %q: %v", form, part.Header())
		}
	}
	if s.Opened.Load() != opened {
		t.Error("objects were opened again")
	}
}

func TestAPageInAFrameIsPackedWithItsScript(t *testing.T) {
	for _, body := range []string{long, large} {
		for _, scripts := range []bool{true, false} {
			s := newEnv(t, "a.html", body)
			s.Claims.Scripts = scripts
			whole := s.get("a.html", frame...).Body.String()
			if !strings.Contains(whole, "viewer-height") {
				t.Fatal("the page has no script")
			}
			for range 2 {
				for _, coding := range []string{"zstd", "gzip"} {
					wantPacked(t, s.get("a.html", append(frame, "Accept-Encoding", coding)...), coding, whole)
					wantPacked(t, s.get("a.html", "Accept-Encoding", coding), coding, body)
				}
			}
		}
	}
}

// occupied takes all writers until the test ends or free is called.
func occupied(t testing.TB) (free func()) {
	var writers []*pack.Writer
	for w := pack.NewWriter(io.Discard, pack.Gzip); w != nil; w = pack.NewWriter(io.Discard, pack.Gzip) {
		writers = append(writers, w)
	}
	free = sync.OnceFunc(func() {
		for _, w := range writers {
			w.Release()
		}
	})
	t.Cleanup(free)
	return free
}

func TestAHotFileIsPackedOnce(t *testing.T) {
	s := newEnv(t, "hot.html", long, "cold.html", long, "large.html", large)
	for _, headers := range [][]string{nil, frame} {
		s.get("hot.html", append(headers, "Accept-Encoding", "zstd")...)
	}
	opened := s.Opened.Load()
	free := occupied(t)
	wantPacked(t, s.get("hot.html", "Accept-Encoding", "zstd"), "zstd", long)
	if w := s.get("hot.html", append(frame, "Accept-Encoding", "zstd")...); w.Header().Get("Content-Encoding") != "zstd" {
		t.Errorf("in a frame: %v", w.Header())
	}
	if s.Opened.Load() != opened {
		t.Error("the object is opened again")
	}
	wantPacked(t, s.get("cold.html", "Accept-Encoding", "zstd"), "", long)
	wantPacked(t, s.get("large.html", "Accept-Encoding", "zstd"), "", large)
	free()
	wantPacked(t, s.get("cold.html", "Accept-Encoding", "zstd"), "zstd", long)
	wantPacked(t, s.get("large.html", "Accept-Encoding", "zstd"), "zstd", large)
}

func TestAPackedFileThatBreaksOffHasNoEnd(t *testing.T) {
	text := make([]byte, 2<<20) // which does not become small enough to stay in a buffer
	for n := range text {
		text[n] = "0123456789abcdef"[tree.DigestOf(fmt.Sprint(n))[0]%16]
	}
	for _, coding := range []string{"zstd", "gzip"} {
		s := newEnv(t)
		s.Files = append(s.Files, tree.File{Path: "a.txt", Size: 4 << 20, Object: tree.Object{Session: "upl_1"}})
		s.Body = func(int64) io.ReadCloser { return io.NopCloser(bytes.NewReader(text)) }
		resp := fetch(t, s.listen(t).URL+"/v/"+s.Token()+"/a.txt", coding)
		raw, broken := io.ReadAll(resp.Body)
		resp.Body.Close()
		if !errors.Is(broken, io.ErrUnexpectedEOF) {
			t.Errorf("%s: the connection ends with %v after %d bytes", coding, broken, len(raw))
		}
		got, err := unpack.Read(resp.Header, bytes.NewReader(raw))
		if err == nil || len(got) == 0 || !strings.HasPrefix(string(text), got) {
			t.Errorf("%s: %d bytes, %v; want a part and an error", coding, len(got), err)
		}
	}
}

func TestAHotPackedFileIsClosedByItsStateAlone(t *testing.T) {
	s := newEnv(t, "a.txt", long)
	w := s.get("a.txt", "Accept-Encoding", "zstd")
	tag := w.Header().Get("ETag")
	wantPacked(t, w, "zstd", long)
	s.State.Artifact.ExpiresAt = s.Now
	for _, headers := range [][]string{nil, {"If-None-Match", tag}} {
		w := s.get("a.txt", append(headers, "Accept-Encoding", "zstd")...)
		if w.Code != 404 || w.Header().Get("Content-Encoding") != "" {
			t.Errorf("%v: %d %v", headers, w.Code, w.Header())
		}
	}
}

func TestTheLogHasBothSizes(t *testing.T) {
	for path, body := range map[string]string{"a.txt": long, "large.txt": large} {
		s := newEnv(t, path, body)
		w := s.get(path, "Accept-Encoding", "gzip")
		for _, want := range []string{
			fmt.Sprintf(`"bytes":%d,`, w.Body.Len()), fmt.Sprintf(`"unpacked_bytes":%d`, len(body)),
		} {
			if text := s.Log.String(); !strings.Contains(text, want) {
				t.Errorf("%s: %s is missing in %s", path, want, text)
			}
		}
	}
}

// TestManyClientsDecodeWhatTheyGet reads over TCP, while other clients leave in the middle.
func TestManyClientsDecodeWhatTheyGet(t *testing.T) {
	s := newEnv(t, "a.html", long, "large.html", large)
	server := s.listen(t)
	var wait sync.WaitGroup
	for n := range 32 {
		url := server.URL + "/v/" + s.Token() + map[bool]string{true: "/a.html", false: "/large.html"}[n%2 == 0]
		wait.Go(func() {
			resp := fetch(t, url, "gzip, zstd")
			defer resp.Body.Close()
			if n%4 == 3 {
				return
			}
			if got, err := unpack.Read(resp.Header, resp.Body); err != nil || got != map[bool]string{true: long, false: large}[n%2 == 0] {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	wait.Wait()
}
