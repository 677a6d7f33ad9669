package gateway

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/internal/localapi/runtime"
	"vitrine/scripts/internal/localapi/template"
)

var update = flag.Bool("update", false, "write the golden events anew")

// oddRequest returns a request with everything that gateways treat specially.
func oddRequest() *http.Request {
	r := httptest.NewRequest("POST", "http://shop.example:8701/things/a%2Fb/c%20%C3%A9%3F%23/100%25?x=1&x=%26&y&z=a+b",
		strings.NewReader(`{"a":"é"}`))
	r.RemoteAddr = "192.0.2.7:1234"
	r.Header = http.Header{
		"Content-Type":    {"application/json; charset=utf-8"},
		"Accept":          {"text/html", "text/plain"},
		"If-None-Match":   {`"a,b", W/"c"`},
		"Cookie":          {`a=1; b="two; words"`, "c=3"},
		"X-Forwarded-For": {"198.51.100.1, 198.51.100.2"},
		"Connection":      {"keep-alive"},
		"Expect":          {"100-continue"},
		"User-Agent":      {"test"},
		"Authorization":   {"Bearer x"},
	}
	return r
}

func TestEventsHaveTheShapeOfAWS(t *testing.T) {
	for name, a := range map[string]*template.API{"http": httpAPI(), "rest": restAPI("/things/{proxy+}")} {
		f := &fakeFunction{err: runtime.ErrThrottled}
		w := serve(a, f, oddRequest())
		var got map[string]any
		if err := json.Unmarshal(f.event, &got); err != nil {
			t.Fatal(err)
		}
		constant(got, w.Header().Get("Apigw-Requestid")+w.Header().Get("x-amzn-RequestId"))
		golden(t, name+".json", got)
	}
}

// constant replaces what differs from request to request.
func constant(v map[string]any, id string) {
	for name, value := range v {
		switch value := value.(type) {
		case map[string]any:
			constant(value, id)
		case string:
			if value == id {
				v[name] = "ID"
			}
		case float64:
			if strings.HasSuffix(name, "Epoch") {
				v[name] = 0
			}
		}
		if name == "time" || name == "requestTime" {
			v[name] = "TIME"
		}
		if strings.EqualFold(name, "x-amzn-trace-id") {
			v[name] = "TRACE"
		}
	}
}

func golden(t *testing.T, name string, got any) {
	t.Helper()
	text, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)+"\n"); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// The body of an HTTP API is text by its media type; that of a REST API always is.
func TestBodiesAreTextOrBase64(t *testing.T) {
	for name, c := range map[string]struct {
		contentType, body string
		http, rest        string // the body in the event
	}{
		"nothing":           {"", "", "", ""},
		"JSON":              {"application/json", "{}", "{}", "{}"},
		"a problem":         {"application/problem+json; charset=utf-8", "{}", "{}", "{}"},
		"XML":               {"image/svg+xml", "<a/>", "base64 PGEvPg==", "<a/>"},
		"text":              {"text/csv", "a", "a", "a"},
		"a form":            {"application/x-www-form-urlencoded", "a=b", "base64 YT1i", "a=b"},
		"no type":           {"", "a", "base64 YQ==", "a"},
		"bytes called text": {"text/plain", "\xff\xfe", "base64 //4=", "\ufffd\ufffd"},
	} {
		t.Run(name, func(t *testing.T) {
			for a, want := range map[*template.API]string{httpAPI(): c.http, restAPI("/"): c.rest} {
				f := &fakeFunction{err: runtime.ErrThrottled}
				r := httptest.NewRequest("POST", "/", strings.NewReader(c.body))
				r.Header.Set("Content-Type", c.contentType)
				serve(a, f, r)
				var e events.APIGatewayProxyRequest
				if err := json.Unmarshal(f.event, &e); err != nil {
					t.Fatal(err)
				}
				if e.IsBase64Encoded {
					e.Body = "base64 " + e.Body
				}
				if e.Body != want {
					t.Errorf("%s: %q, want %q", a.ID, e.Body, want)
				}
			}
		})
	}
}

// A body of markup takes no more room in an event than on the wire, as at AWS, so that it counts once against the
// limit of an event.
func TestMarkupIsNotEscaped(t *testing.T) {
	const length = 4 << 20
	body := strings.Repeat("<", length)
	for _, a := range []*template.API{httpAPI(), restAPI("/")} {
		f := &fakeFunction{err: runtime.ErrThrottled}
		r := httptest.NewRequest("POST", "/?a=<&b=>", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Markup", "<&>")
		serve(a, f, r)
		var e events.APIGatewayProxyRequest
		if err := json.Unmarshal(f.event, &e); err != nil || e.Body != body {
			t.Errorf("%s: a body of %d bytes arrives, %v", a.ID, len(e.Body), err)
		}
		if len(f.event) > length+4<<10 || bytes.Contains(f.event, []byte(`\u003c`)) {
			t.Errorf("%s: the event has %d bytes", a.ID, len(f.event))
		}
	}
}
