package web_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
)

const goodBody = `{"title":"x"}`

// guarded is a request with several faults, and the refusal of the first one.
type guarded struct {
	name, token, key, body string
	full                   bool // the limits are used up
	status                 int
	code                   fault.Code
}

// do sends the request to a route that creates something, and checks the refusal, and that only requests with the right
// to it were counted. It returns the answer if there has to be one.
func (g guarded) do(t *testing.T, s *env, path string) (got created) {
	t.Helper()
	s.counters.full = g.full
	headers := []string{"X-Nothing", ""}
	if g.token != "" {
		headers = append(headers, bearer(g.token)...)
	}
	if g.key != "" {
		headers = append(headers, "Idempotency-Key", g.key)
	}
	w := s.do(t, "POST", path, g.body, headers...)
	if g.code == "" {
		got = answered(t, w, g.status)
	} else {
		wantRefusal(t, w, g.status, g.code)
	}
	entitled := g.code == "" || g.code == fault.RateLimitedActor || g.code == fault.InvalidRequest
	if counted := s.counters.count.Load() > 0; counted != entitled {
		t.Errorf("counted: %v", counted)
	}
	return got
}

func TestGuardsRefuseInOrder(t *testing.T) {
	for _, g := range []guarded{
		{"nothing is right: credential first", "", "", "{", true, 401, fault.NotAuthenticated},
		{"unknown credential beats key", "bad", "", "{", true, 401, fault.NotAuthenticated},
		{"the database beats the key", "no-database", "", "", true, 503, fault.DatabaseUnavailable},
		{"missing key beats scope", readingKey, "", "{", true, 400, fault.InvalidIdempotencyKey},
		{"short key beats scope", readingKey, "1234567", "", true, 400, fault.InvalidIdempotencyKey},
		{"foreign characters in the key", goodKey, "12345678 9", goodBody, false, 400, fault.InvalidIdempotencyKey},
		{"scope beats limit and body", readingKey, "12345678", "{", true, 403, fault.Forbidden},
		{"limit beats body", goodKey, "12345678", "{", true, 429, fault.RateLimitedActor},
		{"body last", goodKey, "12345678", "{", false, 400, fault.InvalidRequest},
	} {
		t.Run(g.name, func(t *testing.T) {
			s := newEnv(t)
			if g.do(t, s, "/v1/things"); s.handled.Load() != 0 {
				t.Error("the handler ran")
			}
		})
	}
}

// finishedRecord is the record of the body {"title":"x"}; the spelling of JSON does not matter.
func finishedRecord(s *env) *idempotency.Record {
	return &idempotency.Record{
		Done:        true,
		Expires:     s.server.Now().Add(time.Hour),
		Result:      json.RawMessage(`{"id":"first"}`),
		Fingerprint: idempotency.FingerprintOf("POST", "/v1/things", []byte(` { "title" : "x" } `)),
	}
}

func TestReplayAnswersTheFirstResult(t *testing.T) {
	s := newEnv(t)
	s.record, s.counters.full = finishedRecord(s), true
	if got := answered(t, s.create1(t, `{"title":"x"}`), 201); got.ID != "first" {
		t.Errorf("%+v, want the first result", got)
	}
	wantRefusal(t, s.create1(t, `{"title":"y"}`), 400, fault.InvalidIdempotencyKey)
	s.counters.full = false
	s.record.Expires = s.server.Now()
	if got := answered(t, s.create1(t, `{"title":"x"}`), 201); got.ID == "first" {
		t.Error("an expired record answered")
	}
	if s.counters.count.Load() != 2 {
		t.Errorf("%d counts, want actor and workspace once", s.counters.count.Load())
	}
}

func TestT08CredentialsInOtherPlaces(t *testing.T) {
	s := newEnv(t)
	for name, ask := range map[string]func() *httptest.ResponseRecorder{
		"two headers": func() *httptest.ResponseRecorder {
			return s.do(t, "GET", "/v1/policy", "", "Authorization", "Bearer "+goodKey, "Authorization", "Bearer "+goodKey)
		},
		"comma": func() *httptest.ResponseRecorder {
			return s.do(t, "GET", "/v1/policy", "", "Authorization", "Bearer "+goodKey+", Bearer "+goodKey)
		},
		"api_key": func() *httptest.ResponseRecorder { return s.do(t, "GET", "/v1/policy?api_key=x", "") },
		"access_token": func() *httptest.ResponseRecorder {
			return s.do(t, "GET", "/v1/policy?a=b&access_token", "", authorized...)
		},
	} {
		t.Run(name, func(t *testing.T) { wantRefusal(t, ask(), http.StatusBadRequest, fault.InvalidAuth) })
	}
}

func TestFormsOfTheAuthorizationHeader(t *testing.T) {
	s := newEnv(t)
	for _, header := range []string{"Bearer " + goodKey, "bearer " + goodKey, "BEARER\t" + goodKey} {
		answered(t, s.do(t, "GET", "/v1/policy", "", "Authorization", header), 200)
	}
	for _, header := range []string{
		"", "Bearer", "Bearer ", "Bearer  " + goodKey, "Bearer " + goodKey + " x", "Bearer" + goodKey, "Basic " + goodKey,
		goodKey,
		"Bearer " + goodKey + "\n", "Bearer_" + goodKey,
	} {
		w := s.do(t, "GET", "/v1/policy", "", "Authorization", header)
		wantRefusal(t, w, http.StatusUnauthorized, fault.NotAuthenticated)
		const want = `Bearer resource_metadata="http://api.test/.well-known/oauth-protected-resource"`
		if got := w.Header().Get("WWW-Authenticate"); got != want {
			t.Errorf("challenge %q, want %q", got, want)
		}
	}
}

func TestAuthenticationReadsWhatThePathNames(t *testing.T) {
	s := newEnv(t)
	got := answered(t, s.do(t, "POST", "/v1/artifacts/art_X/publish", "", authorized...), 200)
	if got.ID != "art_X" || s.wants.Artifact != "art_X" || s.wants.Target != "art_X" || s.wants.Client != "test-key-1" ||
		s.wants.Operation != idempotency.PublishRevision {
		t.Errorf("%+v, wants %+v", got, s.wants)
	}
	t.Run("a malformed key is not looked up", func(t *testing.T) {
		s.do(t, "POST", "/v1/artifacts/art_X/publish", "", "Authorization", "Bearer "+goodKey, "Idempotency-Key", "short")
		if s.wants.Client != "" || s.wants.Operation != "" {
			t.Errorf("%+v", s.wants)
		}
	})
}

func TestDerivedKeyStandsInForTheHeader(t *testing.T) {
	s := newEnv(t)
	bearer := []string{"Authorization", "Bearer " + goodKey}
	if got := answered(t, s.do(t, "DELETE", "/v1/artifacts/art_X", "", bearer...), 200); got.ID != "mcp-delete:art_X" {
		t.Errorf("%+v, want the derived key", got)
	}
	if got := answered(t, s.do(t, "DELETE", "/v1/artifacts/art_X", "", authorized...), 200); got.ID != "test-key-1" {
		t.Errorf("%+v, want the header's key", got)
	}
	wantRefusal(t, s.do(t, "DELETE", "/v1/artifacts/art_X", "", append(bearer, "Idempotency-Key", "x")...), 400,
		fault.InvalidIdempotencyKey)
	wantRefusal(t, s.do(t, "DELETE", "/v1/artifacts/art_X", "",
		append(bearer, "Idempotency-Key", "12345678", "Idempotency-Key", "12345678")...), 400, fault.InvalidIdempotencyKey)
}

func TestLimitsRunBesideAReadingHandler(t *testing.T) {
	t.Run("its answer is dropped when they refuse", func(t *testing.T) {
		s := newEnv(t)
		s.counters.full = true
		w := s.do(t, "GET", "/v1/things?limit=5", "", authorized...)
		wantRefusal(t, w, 429, fault.RateLimitedActor)
		if s.handled.Load() != 1 {
			t.Error("the handler did not run")
		}
	})
	t.Run("they beat a wrong parameter", func(t *testing.T) {
		s := newEnv(t)
		s.counters.full = true
		wantRefusal(t, s.do(t, "GET", "/v1/things?limit=x", "", authorized...), 429, fault.RateLimitedActor)
	})
	t.Run("the handler does not wait for them", func(t *testing.T) {
		s := newEnv(t)
		s.counters.hold, s.listed = make(chan struct{}), make(chan struct{})
		done := make(chan *httptest.ResponseRecorder)
		go func() { done <- s.do(t, "GET", "/v1/things?limit=5", "", authorized...) }()
		<-s.listed
		close(s.counters.hold)
		answered(t, <-done, 200)
	})
}

func TestRetryAfterIsWholeSecondsRoundedUp(t *testing.T) {
	w := newEnv(t).do(t, "POST", "/v1/open", "{", "X-Refuse", "1")
	wantRefusal(t, w, 429, fault.ProvisionRateLimited)
	if got := w.Header().Get("Retry-After"); got != "2" {
		t.Errorf("Retry-After %q for 1.5 s", got)
	}
}

func TestLimiterOutOfReachRefuses(t *testing.T) {
	s := newEnv(t)
	s.counters.err = errors.New("dial tcp 10.0.0.1: refused")
	w := s.create1(t, `{"title":"x"}`)
	wantRefusal(t, w, 429, fault.RateLimitedActor)
	if w.Header().Get("Retry-After") != "1" {
		t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
	}
}

func TestCredentialIsStampedBesideTheRequest(t *testing.T) {
	s := newEnv(t)
	s.create1(t, `{"title":"x"}`)
	s.do(t, "GET", "/v1/policy", "", "Authorization", "Bearer bad")
	if s.touched.Load() != 1 {
		t.Errorf("%d stamps, want one: of the authenticated request", s.touched.Load())
	}
}

func TestT67ClientAddress(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("X-Forwarded-For", "203.0.113.9")
	r.Header.Set("Forwarded", "for=203.0.113.9")
	r.Header.Set("X-Real-Ip", "203.0.113.9")
	for remote, want := range map[string]string{
		"192.0.2.1:1234":        "192.0.2.1",
		"[2001:db8::1]:80":      "2001:db8::1",
		"[::ffff:192.0.2.1]:80": "192.0.2.1",
		"[fe80::1%eth0]:80":     "fe80::1",
	} {
		r.RemoteAddr = remote
		if got := web.ClientAddress(r).String(); got != want {
			t.Errorf("%s: %s, want %s", remote, got, want)
		}
	}
	r.RemoteAddr = "@"
	if got := web.ClientAddress(r); got.IsValid() {
		t.Errorf("a peer without address became %s", got)
	}
	gateway := r.WithContext(web.WithClientAddress(r.Context(), netip.MustParseAddr("198.51.100.7")))
	if got := web.ClientAddress(gateway).String(); got != "198.51.100.7" {
		t.Errorf("the gateway's word is %s", got)
	}
}
