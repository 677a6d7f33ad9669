package gateway

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-lambda-go/events"
)

// Answer has the fields of the answers of all kinds. One that is streamed has no Body.
type Answer events.APIGatewayV2HTTPResponse

// StreamMedia is the media type of an answer that is streamed: a prelude of status and headers, 8 NULs, and the body.
const StreamMedia = "application/vnd.awslambda.http-integration-response"

const maxPrelude = 64 << 10 // bytes

var (
	errMalformed = errors.New("the function's answer is not one that API Gateway understands")
	delimiter    = make([]byte, 8)
)

// Whole reads an answer that has come as a whole, and decodes its body.
func Whole(raw []byte) (*Answer, error) {
	a, err := parse(raw)
	if err != nil || !a.IsBase64Encoded {
		return a, err
	}
	body, err := base64.StdEncoding.DecodeString(a.Body)
	if err != nil {
		return nil, fmt.Errorf("%w: its body is no base64", errMalformed)
	}
	a.Body = string(body)
	return a, nil
}

// Streamed reads the prelude of an answer that is streamed; body is what follows.
func Streamed(from io.Reader) (a *Answer, body io.Reader, err error) {
	r := bufio.NewReader(from)
	var prelude []byte
	for !bytes.HasSuffix(prelude, delimiter) {
		b, err := r.ReadByte()
		if err != nil {
			return nil, nil, fmt.Errorf("the answer ended before its prelude did: %w", err)
		}
		if prelude = append(prelude, b); len(prelude) > maxPrelude {
			return nil, nil, fmt.Errorf("%w: its prelude has no end", errMalformed)
		}
	}
	a, err = parse(bytes.TrimSuffix(prelude, delimiter))
	return a, r, err
}

func parse(raw []byte) (*Answer, error) {
	a := new(Answer)
	if err := json.Unmarshal(raw, a); err != nil {
		return nil, fmt.Errorf("%w: it is no JSON object of that shape", errMalformed)
	}
	if a.StatusCode < 200 || a.StatusCode > 599 {
		return nil, fmt.Errorf("%w: its status is %d", errMalformed, a.StatusCode)
	}
	return a, nil
}

// send writes a complete answer. It recomputes the length, where there is a body.
func (e *exchange) send(a *Answer) {
	e.sendHead(a)
	h := e.w.Header()
	if e.r.Method != http.MethodHead && a.StatusCode != http.StatusNotModified {
		h.Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	if a.StatusCode == http.StatusNoContent {
		h.Del("Content-Length")
	}
	e.w.WriteHeader(a.StatusCode)
	if e.r.Method != http.MethodHead {
		_, _ = io.WriteString(e.w, a.Body) // the client may have gone
	}
}

// Headers of a function that do not get out under their name, by AWS's "important notes" on API Gateway.
var (
	remapped = []string{"Authorization", "Connection", "Content-Md5", "Date", "Max-Forwards", "Server", "User-Agent",
		"Www-Authenticate"}
	dropped = []string{"Expect", "Host", "Keep-Alive", "Proxy-Authenticate", "Te", "Trailer", "Transfer-Encoding",
		"Upgrade"}
)

// sendHead sets the headers of an answer: first renamed as API Gateway does, then mapped as the
// integration says.
func (e *exchange) sendHead(a *Answer) {
	sent := e.sent(a)
	h := e.w.Header()
	for name, values := range sent {
		switch {
		case slices.Contains(dropped, name):
		case slices.Contains(remapped, name):
			h["x-amzn-Remapped-"+name] = values
		default:
			h[name] = values
		}
	}
	if _, typed := sent["Content-Type"]; !typed {
		h["Content-Type"] = e.untyped(a.StatusCode)
	}
	for _, m := range e.route.Mappings {
		if value := strings.Join(sent.Values(m.From), ","); m.Status == a.StatusCode && value != "" {
			h.Set(m.Header, value)
		}
	}
}

// untyped returns the media type of an answer that names none: JSON for REST APIs, text for HTTP
// APIs.
func (e *exchange) untyped(status int) []string {
	switch {
	case status == http.StatusNoContent || status == http.StatusNotModified:
		return nil
	case e.API.REST:
		return []string{"application/json"}
	}
	return []string{"text/plain;charset=utf-8"}
}

// sent returns the headers of the function by canonical name. Several values of a header, which REST APIs take, come
// before a single one.
func (e *exchange) sent(a *Answer) http.Header {
	h := http.Header{}
	for name, value := range a.Headers {
		h.Set(name, value)
	}
	if e.API.REST {
		for name, values := range a.MultiValueHeaders {
			h[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
	}
	for _, cookie := range a.Cookies {
		h.Add("Set-Cookie", cookie)
	}
	return h
}
