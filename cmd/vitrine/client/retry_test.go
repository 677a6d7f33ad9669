package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
)

var anyCall = call{
	method: http.MethodPost,
	host:   "https://api.test",
	path:   "/v1/thing",
	idem:   "cli_publish_1",
}

func TestRetry(t *testing.T) {
	ok := reply(200, `{}`)
	for _, tt := range []struct {
		name     string
		answers  []*http.Response
		calls    int // 0 for any number
		min, max time.Duration
		code     fault.Code // "" for success
		exit     failure.Exit
	}{
		{"waits as long as the server asks", []*http.Response{refuse(429, fault.RateLimitedActor, "Retry-After: 40"), ok},
			2, 40 * time.Second, 40 * time.Second, "", 0},
		{"waits a whole minute", []*http.Response{refuse(503, fault.DatabaseUnavailable, "Retry-After: 60"), ok}, 2,
			time.Minute, time.Minute, "", 0},
		{"does not wait longer", []*http.Response{refuse(429, fault.RateLimitedActor, "Retry-After: 61"), ok}, 1, 0, 0,
			fault.RateLimitedActor, failure.Quota},
		{"backs off without being told", []*http.Response{refuse(500, fault.Internal), refuse(408, "timeout"), ok}, 3,
			400 * time.Millisecond, 3 * time.Second, "", 0},
		{"gives up after four attempts", []*http.Response{refuse(502, "bad_gateway")}, 4, time.Second, 5 * time.Second,
			"bad_gateway", failure.Server},
		{"does not repeat what cannot help", []*http.Response{refuse(403, fault.Forbidden), ok}, 1, 0, 0, fault.Forbidden,
			failure.Auth},
		{"does not repeat a conflict", []*http.Response{refuse(409, fault.DraftRevisionConflict), ok}, 1, 0, 0,
			fault.DraftRevisionConflict, failure.Conflict},
		{"does not wait for tomorrow", []*http.Response{refuse(429, fault.WriteAllowanceExceeded, "Retry-After: 30"), ok},
			1, 0, 0, fault.WriteAllowanceExceeded, failure.Quota},
		{"does not repeat what is not built", []*http.Response{refuse(501, "not_supported"), ok}, 1, 0, 0,
			"not_supported", failure.Server},
		{"outlives the lease of an attempt that died", []*http.Response{refuse(409, fault.IdempotencyInFlight)}, 0,
			100 * time.Second, 110 * time.Second, fault.IdempotencyInFlight, failure.Conflict},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &wire{respond: in(tt.answers...)}
				var told []string
				start := time.Now()
				err := caller(w, &told).do(t.Context(), anyCall, &struct{}{})
				if took := time.Since(start); took < tt.min || took > tt.max {
					t.Errorf("took %v, want %v to %v", took, tt.min, tt.max)
				}
				if tt.code != "" {
					wantFailure(t, err, tt.code, tt.exit)
				} else if err != nil {
					t.Error(err)
				}
				if tt.calls > 0 && w.calls() != tt.calls {
					t.Errorf("%d calls, want %d", w.calls(), tt.calls)
				}
				for i, r := range w.seen {
					if r.Header.Get("Idempotency-Key") != anyCall.idem || r.Header.Get("X-Request-Id") != "cli_request" {
						t.Errorf("attempt %d has headers %v", i+1, r.Header)
					}
				}
				if long := tt.min >= 10*time.Second; long && len(told) == 0 {
					t.Error("nobody was told about the wait")
				}
			})
		})
	}
}

func TestARefusalTellsWhenToComeBack(t *testing.T) {
	for header, want := range map[string]string{
		"":                "Run the command again later.",
		"Retry-After: 61": "Run the command again in 1m1s.",
	} {
		w := &wire{respond: in(refuse(429, fault.UsagePolicyExceeded, header))}
		err := caller(w, nil).do(t.Context(), anyCall, &struct{}{})
		f := wantFailure(t, err, fault.UsagePolicyExceeded, failure.Quota)
		if f.Hint != want {
			t.Errorf("the hint after %q is %q, want %q", header, f.Hint, want)
		}
	}
}

func TestNoAnswer(t *testing.T) {
	signed := "http://storage.test/o/1?X-Amz-Signature=s3cret"
	for _, tt := range []struct {
		name    string
		respond func(*http.Request) (*http.Response, error)
		message string
		max     time.Duration
	}{
		{
			"names the host and the cause, not the URL",
			func(*http.Request) (*http.Response, error) {
				return nil, &url.Error{
					Op:  "Put",
					URL: signed,
					Err: &url.Error{Op: "Put", URL: signed, Err: errors.New("connection reset")},
				}
			},
			"no response from https://api.test: connection reset", 5 * time.Second,
		},
		{
			"ends a call that hangs after a minute",
			func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() },
			"no response from https://api.test in time", 4*time.Minute + 5*time.Second,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &wire{respond: tt.respond}
				start := time.Now()
				f := wantFailure(t, caller(w, nil).do(t.Context(), anyCall, &struct{}{}), failure.Network, failure.Server)
				if f.Message != tt.message || f.RequestID != "cli_request" {
					t.Errorf("message %q of request %q, want %q", f.Message, f.RequestID, tt.message)
				}
				if took := time.Since(start); took > tt.max || w.calls() != 4 {
					t.Errorf("%d calls in %v", w.calls(), took)
				}
			})
		})
	}
}

func TestInterruptEndsAWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := &wire{respond: in(refuse(429, fault.RateLimitedActor, "Retry-After: 50"))}
		start := time.Now()
		time.AfterFunc(7*time.Second, cancel)
		err := caller(w, nil).do(ctx, anyCall, &struct{}{})
		if took := time.Since(start); failure.Of(err).Exit != failure.Interrupted || took != 7*time.Second || w.calls() != 1 {
			t.Errorf("error %v after %v and %d calls", err, took, w.calls())
		}
	})
}

func TestInterruptEndsACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := &wire{respond: func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}}
		time.AfterFunc(time.Second, cancel)
		if err := caller(w, nil).do(ctx, anyCall, &struct{}{}); failure.Of(err).Exit != failure.Interrupted ||
			w.calls() != 1 {
			t.Errorf("error %v after %d calls", err, w.calls())
		}
	})
}

func TestRetryAfter(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"": 0, "0": 0, "7": 7 * time.Second, "-1": 0, "1.5": 0, "Wed, 21 Oct 2026 07:28:00 GMT": 0, "99999999999999": 0,
	} {
		if got := retryAfter(http.Header{"Retry-After": {text}}); got != want {
			t.Errorf("Retry-After %q is %v, want %v", text, got, want)
		}
	}
}

func TestAnAnswerThatIsTooLargeIsCalledSo(t *testing.T) {
	fits := strings.Repeat(" ", maxAnswer-2) + "{}"
	if err := caller(&wire{respond: in(reply(200, fits))}, nil).do(t.Context(), anyCall, &struct{}{}); err != nil {
		t.Errorf("an answer of %d bytes: %v, want no error", maxAnswer, err)
	}
	err := caller(&wire{respond: in(reply(200, " "+fits))}, nil).do(t.Context(), anyCall, &struct{}{})
	f := wantFailure(t, err, failure.BadResponse, failure.Other)
	if want := "cannot use the response of https://api.test: it is larger than 16 MiB"; f.Message != want {
		t.Errorf("message %q, want %q", f.Message, want)
	}
}

func TestRefusalOfAnotherServer(t *testing.T) {
	w := &wire{respond: in(reply(404, "<html>nginx"))}
	f := wantFailure(t, caller(w, nil).do(t.Context(), anyCall, &struct{}{}), failure.HTTP, failure.NotFound)
	if f.RequestID != "cli_request" || strings.Contains(f.Message, "nginx") {
		t.Errorf("failure %+v", f)
	}
}

// A gateway in front of a host refuses in forms of its own.
func TestRefusalsOfAGateway(t *testing.T) {
	const busy, trouble = "https://api.test accepts no more requests at the moment (429", "https://api.test has trouble (5"
	for _, tt := range []struct {
		name    string
		status  int
		body    string
		code    fault.Code
		exit    failure.Exit
		message string
	}{
		{"throttled by an HTTP API", 429, `{"message":"Too Many Requests"}`, failure.Throttled, failure.Quota,
			busy + ": Too Many Requests)"},
		{"throttled by a REST API", 429, `{"message":null}`, failure.Throttled, failure.Quota, busy + " Too Many Requests)"},
		{"throttled with the answer for all refusals", 429,
			`{"error":{"code":"invalid_request","message":"the gateway does not pass this request on"}}`,
			failure.Throttled, failure.Quota, busy + ": the gateway does not pass this request on)"},
		{"throttled by a proxy", 429, "<html>slow down</html>", failure.Throttled, failure.Quota,
			busy + " Too Many Requests)"},
		{"throttled without a word", 429, "", failure.Throttled, failure.Quota, busy + " Too Many Requests)"},
		{"a list", 429, `["x"]`, failure.Throttled, failure.Quota, busy + " Too Many Requests)"},
		{"a message of another kind", 429, `{"message":{"x":1}}`, failure.Throttled, failure.Quota,
			busy + " Too Many Requests)"},
		{"no host", 503, `{"message":"Service Unavailable"}`, failure.HTTP, failure.Server,
			trouble + "03: Service Unavailable)"},
		{"a host that crashed", 500, `{"message":"Internal Server Error"}`, failure.HTTP, failure.Server,
			trouble + "00: Internal Server Error)"},
		{"a host that is too slow", 504, `{"Message":"Endpoint request timed out"}`, failure.HTTP, failure.Server,
			trouble + "04: Endpoint request timed out)"},
		{"a page", 502, "<html><h1>Bad Gateway", failure.HTTP, failure.Server, trouble + "02 Bad Gateway)"},
		{"our own words", 429, `{"error":{"code":"rate_limited_workspace","message":"wait"}}`, fault.RateLimitedWorkspace,
			failure.Quota, "wait"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &wire{respond: in(reply(tt.status, tt.body, "Retry-After: 7"))}
				start := time.Now()
				f := wantFailure(t, caller(w, nil).do(t.Context(), anyCall, &struct{}{}), tt.code, tt.exit)
				if f.Message != tt.message || f.RetryAfter != 7*time.Second {
					t.Errorf("%q, again after %v, want %q", f.Message, f.RetryAfter, tt.message)
				}
				if took := time.Since(start); w.calls() != 4 || took != 21*time.Second {
					t.Errorf("%d calls in %v, want 4 with the waits that it asked for", w.calls(), took)
				}
				w = &wire{respond: in(reply(tt.status, tt.body), reply(200, "{}"))}
				if err := caller(w, nil).do(t.Context(), anyCall, &struct{}{}); err != nil || w.calls() != 2 {
					t.Errorf("a moment later: %v after %d calls", err, w.calls())
				}
			})
		})
	}
	w := &wire{respond: in(reply(403, `{"message":"Forbidden"}`))}
	f := wantFailure(t, caller(w, nil).do(t.Context(), anyCall, &struct{}{}), failure.HTTP, failure.Auth)
	if want := "https://api.test answered 403: Forbidden"; f.Message != want {
		t.Errorf("message %q, want %q", f.Message, want)
	}
	w = &wire{respond: in(reply(400, `{"message":"`+strings.Repeat("x", 5000)+`"}`))}
	err := caller(w, nil).do(t.Context(), anyCall, &struct{}{})
	if f := wantFailure(t, err, failure.HTTP, failure.Invalid); len(f.Message) > 400 {
		t.Errorf("a message of %d bytes", len(f.Message))
	}
}

func TestLongWorkIsTold(t *testing.T) {
	for takes, want := range map[time.Duration]int{900 * time.Millisecond: 0, 1100 * time.Millisecond: 1, time.Minute: 1} {
		synctest.Test(t, func(t *testing.T) {
			var told []string
			err := caller(&wire{}, &told).notice("computing", func() error { return async.Sleep(t.Context(), takes) })
			synctest.Wait()
			if err != nil || len(told) != want {
				t.Errorf("after %v: told %q, error %v", takes, told, err)
			}
		})
	}
}
