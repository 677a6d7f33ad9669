package content_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http/httptest"
	"testing"

	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// newBundleEnv has a revision whose bundle is ready.
func newBundleEnv(t *testing.T) *env {
	t.Helper()
	s := newEnv(t)
	s.archive = "PK\x03\x04 the archive"
	s.revision = &artifact.Revision{Status: artifact.Published, Bundle: artifact.Bundle{
		Status: artifact.BundleReady,
		Size:   int64(len(s.archive)),
		SHA256: tree.DigestOf(s.archive),
		MadeAt: s.now,
	}}
	return s
}

// bundle asks for the bundle with a new token.
func (s *env) bundle(method string, headers ...string) *httptest.ResponseRecorder {
	s.t.Helper()
	text, err := s.bundles.Mint(s.claims)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.ask(method, "/b/"+text, headers...)
}

func TestABundleIsServedAsAnArchiveToSave(t *testing.T) {
	s := newBundleEnv(t)
	digest := sha256.Sum256([]byte(s.archive))
	etag := `"` + hex.EncodeToString(digest[:]) + `"`
	for _, method := range []string{"GET", "HEAD"} {
		w := s.bundle(method)
		for name, want := range map[string]string{
			"Content-Type":           "application/zip",
			"Content-Disposition":    `attachment; filename="bundle.zip"`,
			"Content-Length":         "16",
			"Etag":                   etag,
			"Repr-Digest":            "sha-256=:" + base64.StdEncoding.EncodeToString(digest[:]) + ":",
			"Cache-Control":          "private, no-cache",
			"Accept-Ranges":          "bytes",
			"X-Content-Type-Options": "nosniff",
			"X-Frame-Options":        "DENY",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s %s: %q, want %q", method, name, got, want)
			}
		}
		if want := map[string]string{"GET": s.archive}[method]; w.Code != 200 || w.Body.String() != want {
			t.Errorf("%s: %d %q", method, w.Code, w.Body)
		}
	}
}

func TestAPartOfABundleIsServed(t *testing.T) {
	s := newBundleEnv(t)
	etag := s.bundle("HEAD").Header().Get("Etag")
	for name, c := range map[string]struct {
		headers []string
		code    int
		body    string
		span    string
	}{
		"the beginning":       {[]string{"Range", "bytes=0-1"}, 206, "PK", "bytes 0-1/16"},
		"the rest":            {[]string{"Range", "bytes=9-", "If-Range", etag}, 206, "archive", "bytes 9-15/16"},
		"of another archive":  {[]string{"Range", "bytes=9-", "If-Range", `"other"`}, 200, s.archive, ""},
		"after the end":       {[]string{"Range", "bytes=16-"}, 416, "", "bytes */16"},
		"that the client has": {[]string{"If-None-Match", etag}, 304, "", ""},
		"framed by a viewer":  {frame, 200, s.archive, ""},
		"in several parts":    {[]string{"Range", "bytes=0-1,3-4"}, 200, s.archive, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := s.bundle("GET", c.headers...)
			if w.Code != c.code || w.Body.String() != c.body || w.Header().Get("Content-Range") != c.span {
				t.Errorf("%d %q %q", w.Code, w.Body, w.Header().Get("Content-Range"))
			}
			if w.Header().Get("X-Frame-Options") != "DENY" {
				t.Error("it may be framed")
			}
		})
	}
}

func TestABundleThatIsNotReadyIsNotFound(t *testing.T) {
	for _, status := range []artifact.BundleStatus{artifact.NoBundle, artifact.BundlePending, artifact.BundleFailed} {
		s := newBundleEnv(t)
		s.revision.Bundle.Status = status
		if w := s.bundle("GET"); w.Code != 404 || s.opened.Load() != 0 {
			t.Errorf("%q: %d", status, w.Code)
		}
	}
}

func TestT02ATokenForFilesOpensNoBundle(t *testing.T) {
	s := newBundleEnv(t)
	if w := s.ask("GET", "/b/"+s.token()); w.Code != 404 {
		t.Errorf("%d", w.Code)
	}
	text, err := s.bundles.Mint(s.claims)
	if err != nil {
		t.Fatal(err)
	}
	if w := s.ask("GET", "/v/"+text+"/bundle.zip"); w.Code != 404 {
		t.Errorf("%d", w.Code)
	}
}

func TestABundleWhoseObjectIsGoneIsNotFound(t *testing.T) {
	s := newBundleEnv(t)
	s.openErr = fault.NewCode(fault.NotFound)
	if w := s.bundle("GET"); w.Code != 404 || w.Header().Get("Repr-Digest") != "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}
