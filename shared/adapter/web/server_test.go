package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/web"
	"vitrine/shared/entry/access"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

const (
	goodKey    = "good-key"
	readingKey = "reading-key" // holds the scope read only
	testNow    = "2026-03-01T12:00:00Z"
)

// env is a server with routes of every sort, and what the test controls.
type env struct {
	server   web.Server
	log      bytes.Buffer
	counters fakeCounters
	record   *idempotency.Record
	wants    access.Request // of the last authentication
	handled  atomic.Int32
	touched  atomic.Int32
	listed   chan struct{} // closed when the list is requested
	host     http.Handler
}

// fakeCounters refuses or fails on demand, and may block.
type fakeCounters struct {
	full  bool
	err   error
	hold  chan struct{}
	count atomic.Int32
}

func (c *fakeCounters) Count(ctx context.Context, _ rate.Window, _, _ int) (int, bool, error) {
	c.count.Add(1)
	if c.hold != nil {
		<-c.hold
	}
	return 1, !c.full, c.err
}

type (
	resource struct {
		Title string `json:"title" minLength:"1" maxLength:"20"`
		Size  int64  `json:"size_bytes,omitempty" minimum:"0" maximum:"26214400"`
		Kind  string `json:"kind,omitempty" enum:"html,text"`
		Parts []part `json:"parts,omitempty" maxItems:"9"`
	}
	part struct {
		Path string `json:"path" minLength:"1"`
	}
	noInput struct {
		_ struct{} `json:"-" additionalProperties:"false"`
	}
	created struct {
		ID    string `json:"id"`
		Title string `json:"title"`
	}
	listIn struct {
		Limit int `query:"limit" minimum:"1" maximum:"100"`
	}
	createIn  struct{ Body resource }
	publishIn struct {
		Artifact string `path:"artifact_id"`
		Body     *noInput
	}
	artifactIn struct {
		Artifact string `path:"artifact_id"`
	}
	fileIn struct {
		Token string `path:"token"`
		Path  string `path:"path"`
	}
)

func newEnv(t testing.TB) *env {
	t.Helper()
	s := new(env)
	now := expect.Value(time.Parse(time.RFC3339, testNow))(t)
	clock := func() time.Time { return now }
	numbers := limits.Default()
	s.server = web.Server{
		Title:        "Test",
		Origin:       "http://api.test",
		Metadata:     "http://api.test/.well-known/oauth-protected-resource",
		Log:          slog.New(slog.NewJSONHandler(&s.log, nil)),
		Authenticate: s.authenticate,
		Now:          clock,
		Touch:        func(context.Context, credential.Actor) error { s.touched.Add(1); return nil },
		Limiter: &rate.Limiter{
			Counters: &s.counters,
			Limits:   &numbers,
			Host:     "test",
			Now:      clock,
		},
		Observe: func(ctx context.Context) (context.Context, func() []slog.Attr) {
			return ctx, func() []slog.Attr { return []slog.Attr{slog.Int("aws_calls", 3)} }
		},
	}
	s.host = s.server.Handler(s.routes()...)
	return s
}

func (e *env) authenticate(
	_ context.Context,
	bearer string,
	w access.Request,
	requestID string,
) (access.Authenticated, error) {
	e.wants = w
	if bearer == "no-database" {
		return access.Authenticated{}, fault.Wrap(fault.DatabaseUnavailable, errors.New("dial tcp"),
			"the database does not answer")
	}
	if bearer != goodKey && bearer != readingKey {
		return access.Authenticated{}, fault.New(fault.NotAuthenticated, "send a live API key")
	}
	scopes := []credential.Scope{credential.Read}
	if bearer == goodKey {
		scopes = append(scopes, credential.Publish)
	}
	actor := credential.Actor{
		Key:       credential.Key{Public: "0123456789ABCDEF", Scopes: scopes},
		Scopes:    scopes,
		Workspace: workspace.Workspace{ID: "00000000-0000-4000-8000-000000000001"},
		RequestID: requestID,
	}
	return access.Authenticated{Actor: actor, Record: e.record}, nil
}

func (e *env) routes() []web.Route {
	return []web.Route{
		web.Guarded(web.Operation{
			ID:               "things.list",
			Method:           "GET",
			Path:             "/v1/things",
			Scope:            credential.Read,
			ConcurrentLimits: true,
		}, e.list),
		web.Guarded(web.Operation{
			ID:      "things.create",
			Method:  "POST",
			Path:    "/v1/things",
			Scope:   credential.Publish,
			Status:  http.StatusCreated,
			Command: web.Command{Operation: idempotency.CreateSession},
			Errors:  []fault.Code{fault.RevisionRetained},
		}, e.create),
		web.Guarded(web.Operation{
			ID:      "things.publish",
			Method:  "POST",
			Path:    "/v1/artifacts/{artifact_id}/publish",
			Scope:   credential.Publish,
			Command: web.Command{Operation: idempotency.PublishRevision, Target: "artifact_id"},
		}, func(_ context.Context, request *web.Request, in *publishIn) (created, error) {
			return created{ID: request.Command.Key.Target}, nil
		}),
		web.Guarded(web.Operation{
			ID:      "things.delete",
			Method:  "DELETE",
			Path:    "/v1/artifacts/{artifact_id}",
			Scope:   credential.Publish,
			Command: web.Command{Operation: idempotency.DeleteArtifact, Target: "artifact_id", Derived: "mcp-delete:"},
		}, func(_ context.Context, request *web.Request, in *artifactIn) (created, error) {
			return created{ID: request.Command.Key.Client}, nil
		}),
		web.Guarded(web.Operation{
			ID:        "policy.get",
			Method:    "GET",
			Path:      "/v1/policy",
			Unlimited: true,
		},
			func(context.Context, *web.Request, *struct{}) (created, error) { return created{Title: "<&>"}, nil }),
		web.Public(web.Operation{
			ID:           "open.make",
			Method:       "POST",
			Path:         "/v1/open",
			Before:       e.before,
			CacheControl: "public, max-age=300",
		}, func(ctx context.Context, in *createIn) (created, error) {
			return created{ID: web.RequestID(ctx), Title: in.Body.Title}, nil
		}),
		web.Plain[fileIn](web.Operation{ID: "file.get", Method: "GET", Path: "/v/{token}/{path}"}, e.file),
		web.Plain[fileIn](web.Operation{ID: "file.head", Method: "HEAD", Path: "/v/{token}/{path}"}, e.file),
	}
}

func (e *env) list(_ context.Context, _ *web.Request, in *listIn) (created, error) {
	e.handled.Add(1)
	if e.listed != nil {
		close(e.listed)
	}
	return created{ID: fmt.Sprint(in.Limit)}, nil
}

func (e *env) create(ctx context.Context, request *web.Request, in *createIn) (created, error) {
	e.handled.Add(1)
	switch in.Body.Title {
	case "gone":
		return created{}, fmt.Errorf("publish: %w", fault.New(fault.RevisionRetained, "the bytes are gone"))
	case "boom":
		return created{}, errors.New("PUT https://s3.test/o/1?X-Amz-Signature=abcdef: broken")
	case "panic":
		panic("secret ap_pk_preview_0123456789ABCDEF_abcdefghijkl")
	}
	if request.Record.Finished(e.server.Now()) {
		var first created
		return first, request.Record.Replay(request.Command, &first)
	}
	return created{ID: string(request.Command.Key.Operation), Title: in.Body.Title}, nil
}

func (e *env) before(r *http.Request) (context.Context, error) {
	if r.Header.Get("X-Refuse") != "" {
		return nil, fault.New(fault.ProvisionRateLimited, "wait").After(1500 * time.Millisecond)
	}
	return r.Context(), nil
}

func (e *env) file(w http.ResponseWriter, r *http.Request) error {
	switch r.PathValue("path") {
	case "missing":
		return fault.NewCode(fault.NotFound)
	case "torn":
		half(w)
		web.Abort(r.Context(), fault.Wrap(fault.StorageUnavailable, errors.New("reset by peer"), "gone"))
	case "late":
		half(w)
		panic("late")
	case "early":
		panic("early")
	}
	web.Annotate(r.Context(), slog.String("revision", "rev_1"))
	w.Header().Set("Content-Type", "text/plain")
	fmt.Fprintf(w, "%s|%s", r.PathValue("token"), r.PathValue("path"))
	return nil
}

const halfBody = 64 << 10

func half(w http.ResponseWriter) {
	w.Header().Set("Content-Length", strconv.Itoa(2*halfBody))
	w.Write(make([]byte, halfBody))
}

// do sends one request to the host; headers come in pairs.
func (e *env) do(t testing.TB, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	var sent io.Reader
	if body != "" {
		sent = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, target, sent)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	e.host.ServeHTTP(w, r)
	return w
}

var authorized = []string{"Authorization", "Bearer " + goodKey, "Idempotency-Key", "test-key-1"}

func (e *env) create1(t testing.TB, body string) *httptest.ResponseRecorder {
	t.Helper()
	return e.do(t, "POST", "/v1/things", body, authorized...)
}

type envelope struct {
	Error struct {
		Code, Message string
		RequestID     string `json:"request_id"`
	}
}

// wantRefusal checks status and code of a refusal, and what every refusal carries.
func wantRefusal(t testing.TB, w *httptest.ResponseRecorder, status int, code fault.Code) envelope {
	t.Helper()
	var e envelope
	if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil {
		t.Fatalf("status %d, body %q: %v", w.Code, w.Body, err)
	}
	if w.Code != status || e.Error.Code != string(code) {
		t.Errorf("answered %d %s (%s), want %d %s", w.Code, e.Error.Code, e.Error.Message, status, code)
	}
	if e.Error.RequestID == "" || e.Error.RequestID != w.Header().Get("X-Request-Id") || e.Error.Message == "" {
		t.Errorf("envelope %+v with X-Request-Id %q", e, w.Header().Get("X-Request-Id"))
	}
	if got := w.Header().Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control %q", got)
	}
	if got := w.Header().Get("Content-Type"); got != "application/json; charset=utf-8" {
		t.Errorf("Content-Type %q", got)
	}
	if got := w.Header().Get("WWW-Authenticate"); (got != "") != (status == http.StatusUnauthorized) {
		t.Errorf("status %d with WWW-Authenticate %q", status, got)
	}
	return e
}

func answered(t testing.TB, w *httptest.ResponseRecorder, status int) created {
	t.Helper()
	var m created
	if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil || w.Code != status {
		t.Fatalf("answered %d %q, want %d (%v)", w.Code, w.Body, status, err)
	}
	return m
}

func TestUnknownPathsAndMethodsAre404(t *testing.T) {
	s := newEnv(t)
	for _, tt := range []struct{ method, path string }{
		{"GET", "/"}, {"GET", "/nothing"}, {"PUT", "/v1/things"}, {"OPTIONS", "/v1/things"}, {"TRACE", "/v1/things"},
		{"MADEUP", "/v1/things"}, {"GET", "/v1/things/"}, {"GET", "/v1//things"}, {"GET", "/v1/./things"},
		{"GET", "/v1/x/../things"},
		{"POST", "/healthz"}, {"POST", "/openapi.json"}, {"GET", "/v/token"}, {"POST", "/v/token"}, {"GET", "/v/token//"}, {"GET", "/v1/things//"}, {"GET", "//"},
		{"POST", "/v/token/file"}, {"GET", "/v//file"}, {"GET", "/v/token/a//b"}, {"GET", "/v/token/../x"},
		{"GET", "/V1/things"},
	} {
		t.Run(tt.method+" "+tt.path, func(t *testing.T) {
			wantRefusal(t, s.do(t, tt.method, tt.path, "", authorized...), http.StatusNotFound, fault.NotFound)
		})
	}
}

func TestHealthAnswersOK(t *testing.T) {
	s := newEnv(t)
	s.server.Serves = func(name string) bool { return name == "api.test" }
	s.host = s.server.Handler()
	w := s.do(t, "GET", "/healthz", "")
	if w.Code != 200 || w.Body.String() != "ok" || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		t.Errorf("%d %q %v", w.Code, w.Body, w.Header())
	}
	if w := s.do(t, "GET", "/healthz", "", "Sec-Fetch-Dest", "iframe"); w.Code != 204 || w.Body.Len() > 0 {
		t.Errorf("in a frame: %d %q", w.Code, w.Body)
	}
}

func TestAnotherHostNameIsMisdirected(t *testing.T) {
	s := newEnv(t)
	s.server.Serves = func(name string) bool { return name == "api.test" }
	s.host = s.server.Handler(s.routes()...)
	wantRefusal(t, s.do(t, "GET", "http://other.test/v1/policy", "", authorized...), http.StatusMisdirectedRequest,
		fault.NotFound)
	answered(t, s.do(t, "GET", "http://API.test:8701/v1/policy", "", authorized...), 200)
}

func TestSecurityHeadersGoWithEveryAnswer(t *testing.T) {
	s := newEnv(t)
	s.server.Headers = map[string]string{"Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "cross-origin"}
	s.host = s.server.Handler(s.routes()...)
	for _, path := range []string{"/healthz", "/openapi.json", "/nothing", "/v1/policy", "/v/token/file",
		"/v/token/missing"} {
		h := s.do(t, "GET", path, "", authorized...).Header()
		expect.Results(t, h.Get, map[string]string{
			"Strict-Transport-Security": "max-age=31536000", "X-Content-Type-Options": "nosniff",
			"X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
			"Cross-Origin-Resource-Policy": "cross-origin",
			"Permissions-Policy":           "accelerometer=(), camera=(), geolocation=(), microphone=(), payment=(), usb=()",
		})
		if h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s allows other origins", path)
		}
	}
}

func TestBrowsersAreToldOfOtherNamesOnlyWhenTheDeployerSaysSo(t *testing.T) {
	for rule, want := range map[web.HSTS]string{
		"": "max-age=31536000", web.HSTSHost: "max-age=31536000", web.HSTSSubdomains: "max-age=31536000; includeSubDomains",
		web.HSTSPreload: "max-age=31536000; includeSubDomains; preload",
	} {
		s := newEnv(t)
		s.server.HSTS = rule
		s.host = s.server.Handler()
		got := s.do(t, "GET", "/healthz", "").Header()["Strict-Transport-Security"]
		if len(got) != 1 || got[0] != want || !rule.Valid() {
			t.Errorf("%q says %q, want %q", rule, got, want)
		}
	}
	if web.HSTS("everywhere").Valid() {
		t.Error("any word is a rule")
	}
}

func TestT77RequestIDs(t *testing.T) {
	s := newEnv(t)
	for _, given := range []string{"12345678", strings.Repeat("x", 128), "a/b=c;d~!"} {
		if got := s.do(t, "GET", "/v1/policy", "", "X-Request-Id", given).Header()["X-Request-Id"]; len(got) != 1 ||
			got[0] != given {
			t.Errorf("%q came back as %q", given, got)
		}
	}
	for _, given := range []string{"", "1234567", strings.Repeat("x", 129), "12345678 9", "1234567é", "12345678\r\nX: y",
		"1234567\x00"} {
		got := s.do(t, "GET", "/v1/policy", "", "X-Request-Id", given).Header()["X-Request-Id"]
		if len(got) != 1 || got[0] == given {
			t.Errorf("%q came back as %q", given, got)
			continue
		}
		if _, err := id.Workspace(got[0]).Bits(); err != nil {
			t.Errorf("%q was replaced by %q, which is no UUID", given, got)
		}
	}
}
