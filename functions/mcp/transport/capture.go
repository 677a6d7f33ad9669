package transport

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// capture buffers the answer of the SDK until it is known what becomes of it. A stream of events passes through as it
// is written, because its client reads it at the same time.
type capture struct {
	to     http.ResponseWriter
	asked  *http.Request
	header http.Header
	code   int
	stream bool
	body   bytes.Buffer
}

func newCapture(w http.ResponseWriter, r *http.Request) *capture {
	return &capture{to: w, asked: r, header: http.Header{}}
}

// Header implements http.ResponseWriter.
func (c *capture) Header() http.Header { return c.header }

// WriteHeader implements http.ResponseWriter.
func (c *capture) WriteHeader(code int) {
	if c.code != 0 {
		return
	}
	c.code = code
	if code != http.StatusOK || !strings.HasPrefix(c.header.Get("Content-Type"), streamType) {
		return
	}
	c.stream = true
	c.echoSession()
	c.to.Header().Set("Content-Type", streamType+"; charset=utf-8")
	c.to.Header().Set("Cache-Control", "no-cache, no-transform")
	c.to.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (c *capture) Write(b []byte) (int, error) {
	c.WriteHeader(http.StatusOK)
	if c.stream {
		return c.to.Write(b)
	}
	return c.body.Write(b)
}

// Flush implements http.Flusher.
func (c *capture) Flush() {
	if c.stream {
		_ = http.NewResponseController(c.to).Flush() // a failure means that the client left
	}
}

const streamType = "text/event-stream"

// sessionHeader has no meaning for a stateless server, but older clients expect it back.
const sessionHeader = "Mcp-Session-Id"

// answer writes the buffered answer. It returns a failure instead if the answer is not JSON-RPC, or larger than a
// function may answer.
func (c *capture) answer() *Failure {
	if c.stream {
		return nil
	}
	body := plain(c.body.Bytes())
	if !strings.HasPrefix(c.header.Get("Content-Type"), "application/json") && c.code != http.StatusOK {
		return &Failure{
			Status:  http.StatusBadRequest,
			Code:    CodeInvalidParams,
			Reason:  "invalid_params",
			Message: strings.TrimSpace(string(body)),
		}
	}
	status, f := c.status(body)
	if f != nil {
		return f
	}
	if size, _ := limits.FunctionBody(body); size > MaxAnswer {
		return tooLargeAnswer()
	}
	c.echoSession()
	send(c.to, status, body)
	return nil
}

func (c *capture) echoSession() {
	if session := c.asked.Header.Get(sessionHeader); session != "" {
		c.to.Header().Set(sessionHeader, session)
	}
}

// status returns the HTTP status of an answer. The SDK answers some errors with 200, and most without the members that
// every error of this service has. status returns those as failures.
func (c *capture) status(body []byte) (int, *Failure) {
	if !isError(body) {
		return c.code, nil
	}
	var answer struct {
		Error struct {
			Code    int
			Message string
			Data    *struct{ Code fault.Code }
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return 0, FromFault(err)
	}
	e := answer.Error
	switch {
	case e.Data == nil:
		return 0, fromSDK(e.Code, e.Message)
	case c.code != http.StatusOK:
		return c.code, nil
	case e.Code == CodeMethodNotFound:
		return http.StatusNotFound, nil
	case e.Code == CodeInternal:
		return http.StatusInternalServerError, nil
	case e.Code == CodeServer:
		return web.Status(e.Data.Code), nil
	}
	return http.StatusBadRequest, nil
}

// isError reports whether a JSON-RPC answer is an error. It does not decode the result.
func isError(body []byte) bool {
	d := json.NewDecoder(bytes.NewReader(body))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil || name == "result" || name == "error" {
			return name == "error"
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return false
		}
	}
	return false
}

// mostMessage is how many bytes of an SDK message a client gets. It is bounded, because those messages quote what was
// sent.
const mostMessage = 300

// fromSDK converts an error of the SDK. The SDK sets no code for errors that it finds before it calls a handler.
func fromSDK(code int, message string) *Failure {
	if code == CodeInternal {
		return FromFault(errors.New(message))
	}
	if len(message) > mostMessage {
		message = strings.ToValidUTF8(message[:mostMessage], "") + "…"
	}
	f := invalid("invalid_params", message)
	switch code {
	case CodeMethodNotFound:
		f.Status, f.Reason = http.StatusNotFound, "method_not_found"
	case CodeHeaderMismatch:
		f.Reason = "header_mismatch"
	}
	if code != 0 {
		f.Code = code
	}
	return f
}

// plain replaces JSON escapes that only HTML needs by the characters themselves, in place. No browser takes the answer
// for HTML, and the escapes would make a page up to six times as long.
func plain(body []byte) []byte {
	if !bytes.Contains(body, []byte(`\u00`)) {
		return body
	}
	out := body[:0]
	for i := 0; i < len(body); i++ {
		if body[i] != '\\' || i+1 == len(body) {
			out = append(out, body[i])
			continue
		}
		if c := unescaped(body[i:]); c != 0 {
			out = append(out, c)
			i += len(`\u0000`) - 1
			continue
		}
		out = append(out, body[i], body[i+1])
		i++
	}
	return out
}

// unescaped returns the character of an escape that only HTML needs; 0 for any other escape.
func unescaped(escape []byte) byte {
	if len(escape) < len(`\u0000`) {
		return 0
	}
	switch string(escape[:len(`\u0000`)]) {
	case `\u003c`:
		return '<'
	case `\u003e`:
		return '>'
	case `\u0026`:
		return '&'
	}
	return 0
}

func tooLargeAnswer() *Failure {
	return &Failure{
		Status:  http.StatusBadRequest,
		Code:    CodeServer,
		Reason:  "answer_too_large",
		Message: "the answer is larger than one message can be; read less at a time, or the file by its URL",
	}
}

// encode encodes an answer like every host does.
func encode(v any) ([]byte, error) { return contract.Encode(v) }
