package web_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/fault"
)

// lines returns the log lines so far.
func (e *env) lines(t *testing.T) (lines []map[string]any) {
	t.Helper()
	for d := json.NewDecoder(&e.log); ; {
		var line map[string]any
		if err := d.Decode(&line); err == io.EOF {
			return lines
		} else if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
}

func TestOneLogLineARequest(t *testing.T) {
	s := newEnv(t)
	const artifact = "art_00000000000000000000000001"
	s.do(t, "POST", "/v1/artifacts/"+artifact+"/publish?x=y", "",
		append([]string{"X-Request-Id", "request-1"}, authorized...)...)
	s.do(t, "GET", "/v/SECRETTOKEN/private.html", "")
	s.do(t, "HEAD", "/v/SECRETTOKEN/private.html", "")
	s.do(t, "GET", "/v1/artifacts/art_not%0Aan-id/publish", "")
	s.do(t, "FETCH", "/nothing", "")
	text := s.log.String()
	for _, never := range []string{"SECRETTOKEN", "private.html", goodKey, "x=y", "an-id", "FETCH"} {
		if strings.Contains(text, never) {
			t.Errorf("the log holds %q: %s", never, text)
		}
	}
	lines := s.lines(t)
	if len(lines) != 5 {
		t.Fatalf("%d lines", len(lines))
	}
	for i, want := range []map[string]any{
		{
			"level": "INFO", "msg": "request", "request_id": "request-1", "method": "POST",
			"route": "/v1/artifacts/{artifact_id}/publish", "status": 200.,
			"artifact": artifact, "workspace": "00000000-0000-4000-8000-000000000001", "key": "0123456789ABCDEF",
			"aws_calls": 3.,
		},
		{"method": "GET", "route": "/v/{token}/{path...}", "status": 200., "revision": "rev_1", "bytes": 24.},
		{"method": "HEAD", "route": "/v/{token}/{path...}", "status": 200., "bytes": 0.},
		{"route": "none", "status": 404., "code": "not_found"},
		{"method": "other", "route": "none", "status": 404.},
	} {
		for field, value := range want {
			if lines[i][field] != value {
				t.Errorf("line %d: %s is %v, want %v", i, field, lines[i][field], value)
			}
		}
		if _, ok := lines[i]["duration_ms"].(float64); !ok {
			t.Errorf("line %d has no duration", i)
		}
	}
}

func TestInternalDetailIsLoggedAndNotShown(t *testing.T) {
	s := newEnv(t)
	e := wantRefusal(t, s.create1(t, `{"title":"boom"}`), 500, fault.Internal)
	if e.Error.Message != "internal_error" {
		t.Errorf("shown: %q", e.Error.Message)
	}
	line := s.lines(t)[0]
	if line["error"] != "PUT https://s3.test/o/1?[query] broken" || line["level"] != "ERROR" ||
		line["code"] != "internal_error" {
		t.Errorf("%v", line)
	}
}

func TestHiddenCauseIsLogged(t *testing.T) {
	s := newEnv(t)
	s.counters.err = errors.New("dial tcp")
	s.create1(t, `{"title":"x"}`)
	if line := s.lines(t)[0]; line["level"] != "WARN" || !strings.Contains(fmt.Sprint(line["error"]), "dial tcp") {
		t.Errorf("%v", line)
	}
}

func TestPanicIsAnInternalError(t *testing.T) {
	s := newEnv(t)
	w := s.create1(t, `{"title":"panic"}`)
	wantRefusal(t, w, 500, fault.Internal)
	if w.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Error("the security headers are gone")
	}
	line := s.lines(t)[0]
	if line["error"] != "panic: secret [credential]" || !strings.Contains(fmt.Sprint(line["stack"]), "server_test.go") {
		t.Errorf("%v", line)
	}
}

func TestAHostRefusesPanicsInItsOwnForm(t *testing.T) {
	s := newEnv(t)
	s.server.Refuse = func(w http.ResponseWriter, _ *http.Request, err error) {
		http.Error(w, string(fault.CodeOf(err)), http.StatusTeapot)
	}
	s.host = s.server.Handler(s.routes()...)
	w := s.do(t, "GET", "/v/token/early", "")
	if w.Code != http.StatusTeapot || w.Body.String() != "internal_error\n" {
		t.Errorf("a panic is answered with %d %s", w.Code, w.Body)
	}
}

func TestAnswersThatBreakOffCutTheConnection(t *testing.T) {
	for path, want := range map[string]string{"torn": "storage_unavailable", "late": "internal_error"} {
		t.Run(path, func(t *testing.T) {
			s := newEnv(t)
			server := httptest.NewUnstartedServer(s.host)
			server.Config.ErrorLog = log.New(io.Discard, "", 0)
			server.Start()
			resp := expect.Value(http.Get(server.URL + "/v/token/" + path))(t)
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			server.Close() // waits for the handler
			if len(body) != halfBody || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("read %d bytes, %v; want a short body", len(body), err)
			}
			if line := s.lines(t)[0]; line["code"] != want || line["level"] != "ERROR" {
				t.Errorf("%v", line)
			}
		})
	}
}

func TestRedact(t *testing.T) {
	token, digest := strings.Repeat("Ab-_9", 19), strings.Repeat("ab", 32)
	const failed = "operation error DynamoDB: GetItem, https response error StatusCode: 400, RequestID: 1b2c-3d"
	expect.Results(t, web.Redact, map[string]string{
		`Put "https://b.s3.test/o/w/1?X-Amz-Signature=ab&x=1": EOF`:     `Put "https://b.s3.test/o/w/1?[query]": EOF`,
		"GET http://127.0.0.1:8703/v/" + token + "/a%20b.html: refused": "GET http://127.0.0.1:8703/v/[token] refused",
		"http://localhost:8704/al/0123456789ABCDEF#" + token[:75]:       "http://localhost:8704/al/[token]",
		"https://c.test/b/" + token + "?x=y end":                        "https://c.test/b/[token]?[query] end",
		"/v1/public/agent-view/" + token:                                "/v1/public/agent-view/[token]",
		"key ap_pk_preview_0123456789ABCDEF_" + token + ".":             "key [credential]",
		"claim ap_ct_production_0123456789ABCDEF.clm_0000_" + token:     "claim [credential]",
		`header "Authorization: Bearer abc.def-1", more`:                `header "Authorization: Bearer [secret]", more`,
		"X-Amz-Security-Token: abc/+= x-amz-date=1":                     "X-Amz-Security-Token: [secret] x-amz-date=[secret]",
		"bare " + token + " token":                                      "bare [token] token",
		"jwt eyJhbGciOi.eyJzdWIi.c2ln end":                              "jwt [jwt] end",
		"https://user:password@host.test/x":                             "https://[user]@host.test/x",
		failed:                                                          failed,
		"artifact art_00000000000000000000000001 " + digest:             "artifact art_00000000000000000000000001 " + digest,
	})
	if got := web.Redact(strings.Repeat("long ", 10_000)); len(got) > 2100 {
		t.Errorf("%d bytes", len(got))
	}
}

func TestAPanicBesideTheHandlerIsLoggedWithItsStack(t *testing.T) {
	for name, c := range map[string]struct {
		breaks func(*env)
		status int
		level  string
	}{
		"the limiter, before the answer": {func(s *env) { s.server.Limiter.Counters = nil }, 500, "ERROR"},
		"the use of a key, after which nothing waits long": {
			func(s *env) { s.server.Touch = func(context.Context, credential.Actor) error { panic("broken") } }, 201, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newEnv(t)
			c.breaks(s)
			s.host = s.server.Handler(s.routes()...)
			w := s.create1(t, `{"title":"t"}`)
			line := s.lines(t)[0]
			if w.Code != c.status || strings.Contains(w.Body.String(), "goroutine") {
				t.Errorf("%d %s", w.Code, w.Body)
			}
			if c.level != "" && (line["level"] != c.level || line["code"] != "internal_error" ||
				!strings.Contains(fmt.Sprint(line["stack"]), "lease.go")) {
				t.Errorf("%v", line)
			}
		})
	}
}
