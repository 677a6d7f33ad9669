package content_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/shared/platform/id"
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
func (s *env) link() {
	s.Claims.Link = id.NewPublic()
	s.State.Link = &link.Link{Public: s.Claims.Link, Artifact: s.Claims.Artifact, CreatedAt: s.Now}
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
