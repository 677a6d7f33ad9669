package lambdahttp

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
)

// answer is a whole answer.
type answer struct {
	status int
	header http.Header
	body   bytes.Buffer
}

// buffer lets the handler answer into memory. Of an answer that did not get whole nothing has gone out yet, so that it
// becomes a failure that says so.
func (x exchange) buffer() *answer {
	a := new(answer)
	w := newWriter(x.request.Method, &a.body, func(status int, h http.Header) { a.status, a.header = status, h })
	if err := x.run(w); err != nil {
		a.body.Reset()
		x.fail(w)
	}
	return a
}

// text is the body as the gateway takes it: bytes that are no text in base64.
func (a *answer) text() (body string, isBase64 bool) {
	if utf8.Valid(a.body.Bytes()) {
		return a.body.String(), false
	}
	return base64.StdEncoding.EncodeToString(a.body.Bytes()), true
}

// httpAPI is the answer in payload format 2.0, which has one value a header, and cookies apart.
func (a *answer) httpAPI() events.APIGatewayV2HTTPResponse {
	out := events.APIGatewayV2HTTPResponse{StatusCode: a.status, Headers: map[string]string{}, Cookies: a.header["Set-Cookie"]}
	for name, values := range a.header {
		if name != "Set-Cookie" {
			out.Headers[name] = strings.Join(values, ", ")
		}
	}
	out.Body, out.IsBase64Encoded = a.text()
	return out
}

// restAPI is the answer for a REST API. It has to take all media types as binary, or it sends base64 on as it is.
func (a *answer) restAPI() events.APIGatewayProxyResponse {
	out := events.APIGatewayProxyResponse{StatusCode: a.status, MultiValueHeaders: a.header}
	out.Body, out.IsBase64Encoded = a.text()
	return out
}
