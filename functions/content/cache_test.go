package content_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

// TestCacheControl asks for a whole file, for a part of it, for its headers and with its tag; all say the same.
func TestCacheControl(t *testing.T) {
	const minute, ask = "private, max-age=60", "private, no-cache"
	for name, c := range map[string]struct {
		path   string
		set    func(*env)
		want   string
		framed bool
	}{
		"a file":                       {path: "style.css", want: minute},
		"a file in a frame":            {path: "style.css", want: minute, framed: true},
		"an image with a policy":       {path: "i.svg", want: minute},
		"a download":                   {path: "a.zip", want: minute},
		"the entrypoint":               {path: "read.md", want: ask},
		"another page":                 {path: "index.html", want: ask},
		"another page in a frame":      {path: "index.html", want: ask, framed: true},
		"a token that ends in 7.5 s":   {path: "style.css", set: goOn(7500 * time.Millisecond), want: "private, max-age=7"},
		"a token that ends in 0.5 s":   {path: "style.css", set: goOn(500 * time.Millisecond), want: ask},
		"through a link":               {path: "style.css", set: (*env).link, want: ask},
		"the entrypoint by a link":     {path: "read.md", set: (*env).link, want: ask},
		"an older revision":            {path: "style.css", set: (*env).older, want: minute},
		"its entrypoint":               {path: "old.md", set: (*env).older, want: ask},
		"the present one's entrypoint": {path: "read.md", set: (*env).older, want: minute},
	} {
		t.Run(name, func(t *testing.T) {
			s := newEnv(t, "style.css", "body {}", "i.svg", "<svg/>", "a.zip", "zip file", "read.md", "# Read me",
				"old.md", "# Old", "index.html", "<p>page")
			s.state.Artifact.Entrypoint = "read.md"
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
			if whole.Code != http.StatusOK || s.opened.Load() != 1 {
				t.Errorf("%d, and %d objects are read", whole.Code, s.opened.Load())
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
		s.now = s.claims.Expires.Add(-left)
		s.state.Artifact.ExpiresAt = s.claims.Expires
	}
}

// link makes the token one of an access link.
func (s *env) link() {
	s.claims.Link = id.NewPublic()
	s.state.Link = &link.Link{Public: s.claims.Link, Artifact: s.claims.Artifact, CreatedAt: s.now}
}

// older publishes another revision than that of the token.
func (s *env) older() {
	s.state.Artifact.Current = id.NewRevision()
	s.revision = &artifact.Revision{Status: artifact.Published, Entrypoint: "old.md"}
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
	if s.opened.Load() != 1 {
		t.Errorf("the object is read %d times", s.opened.Load())
	}
}

func TestAFileInMemoryNeedsItsGatesAndNoObjectStore(t *testing.T) {
	s := newEnv(t, "a.txt", "text", "b.txt", "other")
	wantBody(t, s.get("a.txt"), "text")
	s.openErr = fault.NewCode(fault.NotFound)
	wantBody(t, s.get("a.txt"), "text")
	wantRefused(t, s.get("b.txt"), http.StatusNotFound, fault.NotFound)
	s.state.Artifact.Status = artifact.Deleted
	for _, headers := range [][]string{nil, frame, {"Range", "bytes=0-0"}, {"If-None-Match", "*"}} {
		wantRefused(t, s.get("a.txt", headers...), http.StatusNotFound, fault.NotFound)
	}
}

func TestADamagedObjectIsRefusedBeforeTheAnswer(t *testing.T) {
	s := newEnv(t, "a.html", "<p>page")
	object := s.tree[0].Object
	for _, wrong := range []string{"<p>PAGE", "<p>"} {
		s.body = func(int64) io.ReadCloser { return io.NopCloser(strings.NewReader(wrong)) }
		for _, headers := range [][]string{nil, frame, {"Range", "bytes=0-0"}} {
			wantRefused(t, s.get("a.html", headers...), http.StatusServiceUnavailable, fault.StorageUnavailable)
		}
	}
	s.body = nil
	wantBody(t, s.get("a.html"), s.bodies[object])
}
