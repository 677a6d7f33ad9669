package gateway

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"vitrine/scripts/internal/localapi/template"
)

// head is the part of an answer that precedes or describes its body.
type head struct {
	StatusCode        int                 `json:"statusCode"`
	Headers           map[string]scalar   `json:"headers"`
	MultiValueHeaders map[string][]scalar `json:"multiValueHeaders"` // REST APIs only
	Cookies           []string            `json:"cookies"`           // HTTP APIs and streaming REST APIs only
}

// answer is a complete answer.
type answer struct {
	head
	Body            string `json:"body"`
	IsBase64Encoded bool   `json:"isBase64Encoded"`
}

// scalar is a string, or the literal of a number or a boolean.
type scalar string

// UnmarshalJSON implements json.Unmarshaler.
func (s *scalar) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && strings.IndexByte(`[{`, b[0]) >= 0 {
		return errors.New("a header is no text")
	}
	if b[0] != '"' {
		*s = scalar(b)
		return nil
	}
	return json.Unmarshal(b, (*string)(s))
}

var errMalformed = errors.New("the function's answer is not one that API Gateway understands")

// decode reads the answer of a function. An HTTP API takes any other JSON as the body of a 200.
func (x *exchange) decode(raw []byte) (*answer, error) {
	a := new(answer)
	var inferred map[string]json.RawMessage
	if !x.API.REST && json.Valid(raw) && (json.Unmarshal(raw, &inferred) != nil || inferred["statusCode"] == nil) {
		a.StatusCode = http.StatusOK
		a.Headers = map[string]scalar{"content-type": "application/json"}
		a.Body = string(raw)
		var text string
		if json.Unmarshal(raw, &text) == nil {
			a.Body = text
		}
		return a, nil
	}
	if err := json.Unmarshal(raw, a); err != nil {
		return nil, fmt.Errorf("%w: it is no JSON object of that shape", errMalformed)
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	if a.IsBase64Encoded && (!x.API.REST || x.acceptsBytes()) {
		body, err := base64.StdEncoding.DecodeString(a.Body)
		if err != nil {
			return nil, fmt.Errorf("%w: its body is no base64", errMalformed)
		}
		a.Body = string(body)
	}
	return a, nil
}

func (h *head) check() error {
	if h.StatusCode < 200 || h.StatusCode > 599 {
		return fmt.Errorf("%w: its status is %d", errMalformed, h.StatusCode)
	}
	return nil
}

// send writes a complete answer. It recomputes the length, where there is a body.
func (x *exchange) send(a *answer) {
	x.sendHead(&a.head)
	h := x.w.Header()
	if x.r.Method != http.MethodHead && a.StatusCode != http.StatusNotModified {
		h.Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	if a.StatusCode == http.StatusNoContent {
		h.Del("Content-Length")
	}
	x.w.WriteHeader(a.StatusCode)
	if x.r.Method != http.MethodHead {
		_, _ = x.w.Write([]byte(a.Body)) // the client may have gone
	}
}

// sendHead sets the headers of an answer: first renamed as API Gateway does, then mapped as the
// integration says.
func (x *exchange) sendHead(a *head) {
	sent := x.sent(a)
	h := x.w.Header()
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
		h["Content-Type"] = x.untyped(a.StatusCode)
	}
	for _, m := range x.route.Mappings {
		if m.Status == a.StatusCode {
			apply(m, h, sent)
		}
	}
}

// untyped returns the media type of an answer that names none: JSON for REST APIs, text for HTTP
// APIs.
func (x *exchange) untyped(status int) []string {
	switch {
	case status == http.StatusNoContent || status == http.StatusNotModified:
		return nil
	case x.API.REST:
		return []string{"application/json"}
	}
	return []string{"text/plain;charset=utf-8"}
}

// sent returns the headers of the function by canonical name. Several values of a header take
// precedence over a single one.
func (x *exchange) sent(a *head) http.Header {
	h := http.Header{}
	for name, value := range a.Headers {
		h.Set(name, string(value))
	}
	if x.API.REST {
		for name, values := range a.MultiValueHeaders {
			h.Del(name)
			for _, v := range values {
				h.Add(name, string(v))
			}
		}
	}
	if !x.API.REST || x.route.Stream {
		for _, cookie := range a.Cookies {
			h.Add("Set-Cookie", cookie)
		}
	}
	return h
}

// Headers of a function that do not get out under their name, by AWS's "important notes" on API Gateway.
var (
	remapped = []string{"Authorization", "Connection", "Content-Md5", "Date", "Max-Forwards", "Server", "User-Agent",
		"Www-Authenticate"}
	dropped = []string{"Expect", "Host", "Keep-Alive", "Proxy-Authenticate", "Te", "Trailer", "Transfer-Encoding",
		"Upgrade"}
)

// apply changes one header. A mapping whose source is missing has no effect.
func apply(m template.Mapping, h, sent http.Header) {
	value := m.Text
	if m.From != "" {
		value = strings.Join(sent.Values(m.From), ",")
	}
	switch {
	case m.Action == "remove":
		h.Del(m.Header)
	case value == "":
	case m.Action == "append":
		h.Add(m.Header, value)
	default:
		h.Set(m.Header, value)
	}
}
