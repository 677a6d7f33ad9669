package lambdahttp

import (
	"bytes"
	"encoding/base64"
	"log/slog"
	"net/http"
	"strings"

	"github.com/aws/aws-lambda-go/events"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// answer is a complete answer.
type answer struct {
	status int
	header http.Header
	body   bytes.Buffer
}

// encoding converts an answer for one kind of gateway. The body is a plain string, or base64.
type encoding func(a *answer, body string, inBase64 bool) any

// buffer collects the answer in memory. An incomplete answer, or one that is longer than Lambda accepts, becomes an
// error answer. That is possible because no byte has been sent yet.
func (e exchange) buffer(f encoding) any {
	a := new(answer)
	w := newWriter(e.request.Method, &a.body, func(status int, h http.Header) { a.status, a.header = status, h })
	if err := e.run(w); err != nil {
		a.body.Reset()
		e.fail(w, string(fault.Internal))
	}
	out, size := a.in(f)
	if size > limits.FunctionAnswer {
		slog.ErrorContext(e.request.Context(), "answer too long", "bytes", a.body.Len(), "encoded", size)
		a.body.Reset()
		e.fail(w, "the answer is longer than this host can send; fetch files by the url that the agent view names")
		out, _ = a.in(f)
	}
	return out
}

// in encodes the answer, and returns its size in bytes of JSON.
func (a *answer) in(f encoding) (out any, size int) {
	size, inBase64 := limits.FunctionBody(a.body.Bytes())
	frame, err := contract.Encode(f(a, "", inBase64))
	if err != nil {
		panic(err) // strings always marshal
	}
	body := ""
	if inBase64 {
		body = base64.StdEncoding.EncodeToString(a.body.Bytes())
	} else {
		body = a.body.String()
	}
	return f(a, body, inBase64), size + len(frame) - len("\n")
}

// httpAPI encodes for payload format 2.0, which has one value for each header and lists cookies separately.
func httpAPI(a *answer, body string, inBase64 bool) any {
	out := events.APIGatewayV2HTTPResponse{
		StatusCode:      a.status,
		Headers:         map[string]string{},
		Cookies:         a.header["Set-Cookie"],
		Body:            body,
		IsBase64Encoded: inBase64,
	}
	for name, values := range a.header {
		if name != "Set-Cookie" {
			out.Headers[name] = strings.Join(values, ", ")
		}
	}
	return out
}

// restAPI encodes for a REST API. The API must be configured to treat all media types as binary, or it sends base64 to
// the client undecoded.
func restAPI(a *answer, body string, inBase64 bool) any {
	return events.APIGatewayProxyResponse{
		StatusCode:        a.status,
		MultiValueHeaders: a.header,
		Body:              body,
		IsBase64Encoded:   inBase64,
	}
}
