package lambdahttp

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"
)

// reply is what a client gets, whatever the kind of the event.
type reply struct {
	status int
	header http.Header
	body   string
	base64 bool
}

// invoke sends an event through the adapter as the Lambda runtime does.
func invoke(t *testing.T, h http.Handler, m Mode, e event) reply {
	t.Helper()
	payload, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	return invokeRaw(t, h, m, payload)
}

func invokeFile(t *testing.T, h http.Handler, m Mode, name string) reply {
	t.Helper()
	payload, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return invokeRaw(t, h, m, payload)
}

func invokeRaw(t *testing.T, h http.Handler, m Mode, payload []byte) reply {
	t.Helper()
	out, err := lambda.NewHandler(adapter{handler: h, mode: m}.serve).Invoke(t.Context(), payload)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, streamed := bytes.Cut(out, make([]byte, 8)); !streamed && len(out) > runtimeMost {
		t.Fatalf("Function.ResponseSizeTooLarge: %d bytes", len(out))
	}
	return parseReply(t, out)
}

// runtimeMost is the longest answer that the Lambda runtime takes from a function that does not stream.
const runtimeMost = 6_291_556

// parseReply reads an answer as the gateway does: a prelude, eight NULs and the body, or one JSON object.
func parseReply(t *testing.T, out []byte) reply {
	t.Helper()
	var raw struct {
		StatusCode        int
		Headers           map[string]string
		MultiValueHeaders map[string][]string
		Cookies           []string
		Body              string
		IsBase64Encoded   bool
	}
	prelude, body, streamed := bytes.Cut(out, make([]byte, 8))
	if err := json.Unmarshal(prelude, &raw); err != nil {
		t.Fatalf("%v: %q", err, out)
	}
	got := reply{status: raw.StatusCode, header: http.Header{}, body: raw.Body, base64: raw.IsBase64Encoded}
	for name, value := range raw.Headers {
		got.header.Set(name, value)
	}
	for name, values := range raw.MultiValueHeaders {
		got.header[name] = values
	}
	for _, cookie := range raw.Cookies {
		got.header.Add("Set-Cookie", cookie)
	}
	if streamed {
		got.body = string(body)
	}
	if raw.IsBase64Encoded {
		decoded, err := base64.StdEncoding.DecodeString(raw.Body)
		if err != nil {
			t.Fatal(err)
		}
		got.body = string(decoded)
	}
	return got
}

func httpAPIEvent(method, path string) event {
	e := event{Version: "2.0", RawPath: path, Headers: map[string]string{"host": "api.vitrine.example"}}
	e.Context.DomainName, e.Context.RequestID = "api.vitrine.example", "gateway-1"
	e.Context.HTTP.Method, e.Context.HTTP.SourceIP = method, "203.0.113.24"
	return e
}

func restEvent(method, path string) event {
	e := event{Method: method, Path: path, AllHeaders: map[string][]string{"Host": {"content.vitrine.example"}}}
	e.Context.DomainName, e.Context.RequestID = "content.vitrine.example", "gateway-1"
	e.Context.Identity.SourceIP = "203.0.113.24"
	return e
}

// streamOf starts a streamed answer to GET / that the test reads by itself.
func streamOf(t *testing.T, ctx context.Context, h http.HandlerFunc) (status int, body io.ReadCloser) {
	t.Helper()
	abandon := func() { t.Error("the function ends itself") }
	return abandonable(t, ctx, h, abandon)
}

// abandonable is streamOf with what ends the function.
func abandonable(t *testing.T, ctx context.Context, h http.HandlerFunc, abandon func()) (status int, body io.ReadCloser) {
	t.Helper()
	out, err := adapter{handler: h, mode: Stream, abandon: abandon}.serve(ctx, restEvent("GET", "/"))
	if err != nil {
		t.Fatal(err)
	}
	body = out.(io.ReadCloser)
	return preludeOf(t, body), body
}

// preludeOf reads up to the body.
func preludeOf(t *testing.T, r io.Reader) int {
	t.Helper()
	var prelude []byte
	one := make([]byte, 1)
	for !bytes.HasSuffix(prelude, make([]byte, 8)) {
		if _, err := io.ReadFull(r, one); err != nil {
			t.Fatal(err)
		}
		prelude = append(prelude, one[0])
	}
	return parseReply(t, prelude).status
}
