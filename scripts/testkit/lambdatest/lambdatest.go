// Package lambdatest invokes a Lambda function in tests and reads its answer as API Gateway does.
package lambdatest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

// MaxAnswer is the longest answer, in bytes, that the Lambda runtime takes from a function that
// does not stream.
const MaxAnswer = 6_291_556

// Reply is the answer as a client gets it, for every kind of event.
type Reply struct {
	Status int
	Header http.Header
	Body   string // decoded
	Base64 bool   // whether the function sent the body in base64
}

// String prints a reply without the headers that an HTTP server and a gateway add themselves.
func (r Reply) String() string {
	names := make([]string, 0, len(r.Header))
	for name := range r.Header {
		names = append(names, name)
	}
	slices.Sort(names)
	var b strings.Builder
	fmt.Fprintln(&b, r.Status)
	for _, name := range names {
		if name != "Date" && name != "Content-Length" && name != "Connection" {
			fmt.Fprintf(&b, "%s: %s\n", name, strings.Join(r.Header[name], ", "))
		}
	}
	return b.String() + "\n" + r.Body
}

// Answer returns the bytes that the runtime gets for an event, which is sent as JSON.
func Answer(t testing.TB, h lambda.Handler, event any) []byte {
	t.Helper()
	payload, raw := event.([]byte)
	if !raw {
		var err error
		if payload, err = json.Marshal(event); err != nil {
			t.Fatal(err)
		}
	}
	out, err := h.Invoke(t.Context(), payload)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Invoke sends an event, as a []byte or as a value that JSON encodes, and returns the reply. An answer that the runtime
// would refuse fails the test.
func Invoke(t testing.TB, h lambda.Handler, event any) Reply {
	t.Helper()
	out := Answer(t, h, event)
	if _, _, streamed := bytes.Cut(out, separator); !streamed && len(out) > MaxAnswer {
		t.Fatalf("Function.ResponseSizeTooLarge: %d bytes", len(out))
	}
	return Parse(t, out)
}

// separator is between the prelude and the body of a streamed answer.
var separator = make([]byte, 8)

// Parse reads an answer: a prelude, eight NULs and the body, or one JSON object.
func Parse(t testing.TB, out []byte) Reply {
	t.Helper()
	var raw events.APIGatewayV2HTTPResponse // has the fields of all kinds
	prelude, body, streamed := bytes.Cut(out, separator)
	if err := json.Unmarshal(prelude, &raw); err != nil {
		t.Fatalf("%v: %q", err, out)
	}
	got := Reply{
		Status: raw.StatusCode,
		Header: http.Header{},
		Body:   raw.Body,
		Base64: raw.IsBase64Encoded,
	}
	for name, value := range raw.Headers {
		got.Header.Set(name, value)
	}
	for name, values := range raw.MultiValueHeaders {
		got.Header[name] = values
	}
	for _, cookie := range raw.Cookies {
		got.Header.Add("Set-Cookie", cookie)
	}
	if streamed {
		got.Body = string(body)
	}
	if raw.IsBase64Encoded {
		decoded, err := base64.StdEncoding.DecodeString(raw.Body)
		if err != nil {
			t.Fatal(err)
		}
		got.Body = string(decoded)
	}
	return got
}
