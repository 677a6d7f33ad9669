package client

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/fault"
)

// wire is a network in memory, so that tests can use synthetic time. It answers each request by calling respond.
type wire struct {
	respond func(*http.Request) (*http.Response, error)

	mu   sync.Mutex
	seen []*http.Request
	at   []time.Time
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.seen, w.at = append(w.seen, r), append(w.at, time.Now())
	w.mu.Unlock()
	resp, err := w.respond(r)
	if r.Body != nil {
		r.Body.Close()
	}
	if resp != nil {
		resp.Request = r
	}
	return resp, err
}

func (w *wire) calls() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.seen)
}

// reply returns a response with headers given as "Name: value".
func reply(status int, body string, headers ...string) *http.Response {
	h := http.Header{}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ": ")
		h.Set(name, value)
	}
	return &http.Response{
		StatusCode: status,
		Status:     fmt.Sprint(status),
		Header:     h,
		Body:       io.NopCloser(strings.NewReader(body)),
	}
}

func refuse(status int, code fault.Code, headers ...string) *http.Response {
	return reply(status, `{"error":{"code":"`+string(code)+`","message":"no"}}`, headers...)
}

// in answers the calls in order; the last response repeats.
func in(order ...*http.Response) func(*http.Request) (*http.Response, error) {
	var mu sync.Mutex
	return func(*http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		kept, next := order[0], *order[0]
		if len(order) > 1 {
			order = order[1:]
		}
		text, err := io.ReadAll(next.Body)
		next.Body, kept.Body = io.NopCloser(strings.NewReader(string(text))), io.NopCloser(strings.NewReader(string(text)))
		return &next, err
	}
}

// caller returns a client on the wire. What it tells the person is appended to told.
func caller(w *wire, told *[]string) *Caller {
	var mu sync.Mutex
	return &Caller{
		HTTP:      &http.Client{Transport: w, CheckRedirect: stay},
		UserAgent: "vitrine/test",
		RequestID: "cli_request",
		Patience:  DefaultRetryPolicy(),
		Note: func(format string, args ...any) {
			mu.Lock()
			defer mu.Unlock()
			if told != nil {
				*told = append(*told, fmt.Sprintf(format, args...))
			}
		},
	}
}

// wantFailure fails the test unless err has this code and exit code.
func wantFailure(t *testing.T, err error, code fault.Code, exit failure.Exit) *failure.Failure {
	t.Helper()
	f, ok := errors.AsType[*failure.Failure](err)
	if !ok || f.Code != code || f.Exit != exit {
		t.Fatalf("error %v (%+v), want code %s and exit %d", err, f, code, exit)
	}
	if f.Hint == "" {
		t.Errorf("failure %s has no hint", f.Code)
	}
	return f
}
