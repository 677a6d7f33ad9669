package content_test

import (
	"encoding/base64"
	"errors"
	"net/http"
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
		"half encoded":           "..%2fx",
		"encoded twice":          "%252e%252e/x",
		"encoded within":         "dir/%2e%2e/x",
		"double slash":           "dir//x",
		"encoded double slash":   "dir%2F%2Fx",
		"leading slash":          "%2Fx",
		"dot":                    "./x",
		"encoded dot":            "%2e/x",
		"dot within":             "dir/./x",
		"backslash":              `dir%5Cx`,
		"NUL":                    "x%00",
		"newline":                "x%0a",
		"DEL":                    "x%7f",
		"long":                   strings.Repeat("a", 5000),
		"1025 bytes":             strings.Repeat("a", 1025),
		"65 parts":               strings.Repeat("a/", 64) + "x",
		"trailing slash":         "x/",
		"encoded trailing slash": "x%2f",
		"another case":           "X",
		"directory":              "dir",
		"directory with slash":   "dir/",
		"plus for blank":         "a+b",
		"encoded percent":        "x%2500",
		"empty":                  "",
		"invalid UTF-8":          "%ff",
		"another normal form":    "e%CC%81",
		"overlong slash":         "dir%c0%afx",
		"semicolon":              "x;a=b",
		"file of the other":      "y",
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
	good := s.token()
	last := good[:len(good)-1] + next(good[len(good)-1])
	for name, text := range map[string]string{
		"a bit flipped":     strings.Repeat("A", 40) + good[40:],
		"truncated":         good[:len(good)-1],
		"padded":            good + "=",
		"one more":          good + "A",
		"two dots":          "a.b.c",
		"8 KB":              strings.Repeat("A", 8192),
		"non-canonical end": last,
		"a blank":           "%20" + good[1:],
		"zeroes":            strings.Repeat("A", 95),
		"link's length":     strings.Repeat("A", 108),
		"another alphabet":  strings.Replace(good, good[10:11], "+", 1),
		"empty":             "%20",
	} {
		t.Run(name, func(t *testing.T) { wantRefused(t, s.ask("GET", "/v/"+text+"/x"), http.StatusNotFound, fault.NotFound) })
	}
	if n := s.opened.Load(); n != 0 || len(s.counts) != 0 {
		t.Errorf("F57: forged tokens opened %d objects and made %d counters", n, len(s.counts))
	}
	wantBody(t, s.ask("GET", "/v/"+good+"/x"), "1")
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

// next returns the neighbour of a base64url character, which in the last place decodes to the same bytes.
func next(c byte) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return string(alphabet[(strings.IndexByte(alphabet, c)+1)%len(alphabet)])
}

func TestT02TokensOfOtherKindsAndHosts(t *testing.T) {
	s := newEnv(t, "x", "1")
	wantRefused(t, s.ask("GET", "/b/"+s.token()), http.StatusNotFound, fault.NotFound)
	wantRefused(t, s.ask("GET", "/v1/public/agent-view/"+s.token()), http.StatusNotFound, fault.NotFound)
	raw, err := base64.RawURLEncoding.DecodeString(s.token())
	if err != nil {
		t.Fatal(err)
	}
	raw[0] = raw[0]&0xf0 | byte(token.AgentView)
	wantRefused(t, s.ask("GET", "/v/"+base64.RawURLEncoding.EncodeToString(raw)+"/x"), http.StatusNotFound, fault.NotFound)
	here := s.token()
	s.serve("http://other.test", "http://app.test")
	wantRefused(t, s.ask("GET", "/v/"+here+"/x"), http.StatusNotFound, fault.NotFound)
}

func TestT57ClosedGates(t *testing.T) {
	for name, shut := range map[string]func(*env){
		"deleted":            func(s *env) { s.state.Artifact.Status = artifact.Deleted },
		"expired":            func(s *env) { s.state.Artifact.ExpiresAt = s.now },
		"locked":             func(s *env) { s.state.Artifact.Lock = "lkd_1" },
		"workspace locked":   func(s *env) { s.state.Workspace.Lock = "lkd_1" },
		"workspace claimed":  func(s *env) { s.state.Workspace.ClaimedInto = "other" },
		"no artifact":        func(s *env) { s.state.Artifact = nil },
		"no workspace":       func(s *env) { s.state.Workspace = nil },
		"no link":            func(s *env) { s.claims.Link = "0123456789ABCDEF" },
		"another owner":      func(s *env) { s.state.Artifact.Owner = id.NewWorkspace() },
		"T56: token expired": func(s *env) { s.claims.Expires = s.now },
		"T54: other revision": func(s *env) {
			s.claims.Revision = id.NewRevision()
		},
		"link revoked": func(s *env) {
			s.claims.Link = "0123456789ABCDEF"
			s.state.Link = &link.Link{Artifact: s.claims.Artifact, RevokedAt: s.now}
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
		wantRefused(t, s.ask("GET", path, "X-Forwarded-Host", "app.test"), http.StatusNotFound, fault.NotFound)
	}
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS"} {
		wantRefused(t, s.ask(method, "/v/"+s.token()+"/x"), http.StatusNotFound, fault.NotFound)
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
	s.now = s.now.Add(limits.ReadWindow)
	wantBody(t, s.get("x"), "1")
}

// TestT57WhoIsRefusedUsesUpNothing sends an artifact many requests that the host refuses, as the holder of a revoked
// link may.
func TestT57WhoIsRefusedUsesUpNothing(t *testing.T) {
	for name, refuse := range map[string]func(*env){
		"link revoked": func(s *env) {
			s.claims.Link = "0123456789ABCDEF"
			s.state.Link = &link.Link{Artifact: s.claims.Artifact, RevokedAt: s.now}
		},
		"no link":        func(s *env) { s.claims.Link = "0123456789ABCDEF" },
		"other revision": func(s *env) { s.claims.Revision = id.NewRevision() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newEnv(t, "x", "1")
			limitReads(s, 3)
			s.host.Reader.Limiter.Limits.Refused.Limit = 5
			good, link := s.claims, s.state.Link
			refuse(s)
			for range 20 {
				wantRefused(t, s.get("x"), http.StatusNotFound, fault.NotFound)
			}
			bad := s.claims
			s.claims = good
			for range 3 {
				wantBody(t, s.get("x"), "1")
			}
			wantRefused(t, s.get("x"), http.StatusTooManyRequests, fault.RateLimitedArtifact)
			s.claims, s.state.Link = bad, link
			writes := len(s.counts)
			wantRefused(t, s.get("x"), http.StatusNotFound, fault.NotFound)
			if len(s.counts) != writes {
				t.Error("a flood of refusals is counted without end")
			}
		})
	}
}

func TestStoresOutOfReach(t *testing.T) {
	s := newEnv(t, "x", "1")
	s.storeErr = fault.Wrap(fault.DatabaseUnavailable, errors.New("dial tcp"), "the database does not answer")
	wantRefused(t, s.get("x"), http.StatusServiceUnavailable, fault.DatabaseUnavailable)
	s.storeErr = nil
	wantBody(t, s.get("x"), "1")
}
