package content_test

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
	"time"
)

const (
	inert      = "script-src 'none'"
	everything = "script-src 'self' http://content.test 'unsafe-inline' 'unsafe-eval' https://cdn.jsdelivr.net https://unpkg.com " +
		"https://cdnjs.cloudflare.com https://esm.sh https://cdn.tailwindcss.com"
	unframed = "frame-ancestors 'none'"
	byTheApp = "frame-ancestors http://app.test"
)

// directives splits a policy by name.
func directives(policy string) map[string]string {
	found := map[string]string{}
	for d := range strings.SplitSeq(policy, "; ") {
		name, _, _ := strings.Cut(d, " ")
		found[name] = d
	}
	return found
}

func TestPolicyOfEveryContext(t *testing.T) {
	s := newEnv(t, "a.html", "<p>", "a.svg", "<svg/>", "a.js", "1", "a.txt", "x", "a.pdf", "x", "a.bin", "x", "A.HTM",
		"<p>")
	const reporterOnly = "script-src 'sha256-"
	for _, tt := range []struct {
		name               string
		headers            []string
		allowed, unclaimed bool
		path               string
		scripts, ancestors string
	}{
		{"direct", nil, true, false, "a.html", inert, unframed},
		{"top-level navigation", []string{"Sec-Fetch-Dest", "document", "Sec-Fetch-Mode", "navigate"}, true, false,
			"a.html", inert, unframed},
		{"viewer frame", frame, true, false, "a.html", everything, byTheApp},
		{"viewer frame, upper case", frame, true, false, "A.HTM", everything, byTheApp},
		{"frame without mode", []string{"Sec-Fetch-Dest", "frame"}, true, false, "a.html", everything, byTheApp},
		{"frame by fetch", []string{"Sec-Fetch-Dest", "iframe", "Sec-Fetch-Mode", "cors"}, true, false, "a.html", inert,
			unframed},
		{"embed", []string{"Sec-Fetch-Dest", "embed", "Sec-Fetch-Mode", "navigate"}, true, false, "a.html", inert, unframed},
		{"script", []string{"Sec-Fetch-Dest", "script", "Sec-Fetch-Mode", "no-cors"}, true, false, "a.js", inert, unframed},
		{"token without scripts", frame, false, false, "a.html", reporterOnly, byTheApp},
		{"T58: unclaimed, whatever the token says", frame, true, true, "a.html", reporterOnly, byTheApp},
		{"text in a frame", frame, false, false, "a.txt", inert, byTheApp},
		{"attachment in a frame", frame, true, false, "a.pdf", inert, unframed},
		{"unknown type in a frame", frame, true, false, "a.bin", inert, unframed},
		{"image", nil, true, false, "a.svg", "", unframed},
		{"image in a frame", frame, true, false, "a.svg", "", byTheApp},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s.Claims.Scripts = tt.allowed
			s.State.Workspace.ClaimedAt = s.Now
			if tt.unclaimed {
				s.State.Workspace.ClaimedAt = time.Time{}
			}
			w := s.get(tt.path, tt.headers...)
			got := directives(w.Header().Get("Content-Security-Policy"))
			if !strings.HasPrefix(got["script-src"], tt.scripts) || tt.scripts == everything && got["script-src"] != everything {
				t.Errorf("%q, want %q", got["script-src"], tt.scripts)
			}
			if got["frame-ancestors"] != tt.ancestors ||
				(w.Header().Get("X-Frame-Options") == "DENY") != (tt.ancestors == unframed) {
				t.Errorf("%q, X-Frame-Options %q, want %q", got["frame-ancestors"], w.Header().Get("X-Frame-Options"), tt.ancestors)
			}
			if got["default-src"] != "default-src 'none'" || got["form-action"] != "form-action 'none'" ||
				got["base-uri"] != "base-uri 'none'" {
				t.Errorf("%v", got)
			}
		})
	}
}

func TestPoliciesAreThoseOfTheContract(t *testing.T) {
	s := newEnv(t, "a.html", "<p>", "a.svg", "<svg/>")
	const rest = "style-src 'self' 'unsafe-inline' https://cdn.jsdelivr.net https://unpkg.com " +
		"https://cdnjs.cloudflare.com https://fonts.googleapis.com; " +
		"font-src 'self' data: https://fonts.gstatic.com; img-src 'self' data: blob:; connect-src 'self'; media-src " +
		"'self' blob:; " +
		"frame-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'; "
	const svg = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
	named := strings.ReplaceAll(rest, "'self'", "'self' http://content.test") // WebKit knows no 'self' in a sandbox
	for _, tt := range []struct {
		path    string
		headers []string
		want    string
	}{
		{"a.html", nil, "default-src 'none'; " + inert + "; " + rest + unframed},
		{"a.html", frame, "default-src 'none'; " + everything + "; " + named + byTheApp},
		{"a.svg", nil, svg + unframed},
		{"a.svg", frame, svg + byTheApp},
	} {
		if got := s.get(tt.path, tt.headers...).Header().Get("Content-Security-Policy"); got != tt.want {
			t.Errorf("%s %v: %s\nwant %s", tt.path, tt.headers, got, tt.want)
		}
	}
}

func TestReporterFollowsTheFile(t *testing.T) {
	const page = "<!doctype html><p>exact\r\n\xff bytes"
	s := newEnv(t, "a.html", page, "a.svg", "<svg/>", "a.txt", "x")
	s.Claims.Scripts = false
	w := s.get("a.html", frame...)
	tail, ok := strings.CutPrefix(w.Body.String(), page)
	script, ok2 := strings.CutPrefix(tail, "\n<script>")
	script, ok3 := strings.CutSuffix(script, "</script>\n")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("%q", w.Body)
	}
	digest := sha256.Sum256([]byte(script))
	if want := "script-src 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) +
		"'"; directives(w.Header().Get("Content-Security-Policy"))["script-src"] != want {
		t.Errorf("the policy does not allow the reporter alone: %s", w.Header().Get("Content-Security-Policy"))
	}
	wantBody(t, s.get("a.html"), page) // a direct read is exact
	wantBody(t, s.get("a.svg", frame...), "<svg/>")
	wantBody(t, s.get("a.txt", frame...), "x")
}

func TestHandlerWantsAbsoluteOrigins(t *testing.T) {
	for _, app := range []string{"", "app.test", "ftp://app.test", "http://"} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("served with the app at %q", app)
				}
			}()
			newEnv(t).serve("http://content.test", app)
		}()
	}
}
