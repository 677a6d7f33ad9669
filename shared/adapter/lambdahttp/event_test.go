package lambdahttp

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/web"
)

var update = flag.Bool("update", false, "write testdata anew")

// commonHeaders are headers of every event, which would only make the goldens longer.
var commonHeaders = []string{"Accept-Encoding", "User-Agent", "X-Amzn-Trace-Id", "X-Forwarded-Port",
	"X-Forwarded-Proto"}

// TestEventsArriveAsTheRequestsThatTheyAre compares what a handler sees of every event in events/
// with testdata.
func TestEventsArriveAsTheRequestsThatTheyAre(t *testing.T) {
	for _, host := range []string{"api", "upload", "content", "app", "mcp"} {
		t.Run(host, func(t *testing.T) {
			var seen strings.Builder
			for _, name := range eventFiles(t, host) {
				fmt.Fprintf(&seen, "-- %s --\n%s\n", filepath.Base(name), describeRequest(t, name))
			}
			golden := filepath.Join("testdata", host+".txt")
			if *update {
				expect.OK(t, os.WriteFile(golden, []byte(seen.String()), 0o644))
			}
			want := expect.Value(os.ReadFile(golden))(t)
			if seen.String() != string(want) {
				t.Errorf("requests differ from %s; if they should, run with -update and read the difference. Now:\n%s", golden,
					seen.String())
			}
		})
	}
}

func eventFiles(t *testing.T, host string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "..", "..", "events", host, "*.json"))
	if err != nil || len(names) == 0 {
		t.Fatal("no events of host", host, err)
	}
	return names
}

func readEvent(t *testing.T, name string) event {
	t.Helper()
	raw := expect.Value(os.ReadFile(name))(t)
	var e event
	expect.OK(t, json.Unmarshal(raw, &e))
	return e
}

// describeRequest prints the request that a handler gets for an event.
func describeRequest(t *testing.T, name string) string {
	t.Helper()
	e := readEvent(t, name)
	r, err := e.request(t.Context())
	if err != nil {
		return "refused: " + err.Error() + "\n"
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || int64(len(body)) != r.ContentLength {
		t.Errorf("%s: body of %d bytes, Content-Length %d, %v", name, len(body), r.ContentLength, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\npath %q\nquery %q\nhost %s\nfrom %v\n", r.Method, r.RequestURI, r.URL.Path, r.URL.RawQuery,
		r.Host, web.ClientAddress(r))
	for _, name := range sortedNames(r.Header) {
		if !slices.Contains(commonHeaders, name) {
			fmt.Fprintf(&b, "%s: %q\n", name, r.Header[name])
		}
	}
	if len(body) > 0 {
		fmt.Fprintf(&b, "body %q\n", body)
	}
	return b.String()
}

func sortedNames(h http.Header) []string {
	var names []string
	for name := range h {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func TestOtherEventsAreNoRequests(t *testing.T) {
	for _, payload := range []string{`{}`, `{"version":"2.0"}`, `{"Records":[{"eventSource":"aws:sqs"}]}`,
		`{"source":"aws.scheduler","detail":{}}`} {
		var e event
		expect.OK(t, json.Unmarshal([]byte(payload), &e))
		if out, err := (adapter{handler: http.NotFoundHandler()}).serve(t.Context(), e); err == nil {
			t.Errorf("%s is answered: %+v", payload, out)
		}
	}
}

func TestTheHostIsTheOneThatTheGatewayRoutedBy(t *testing.T) {
	for _, c := range []struct{ domain, header, want string }{
		{"api.vitrine.example", "api.vitrine.example", "api.vitrine.example"},
		{"api.vitrine.example", "app.vitrine.example", "api.vitrine.example"},
		{"localhost", "localhost:8701", "localhost:8701"},
		{"localhost", "LOCALHOST:8701", "LOCALHOST:8701"},
		{"localhost", "evil.example:8701", "localhost"},
		{"127.0.0.1:3001", "127.0.0.1:3001", "127.0.0.1:3001"},
		{"", "localhost:3001", "localhost:3001"},
	} {
		v2, v1 := httpAPIEvent("GET", "/"), restEvent("GET", "/")
		v2.Headers, v1.AllHeaders = map[string]string{"host": c.header}, map[string][]string{"Host": {c.header}}
		for _, e := range []event{v2, v1} {
			e.Context.DomainName = c.domain
			if r, err := e.request(t.Context()); err != nil || r.Host != c.want || r.Header.Get("Host") != "" {
				t.Errorf("domain %q and header %q: %q, want %q (%v)", c.domain, c.header, r.Host, c.want, err)
			}
		}
	}
}

func TestTheClientAddressIsTheGatewaysWord(t *testing.T) {
	for _, c := range []struct{ sourceIP, remote, address string }{
		{"203.0.113.24", "203.0.113.24:0", "203.0.113.24"},
		{"2001:db8::1", "[2001:db8::1]:0", "2001:db8::1"},
		{"", "", "invalid IP"},
		{"test-invoke-source-ip", "", "invalid IP"},
	} {
		for _, version := range []string{"", "2.0"} {
			e := event{
				Version: version,
				Method:  "GET",
				Path:    "/",
				Headers: map[string]string{"x-forwarded-for": "192.0.2.1"},
			}
			e.Context.HTTP.Method = "GET"
			e.Context.HTTP.SourceIP = c.sourceIP
			e.Context.Identity.SourceIP = c.sourceIP
			r, err := e.request(t.Context())
			if err != nil || r.RemoteAddr != c.remote || web.ClientAddress(r).String() != c.address {
				t.Errorf("%q: remote %q, address %v, %v", c.sourceIP, r.RemoteAddr, web.ClientAddress(r), err)
			}
		}
	}
}

func TestWhatNetHTTPWouldRefuseIsRefused(t *testing.T) {
	for name, e := range map[string]event{
		"a method with a space": {Method: "GET /x", Path: "/"},
		"a broken escape":       {Method: "GET", Path: "/100%"},
		"a control character":   {Method: "GET", Path: "/a\nb"},
		"a broken base64 body": {
			Method:   "POST",
			Path:     "/",
			Body:     "!",
			IsBase64: true,
		},
		"a newline in the method": {Method: "GET\r\nX: y", Path: "/"},
	} {
		t.Run(name, func(t *testing.T) {
			e.Context.RequestID = "gateway-1"
			got := invoke(t, http.NotFoundHandler(), Stream, e)
			if got.Status != http.StatusBadRequest || got.Header.Get("X-Request-Id") != "gateway-1" ||
				got.Body != `{"error":{"code":"invalid_request","message":"the request is malformed","request_id":"gateway-1"}}` {
				t.Errorf("%+v, want 400 with the gateway's request ID", got)
			}
		})
	}
}
