package lambdahttp

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// writer follows the rules of net/http. The first final status counts, with the headers of that moment. Informational
// ones are dropped. Answers to HEAD, with 204 or with 304 have no body. A body is no longer than its Content-Length.
type writer struct {
	method string
	body   io.Writer
	// begin is called once: before the first byte of the body, on a flush, or at the end.
	begin func(status int, h http.Header)

	header     http.Header // what the handler sets
	status     int         // 0: not set yet
	sentHeader http.Header // a copy of header as it is sent
	length     int64       // Content-Length, -1 if there is none
	written    int64
	begun      bool
}

func newWriter(method string, body io.Writer, begin func(int, http.Header)) *writer {
	return &writer{
		method: method,
		body:   body,
		begin:  begin,
		header: http.Header{},
		length: -1,
	}
}

// reset discards an answer of which no byte has been sent.
func (w *writer) reset() { *w = *newWriter(w.method, w.body, w.begin) }

// Header implements http.ResponseWriter.
func (w *writer) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter. It panics where net/http does.
func (w *writer) WriteHeader(status int) {
	if status < 100 || status > 999 {
		panic("invalid status " + strconv.Itoa(status))
	}
	if w.status != 0 || status < http.StatusOK {
		return
	}
	w.status, w.sentHeader = status, outgoing(status, w.header)
	if n, err := strconv.ParseInt(w.sentHeader.Get("Content-Length"), 10, 64); err == nil {
		w.length = n
	}
}

// outgoing returns a copy of the handler's headers as net/http would send them, with the challenge repeated.
func outgoing(status int, h http.Header) http.Header {
	h = h.Clone()
	for name, values := range h {
		for i := range values {
			values[i] = oneLine.Replace(values[i])
		}
		if len(values) == 0 {
			delete(h, name)
		}
	}
	if challenge := h.Values("WWW-Authenticate"); len(challenge) > 0 {
		h[Challenge] = challenge
	}
	if !mayHaveBody(status) {
		h.Del("Content-Length")
	}
	if status == http.StatusNotModified {
		h.Del("Content-Type")
	}
	return h
}

// oneLine replaces line breaks in header values by spaces, as net/http does.
var oneLine = strings.NewReplacer("\r", " ", "\n", " ")

// Write implements http.ResponseWriter.
func (w *writer) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if !mayHaveBody(w.status) {
		return 0, http.ErrBodyNotAllowed
	}
	if w.written += int64(len(b)); w.length >= 0 && w.written > w.length {
		return 0, http.ErrContentLength
	}
	w.start(b)
	if w.method == http.MethodHead {
		return len(b), nil
	}
	return w.body.Write(b)
}

func mayHaveBody(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}

// start sends status and headers, once. Like net/http, it detects the type of a body that has none.
func (w *writer) start(first []byte) {
	if w.begun {
		return
	}
	w.begun = true
	_, typed := w.header["Content-Type"]
	if !typed && len(first) > 0 && w.sentHeader.Get("Content-Encoding") == "" {
		w.sentHeader.Set("Content-Type", http.DetectContentType(first))
	}
	w.begin(w.status, w.sentHeader)
}

// Flush implements http.Flusher. It sends the headers; bytes of the body are never held back.
func (w *writer) Flush() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.start(nil)
}

// SetWriteDeadline implements what http.ResponseController calls. It has no effect on a buffered body, to which writes
// never wait.
func (w *writer) SetWriteDeadline(t time.Time) error {
	if body, ok := w.body.(*pipe); ok {
		return body.SetWriteDeadline(t)
	}
	return http.ErrNotSupported
}

// finish completes the answer after the handler has returned.
func (w *writer) finish() error {
	w.Flush()
	if w.method != http.MethodHead && mayHaveBody(w.status) && w.written < w.length {
		return errShort
	}
	return nil
}
