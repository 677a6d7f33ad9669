package harness

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/parallel"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// Together sends the same request eight times in parallel.
func Together(ask func() wire.Answer) []wire.Answer {
	answers := make([]wire.Answer, 8)
	parallel.Do(len(answers), func(n int) { answers[n] = ask() })
	return answers
}

// Call sends a request to the api host and decodes the answer, which has to have this status.
func Call[T any](t testing.TB, g *wire.Agent, status int, method, path string, body any, headers ...string) (out T) {
	t.Helper()
	a := Do(t, g, method, g.At.APIURL+path, body, headers...)
	if a.Status != status {
		t.Fatalf("%s %s answers %d %s", method, path, a.Status, a.Body)
	}
	Decode(t, a, &out)
	return out
}

// retryable are the codes that come with a Retry-After.
var retryable = []fault.Code{
	fault.RateLimitedActor, fault.RateLimitedWorkspace, fault.RateLimitedArtifact, fault.WriteAllowanceExceeded,
	fault.ProvisionRateLimited, fault.ProvisionUnavailable,
}

// WantRefused checks a refusal: status, envelope, and the headers that go with it.
func WantRefused(t testing.TB, a wire.Answer, status int, code fault.Code) {
	t.Helper()
	var e contract.Envelope
	Decode(t, a, &e)
	switch {
	case a.Status != status || a.Code() != code:
		t.Errorf("%d %s (%s), want %d %s", a.Status, a.Code(), a.Message(), status, code)
	case e.Error.RequestID == "" || e.Error.RequestID != a.Header.Get("X-Request-Id") ||
		len(a.Header.Values("X-Request-Id")) != 1:
		t.Errorf("%s: request_id is %q, X-Request-Id %q", code, e.Error.RequestID, a.Header.Values("X-Request-Id"))
	case e.Error.Message == "":
		t.Errorf("%s: no message", code)
	case a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("Content-Type") != "application/json; charset=utf-8":
		t.Errorf("%s: Cache-Control %q, Content-Type %q", code, a.Header.Get("Cache-Control"), a.Header.Get("Content-Type"))
	case slices.Contains(retryable, code) != (a.Header.Get("Retry-After") != ""):
		t.Errorf("%s: Retry-After is %q", code, a.Header.Get("Retry-After"))
	case slices.Contains(retryable, code) && RetryAfter(t, a) < time.Second:
		t.Errorf("%s: Retry-After is %q", code, a.Header.Get("Retry-After"))
	}
}

// Decode unpacks the JSON body of an answer.
func Decode(t testing.TB, a wire.Answer, out any) {
	t.Helper()
	NoError(t, json.Unmarshal(a.Body, out))
}

// RetryAfter returns the delay that the answer asks for.
func RetryAfter(t testing.TB, a wire.Answer) time.Duration {
	t.Helper()
	return time.Duration(Must(strconv.Atoi(a.Header.Get("Retry-After")))(t)) * time.Second
}

// SendRaw sends a request that no HTTP library would send to a host, and holds the answer to the document of the host.
func (e *BackendEnv) SendRaw(t testing.TB, host, line string, body string, headers ...string) wire.Answer {
	t.Helper()
	a := Must(SendRaw(e.origin(host), line, body, headers...))(t)
	method, target, _ := strings.Cut(line, " ")
	path, _, _ := strings.Cut(target, "?")
	if method == http.MethodHead && host != "content" {
		method = http.MethodGet // its handler answers
	}
	if a.Status != http.StatusMisdirectedRequest { // no answer of a route
		answer := &http.Response{StatusCode: a.Status, Header: a.Header}
		if err := Must(goldenDocuments())(t)[host].Check(method, path, answer, a.Body); err != nil {
			t.Error(err)
		}
	}
	return a
}

// SendRaw sends a request that no HTTP library would send: the request line and the headers go out as they are. Host,
// Content-Length and Connection are added unless the headers have them.
func SendRaw(origin, line, body string, headers ...string) (wire.Answer, error) {
	u, err := url.Parse(origin)
	if err != nil {
		return wire.Answer{}, err
	}
	conn, err := net.DialTimeout("tcp4", net.JoinHostPort("127.0.0.1", u.Port()), 5*time.Second)
	if err != nil {
		return wire.Answer{}, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	var request strings.Builder
	fmt.Fprintf(&request, "%s HTTP/1.1\r\nConnection: close\r\n", line)
	given := strings.ToLower("\n" + strings.Join(headers, "\n"))
	if !strings.Contains(given, "\nhost:") {
		fmt.Fprintf(&request, "Host: %s\r\n", u.Host)
	}
	if body != "" && !strings.Contains(given, "\ntransfer-encoding:") {
		fmt.Fprintf(&request, "Content-Length: %d\r\n", len(body))
	}
	for _, h := range headers {
		request.WriteString(h + "\r\n")
	}
	go io.WriteString(conn, request.String()+"\r\n"+body)
	method, _, _ := strings.Cut(line, " ")
	answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		return wire.Answer{}, err
	}
	defer answer.Body.Close()
	got, err := io.ReadAll(answer.Body)
	return wire.Answer{Status: answer.StatusCode, Header: answer.Header, Body: got}, err
}

// Do sends a request with the credential of an agent.
func Do(t testing.TB, g *wire.Agent, method, target string, body any, headers ...string) wire.Answer {
	t.Helper()
	return Must(g.Do(ctx, method, target, body, headers...))(t)
}

// Get reads a URL without a credential.
func (env *Env) Get(t testing.TB, url string, headers ...string) wire.Answer {
	t.Helper()
	return Do(t, env.Anyone, "GET", url, nil, headers...)
}

// WantContent checks that a URL serves exactly these bytes.
func (env *Env) WantContent(t testing.TB, url string, want []byte) {
	t.Helper()
	if a := env.Get(t, url); a.Status != http.StatusOK || !bytes.Equal(a.Body, want) {
		t.Errorf("%d with %d bytes, want %d bytes", a.Status, len(a.Body), len(want))
	}
}

// WantGone checks that a URL answers 404.
func (env *Env) WantGone(t testing.TB, url string) {
	t.Helper()
	if a := env.Get(t, url); a.Status != http.StatusNotFound || a.Code() != fault.NotFound {
		t.Errorf("%d %s, want 404 not_found", a.Status, a.Code())
	}
}
