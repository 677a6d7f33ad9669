package content_test

import (
	"encoding/base64"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

func TestT53HostilePaths(t *testing.T) {
	s := newEnv(t, "x", "1", "dir/x", "2", "a b", "3", "é", "4")
	for name, path := range map[string]string{
		"parent":                 "../x",
		"parent within":          "dir/../x",
		"encoded parent":         "%2e%2e/x",
		"encoded twice":          "%252e%252e/x",
		"double slash":           "dir//x",
		"encoded leading slash":  "%2Fx",
		"dot within":             "dir/./x",
		"backslash":              `dir%5Cx`,
		"NUL":                    "x%00",
		"long":                   strings.Repeat("a", 5000),
		"encoded trailing slash": "x%2f",
		"another case":           "X",
		"directory":              "dir",
		"plus for blank":         "a+b",
		"encoded percent":        "x%2500",
		"empty":                  "",
		"invalid UTF-8":          "%ff",
		"another normal form":    "e%CC%81",
		"overlong slash":         "dir%c0%afx",
	} {
		t.Run(name, func(t *testing.T) {
			wantRefused(t, s.get(path), http.StatusNotFound, fault.NotFound)
			if w := s.head(path); w.Code != http.StatusNotFound {
				t.Errorf("HEAD answered %d", w.Code)
			}
		})
	}
	wantBody(t, s.get("x?version=2"), "1")
}

func TestT55DamagedTokens(t *testing.T) {
	s := newEnv(t, "x", "1")
	good := s.Token()
	for name, text := range map[string]string{
		"a bit flipped":    strings.Repeat("A", 40) + good[40:],
		"padded":           good + "=",
		"8 KB":             strings.Repeat("A", 8192),
		"another alphabet": strings.Replace(good, good[10:11], "+", 1),
		"empty":            "%20",
	} {
		t.Run(name, func(t *testing.T) { wantRefused(t, s.Ask("GET", "/v/"+text+"/x"), http.StatusNotFound, fault.NotFound) })
	}
	if n := s.Opened.Load(); n != 0 || s.Counted() != 0 {
		t.Errorf("F57: forged tokens opened %d objects and made %d counters", n, s.Counted())
	}
	wantBody(t, s.Ask("GET", "/v/"+good+"/x"), "1")
}

// TestNamesThatOtherSystemsReadOtherwiseAreServedApart shows that this host takes every name as bytes. A name that
// begins like a Windows drive may be in a revision from before such names were refused.
func TestNamesThatOtherSystemsReadOtherwiseAreServedApart(t *testing.T) {
	names := []string{
		"a:b", "ab:stream", "con", "aux.txt", "trail.", "trail", "a", "a/b", "A.txt", "a.txt", "%C3%A9", "e%CC%81",
	}
	var files []string
	for _, name := range names {
		path, err := url.PathUnescape(name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, path, "the bytes of "+name)
	}
	s := newEnv(t, files...)
	for _, name := range names {
		if got := s.get(name); got.Code != http.StatusOK || got.Body.String() != "the bytes of "+name {
			t.Errorf("%s: %d %s", name, got.Code, got.Body)
		}
	}
}

func TestT02TokensOfOtherKindsAndHosts(t *testing.T) {
	s := newEnv(t, "x", "1")
	wantRefused(t, s.Ask("GET", "/b/"+s.Token()), http.StatusNotFound, fault.NotFound)
	wantRefused(t, s.Ask("GET", "/v1/public/agent-view/"+s.Token()), http.StatusNotFound, fault.NotFound)
	raw, err := base64.RawURLEncoding.DecodeString(s.Token())
	if err != nil {
		t.Fatal(err)
	}
	raw[0] = raw[0]&0xf0 | byte(token.AgentView)
	wantRefused(t, s.Ask("GET", "/v/"+base64.RawURLEncoding.EncodeToString(raw)+"/x"), http.StatusNotFound, fault.NotFound)
	here := s.Token()
	s.serve("http://other.test", "http://app.test")
	wantRefused(t, s.Ask("GET", "/v/"+here+"/x"), http.StatusNotFound, fault.NotFound)
}

func TestT57ClosedGates(t *testing.T) {
	for name, shut := range map[string]func(*env){
		"deleted":             func(s *env) { s.State.Artifact.Status = artifact.Deleted },
		"another owner":       func(s *env) { s.State.Artifact.Owner = id.NewWorkspace() },
		"T56: token expired":  func(s *env) { s.Claims.Expires = s.Now },
		"T54: other revision": func(s *env) { s.Claims.Revision = id.NewRevision() },
		"link revoked": func(s *env) {
			s.Claims.Link = "0123456789ABCDEF"
			s.State.Link = &link.Link{Artifact: s.Claims.Artifact, RevokedAt: s.Now}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newEnv(t, "x", "1")
			etag := s.get("x").Header().Get("ETag")
			shut(s)
			wantRefused(t, s.get("x"), http.StatusNotFound, fault.NotFound)
			wantRefused(t, s.get("x", "If-None-Match", etag), http.StatusNotFound, fault.NotFound) // F58: not 304
			wantRefused(t, s.get("x", "Range", "bytes=9-"), http.StatusNotFound, fault.NotFound)
		})
	}
}

func TestT59PathsOfOtherHosts(t *testing.T) {
	s := newEnv(t, "x", "1")
	for _, path := range []string{
		"/v1/whoami", "/v1/upload-sessions", "/o/w/s/1", "/al/0123456789ABCDEF", "/.well-known/vitrine", "/",
		"/robots.txt",
	} {
		wantRefused(t, s.Ask("GET", path, "X-Forwarded-Host", "app.test"), http.StatusNotFound, fault.NotFound)
	}
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		wantRefused(t, s.Ask(method, "/v/"+s.Token()+"/x"), http.StatusNotFound, fault.NotFound)
	}
}

// limitReads sets the limit of reads of an artifact for every tier.
func limitReads(s *env, reads int) {
	tiers := s.host.Reader.Limiter.Limits.Tiers
	for tier, policy := range tiers {
		policy.Reads = reads
		tiers[tier] = policy
	}
}

func TestF58LimitBeatsEverythingAfterTheGates(t *testing.T) {
	s := newEnv(t, "x", "1")
	limitReads(s, 2)
	etag := s.get("x").Header().Get("ETag")
	if w := s.head("x"); w.Code != 200 {
		t.Fatal(w.Code)
	}
	for _, headers := range [][]string{nil, {"If-None-Match", etag}, {"Range", "bytes=9-"}} {
		w := s.get("x", headers...)
		wantRefused(t, w, http.StatusTooManyRequests, fault.RateLimitedArtifact)
		if wait := w.Header().Get("Retry-After"); wait == "" || wait == "0" || len(wait) > 2 {
			t.Errorf("Retry-After %q", wait)
		}
	}
	if w := s.head("x"); w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") == "" {
		t.Errorf("HEAD answered %d", w.Code)
	}
	wantRefused(t, s.get("missing"), http.StatusTooManyRequests, fault.RateLimitedArtifact)
	s.Now = s.Now.Add(limits.ReadWindow)
	wantBody(t, s.get("x"), "1")
}

// TestTheFilesOfTheRevisionRaiseTheLimitOfReads reads an artifact whose tier allows a single read.
func TestTheFilesOfTheRevisionRaiseTheLimitOfReads(t *testing.T) {
	for name, ask := range map[string]func(*env) *httptest.ResponseRecorder{
		"a file of the current revision": func(s *env) *httptest.ResponseRecorder {
			s.State.Artifact.FileCount = 3
			return s.get("x")
		},
		"a file of an older revision": func(s *env) *httptest.ResponseRecorder {
			s.State.Artifact.Current, s.State.Artifact.FileCount, s.Other.FileCount = "newer", 9, 3
			return s.get("x")
		},
		"a bundle": func(s *env) *httptest.ResponseRecorder {
			s.Other.FileCount = 3
			return s.bundle("GET")
		},
	} {
		s := newBundleEnv(t)
		s.Add("x", "1")
		limitReads(s, 1)
		for n := range 3 * limits.ReadsPerFile {
			if w := ask(s); w.Code != http.StatusOK {
				t.Fatalf("%s: read %d answers %d %s", name, n+1, w.Code, w.Body)
			}
		}
		wantRefused(t, ask(s), http.StatusTooManyRequests, fault.RateLimitedArtifact)
	}
}

// TestT57WhoIsRefusedUsesUpNothing sends an artifact many requests that the host refuses, as the holder of a revoked
// link may.
func TestT57WhoIsRefusedUsesUpNothing(t *testing.T) {
	s := newEnv(t, "x", "1")
	limitReads(s, 3)
	s.host.Reader.Limiter.Limits.Refused.Limit = 5
	good, refused := s.Claims, s.Claims
	refused.Link = "0123456789ABCDEF"
	s.State.Link = &link.Link{Artifact: s.Claims.Artifact, RevokedAt: s.Now}
	s.Claims = refused
	for range 20 {
		wantRefused(t, s.get("x"), http.StatusNotFound, fault.NotFound)
	}
	s.Claims = good
	for range 3 {
		wantBody(t, s.get("x"), "1")
	}
	wantRefused(t, s.get("x"), http.StatusTooManyRequests, fault.RateLimitedArtifact)
	s.Claims = refused
	writes := s.Counted()
	wantRefused(t, s.get("x"), http.StatusNotFound, fault.NotFound)
	if s.Counted() != writes {
		t.Error("a flood of refusals is counted without end")
	}
}

func TestStoresOutOfReach(t *testing.T) {
	s := newEnv(t, "x", "1")
	s.StoreErr = fault.Wrap(fault.DatabaseUnavailable, errors.New("dial tcp"), "the database does not answer")
	wantRefused(t, s.get("x"), http.StatusServiceUnavailable, fault.DatabaseUnavailable)
	s.StoreErr = nil
	wantBody(t, s.get("x"), "1")
}
