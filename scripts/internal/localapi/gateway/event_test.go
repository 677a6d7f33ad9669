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
	for name, a := range map[string]*template.API{
		"http": httpAPI(&template.Route{
			Key:     "POST /things/{id}/{rest+}",
			Method:  "POST",
			Path:    "/things/{id}/{rest+}",
			Timeout: 1e9,
		}),
		"rest": restAPI(&template.Route{
			Key:     "/things/{id}/{rest+}",
			Method:  "POST",
			Path:    "/things/{id}/{rest+}",
			Timeout: 1e9,
		}),
	} {
		f := &fakeFunction{answer: `{"statusCode":200}`}
		w := serve(a, f, oddRequest())
		if w.Code != http.StatusOK {
			t.Fatal(w.Code, w.Body)
		}
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

func TestTheEventOfAnHTTPAPIHoldsNoMoreThanTheLibraryKnows(t *testing.T) {
	f := &fakeFunction{answer: `{"statusCode":200}`}
	serve(httpAPI(catchAll()), f, oddRequest())
	d := json.NewDecoder(bytes.NewReader(f.event))
	d.DisallowUnknownFields()
	if err := d.Decode(new(events.APIGatewayV2HTTPRequest)); err != nil {
		t.Error(err)
	}
}

func TestBodiesAreTextOrBase64(t *testing.T) {
	for name, c := range map[string]struct {
		contentType, body string
		binary            []string
		http, rest        string // the body in the event; rest may be null
	}{
		"nothing":             {"", "", nil, "", "null"},
		"JSON":                {"application/json", "{}", nil, "{}", "{}"},
		"a problem":           {"application/problem+json; charset=utf-8", "{}", nil, "{}", "{}"},
		"XML":                 {"image/svg+xml", "<a/>", nil, "base64 PGEvPg==", "<a/>"},
		"text":                {"text/csv", "a", nil, "a", "a"},
		"a form":              {"application/x-www-form-urlencoded", "a=b", nil, "base64 YT1i", "a=b"},
		"no type":             {"", "a", nil, "base64 YQ==", "a"},
		"bytes called text":   {"text/plain", "\xff\xfe", nil, "base64 //4=", "\ufffd\ufffd"},
		"binary by type":      {"image/png", "a", []string{"image/png"}, "base64 YQ==", "base64 YQ=="},
		"binary of all types": {"application/json", "{}", []string{"*/*"}, "{}", "base64 e30="},
	} {
		t.Run(name, func(t *testing.T) {
			for kind, a := range map[string]*template.API{"http": httpAPI(catchAll()), "rest": restAPI(catchAll())} {
				a.BinaryTypes = c.binary
				f := &fakeFunction{answer: `{"statusCode":200}`}
				r := httptest.NewRequest("POST", "/", strings.NewReader(c.body))
				r.Header.Set("Content-Type", c.contentType)
				serve(a, f, r)
				var e struct {
					Body            *string
					IsBase64Encoded bool
				}
				if err := json.Unmarshal(f.event, &e); err != nil {
					t.Fatal(err)
				}
				got := ""
				if e.Body != nil {
					got = *e.Body
				} else if kind == "rest" {
					got = "null"
				}
				if e.IsBase64Encoded {
					got = "base64 " + got
				}
				if want := map[string]string{"http": c.http, "rest": c.rest}[kind]; got != want {
					t.Errorf("%s: %q, want %q", kind, got, want)
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
	for kind, a := range map[string]*template.API{"http": httpAPI(catchAll()), "rest": restAPI(catchAll())} {
		f := &fakeFunction{answer: `{"statusCode":200}`}
		r := httptest.NewRequest("POST", "/?a=<&b=>", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Markup", "<&>")
		serve(a, f, r)
		var e struct {
			Body    string
			Headers map[string]string
		}
		if err := json.Unmarshal(f.event, &e); err != nil || e.Body != body {
			t.Errorf("%s: a body of %d bytes arrives, %v", kind, len(e.Body), err)
		}
		if len(f.event) > length+4<<10 || bytes.Contains(f.event, []byte(`\u003c`)) {
			t.Errorf("%s: the event has %d bytes", kind, len(f.event))
		}
	}
}
