package journey

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/scripts/testkit/conform"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// waiting are the codes that tell how long to wait.
var waiting = []fault.Code{
	fault.RateLimitedActor, fault.RateLimitedWorkspace, fault.RateLimitedArtifact, fault.WriteAllowanceExceeded, fault.ProvisionRateLimited,
	fault.ProvisionUnavailable,
}

// refused checks a refusal: status, envelope, and the headers that go with it.
func refused(t testing.TB, a wire.Answer, status int, code fault.Code) {
	t.Helper()
	var e contract.Envelope
	succeed(t, json.Unmarshal(a.Body, &e))
	switch {
	case a.Status != status || a.Code() != code:
		t.Errorf("%d %s (%s), want %d %s", a.Status, a.Code(), a.Message(), status, code)
	case e.Error.RequestID == "" || e.Error.RequestID != a.Header.Get("X-Request-Id") || len(a.Header.Values("X-Request-Id")) != 1:
		t.Errorf("%s: request_id is %q, X-Request-Id %q", code, e.Error.RequestID, a.Header.Values("X-Request-Id"))
	case e.Error.Message == "":
		t.Errorf("%s: no message", code)
	case a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("Content-Type") != "application/json; charset=utf-8":
		t.Errorf("%s: Cache-Control %q, Content-Type %q", code, a.Header.Get("Cache-Control"), a.Header.Get("Content-Type"))
	case slices.Contains(waiting, code) != (a.Header.Get("Retry-After") != ""):
		t.Errorf("%s: Retry-After is %q", code, a.Header.Get("Retry-After"))
	case slices.Contains(waiting, code) && wait(t, a) < time.Second:
		t.Errorf("%s: Retry-After is %q", code, a.Header.Get("Retry-After"))
	}
}

// wait is what Retry-After asks for.
func wait(t testing.TB, a wire.Answer) time.Duration {
	t.Helper()
	return time.Duration(must(strconv.Atoi(a.Header.Get("Retry-After")))(t)) * time.Second
}

var goldenDocuments = sync.OnceValues(func() (map[string]*conform.Document, error) {
	out := map[string]*conform.Document{}
	for _, name := range []string{"api", "upload", "content"} {
		d, err := conform.Load(filepath.Join("..", "..", "openapi", name+".json"))
		if err != nil {
			return nil, err
		}
		out[name] = d
	}
	return out, nil
})

// raw sends bytes as no HTTP library would: the request line and headers as they are, and Host, Content-Length and
// Connection unless the headers have them. The answer is held against the document of its host.
func (p *probe) raw(t testing.TB, host, line string, body string, headers ...string) wire.Answer {
	t.Helper()
	u := must(url.Parse(p.origin(host)))(t)
	conn := must(net.DialTimeout("tcp4", net.JoinHostPort("127.0.0.1", u.Port()), 5*time.Second))(t)
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
	method, target, _ := strings.Cut(line, " ")
	answer := must(http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method}))(t)
	defer answer.Body.Close()
	got := must(io.ReadAll(answer.Body))(t)
	path, _, _ := strings.Cut(target, "?")
	if method == http.MethodHead && host != "content" {
		method = http.MethodGet // whose handler answers
	}
	if answer.StatusCode != http.StatusMisdirectedRequest { // no answer of a route
		if err := must(goldenDocuments())(t)[host].Check(method, path, answer, got); err != nil {
			t.Error(err)
		}
	}
	return wire.Answer{Status: answer.StatusCode, Header: answer.Header, Body: got}
}
