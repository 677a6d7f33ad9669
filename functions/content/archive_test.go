package content_test

import (
	"encoding/base64"
	"net/http/httptest"
	"testing"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/tree"
)

// newBundleEnv has a revision whose bundle is ready.
func newBundleEnv(t *testing.T) *env {
	t.Helper()
	s := newEnv(t)
	s.Archive = "PK\x03\x04 the archive"
	s.Other = &artifact.Revision{Status: artifact.Published, Bundle: artifact.Bundle{
		Status: artifact.BundleReady,
		Size:   int64(len(s.Archive)),
		SHA256: tree.DigestOf(s.Archive),
		MadeAt: s.Now,
	}}
	return s
}

// bundle asks for the bundle with a new token.
func (e *env) bundle(method string, headers ...string) *httptest.ResponseRecorder {
	e.T.Helper()
	text, err := e.Bundles.Mint(e.Claims)
	if err != nil {
		e.T.Fatal(err)
	}
	return e.Ask(method, "/b/"+text, headers...)
}

// servesArchive asks for the archive of an env as it is asked for it, with GET and with HEAD.
func (e *env) servesArchive(name string, ask func(method string) *httptest.ResponseRecorder) {
	e.T.Helper()
	digest := tree.DigestOf(e.Archive)
	for _, method := range []string{"GET", "HEAD"} {
		w := ask(method)
		for name, want := range map[string]string{
			"Content-Type":           "application/zip",
			"Content-Disposition":    `attachment; filename="` + name + `"`,
			"Content-Length":         "16",
			"Etag":                   `"` + digest.String() + `"`,
			"Repr-Digest":            "sha-256=:" + base64.StdEncoding.EncodeToString(digest[:]) + ":",
			"Cache-Control":          "private, no-cache",
			"Accept-Ranges":          "bytes",
			"X-Content-Type-Options": "nosniff",
			"X-Frame-Options":        "DENY",
		} {
			if got := w.Header().Get(name); got != want {
				e.T.Errorf("%s %s: %q, want %q", method, name, got, want)
			}
		}
		if want := map[string]string{"GET": e.Archive}[method]; w.Code != 200 || w.Body.String() != want {
			e.T.Errorf("%s: %d %q", method, w.Code, w.Body)
		}
	}
}

func TestABundleIsServedAsAnArchiveToSave(t *testing.T) {
	s := newBundleEnv(t)
	s.servesArchive("bundle.zip", func(method string) *httptest.ResponseRecorder { return s.bundle(method) })
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
		"of another archive":  {[]string{"Range", "bytes=9-", "If-Range", `"other"`}, 200, s.Archive, ""},
		"after the end":       {[]string{"Range", "bytes=16-"}, 416, "", "bytes */16"},
		"that the client has": {[]string{"If-None-Match", etag}, 304, "", ""},
		"framed by a viewer":  {frame, 200, s.Archive, ""},
		"in several parts":    {[]string{"Range", "bytes=0-1,3-4"}, 200, s.Archive, ""},
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
		s.Other.Bundle.Status = status
		if w := s.bundle("GET"); w.Code != 404 || s.Opened.Load() != 0 {
			t.Errorf("%q: %d", status, w.Code)
		}
	}
}

func TestT02ATokenForFilesOpensNoBundle(t *testing.T) {
	s := newBundleEnv(t)
	if w := s.Ask("GET", "/b/"+s.Token()); w.Code != 404 {
		t.Errorf("%d", w.Code)
	}
	text, err := s.Bundles.Mint(s.Claims)
	if err != nil {
		t.Fatal(err)
	}
	if w := s.Ask("GET", "/v/"+text+"/bundle.zip"); w.Code != 404 {
		t.Errorf("%d", w.Code)
	}
}

func TestABundleWhoseObjectIsGoneIsNotFound(t *testing.T) {
	s := newBundleEnv(t)
	s.OpenErr = fault.NewCode(fault.NotFound)
	if w := s.bundle("GET"); w.Code != 404 || w.Header().Get("Repr-Digest") != "" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

func TestAnArchiveOfAnExportIsServedToSave(t *testing.T) {
	s := newEnv(t)
	s.Archive = "PK\x03\x04 the archive"
	s.Exported = export.Export{
		ID:        id.NewExport(),
		Workspace: s.Claims.Workspace,
		Status:    export.Ready,
		CreatedAt: s.Now,
		ExpiresAt: s.Now.Add(time.Hour),
		Volumes:   []export.Volume{{Size: int64(len(s.Archive)), SHA256: tree.DigestOf(s.Archive)}},
	}
	minted, err := s.Exports.MintExport(token.ExportClaims{
		Expires:   s.Claims.Expires,
		Workspace: s.Claims.Workspace,
		Export:    s.Exported.ID,
		Volume:    1,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.servesArchive("vitrine-export-2026-03-01.zip", func(method string) *httptest.ResponseRecorder {
		w := s.Ask(method, "/x/"+minted)
		if got := w.Header().Get("X-Robots-Tag"); got != "noindex, nofollow" {
			t.Errorf("%s: X-Robots-Tag is %q", method, got)
		}
		return w
	})
	if w := s.Ask("GET", "/x/"+minted, "Range", "bytes=5-7"); w.Code != 206 || w.Body.String() != s.Archive[5:8] {
		t.Errorf("a part: %d %q", w.Code, w.Body)
	}
	s.Exported.Status = export.Expired
	if w := s.Ask("GET", "/x/"+minted); w.Code != 404 {
		t.Errorf("one that expired: %d", w.Code)
	}
	if w := s.Ask("GET", "/x/nonsense"); w.Code != 404 {
		t.Errorf("nonsense: %d", w.Code)
	}
}
