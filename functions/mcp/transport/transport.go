// Package transport serves the Streamable HTTP transport of the Model Context Protocol, stateless and with answers in
// JSON.
//
// It wraps the handler of the SDK, which implements the protocol. It does what the SDK leaves to its host, or does
// differently than the clients of this service expect. It refuses everything but one plain JSON-RPC request. It asks
// for authorization before the message has any effect. It distinguishes the two generations of the protocol. It answers
// every refusal as a JSON-RPC error. Source: https://modelcontextprotocol.io/specification, revisions 2025-03-26 to
// 2026-07-28.
package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"

	"vitrine/shared/platform/limits"
)

// Handler serves POST requests of one endpoint.
type Handler struct {
	// SDK is the stateless handler of the SDK. Each request that it gets holds one call.
	SDK http.Handler
	// Methods are the methods of the SDK's server. Calls of other methods are refused.
	Methods []string
	// Own are methods that the SDK does not have. No method may be in both.
	Own map[string]Method
	// Screen may refuse a request by its headers alone, before its body is read. nil: it refuses none.
	Screen func(*http.Request) *Failure
	// Authorize decides whether the client may send a message, and returns the context for its handling. It is called
	// for notifications too. For a message that cannot be read it gets the zero value, because a client without rights
	// must not learn about the message either. nil: every client may.
	Authorize func(*http.Request, Message) (context.Context, *Failure)
	// MaxBody is the largest body in bytes.
	MaxBody int64
}

// Method answers a call of a method. Its result is marshalled as it is.
type Method func(context.Context, json.RawMessage) (any, *Failure)

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f := h.serve(w, r); f != nil {
		f.write(w, r)
	}
}

func (h *Handler) serve(w http.ResponseWriter, r *http.Request) *Failure {
	if !allowedOrigin(r) {
		return forbiddenOrigin()
	}
	if h.Screen != nil {
		if f := h.Screen(r); f != nil {
			return f
		}
	}
	m, f := h.receive(r)
	if h.Authorize != nil {
		ctx, refused := h.Authorize(r, m)
		if refused != nil {
			return refused.toUnknown(m.ID)
		}
		r = r.WithContext(ctx)
	}
	switch {
	case f != nil:
		return f
	case !m.Call():
		w.WriteHeader(http.StatusAccepted)
		return nil
	}
	if f := h.call(w, r, m); f != nil {
		return f.of(m.ID)
	}
	return nil
}

func (h *Handler) receive(r *http.Request) (Message, *Failure) {
	body, f := read(r, h.MaxBody)
	if f != nil {
		return Message{}, f
	}
	return parse(body)
}

// call answers a call of the SDK or of an own method.
func (h *Handler) call(w http.ResponseWriter, r *http.Request, m Message) *Failure {
	version, f := versionOf(r, m)
	if f != nil {
		return f
	}
	if own := h.Own[m.Method]; own != nil {
		if version == Stateless && r.Header.Get(methodHeader) != m.Method {
			return wrongMethodHeader()
		}
		return answerOwn(w, r, m, own)
	}
	if !slices.Contains(h.Methods, m.Method) {
		return unknownMethod()
	}
	got := newCapture(w, r)
	h.SDK.ServeHTTP(got, forward(r, m, version))
	return got.answer()
}

// forward returns the request for the SDK.
func forward(r *http.Request, m Message, version string) *http.Request {
	body := m.body()
	out := r.Clone(r.Context())
	out.Body, out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	out.Header.Set("Content-Type", "application/json")
	out.Header.Set("Accept", "application/json, text/event-stream")
	out.Header.Del("Last-Event-Id")
	out.Header.Del(versionHeader)
	if version != "" {
		out.Header.Set(versionHeader, version)
	}
	return out
}

// answerOwn answers a method that the SDK does not have.
func answerOwn(w http.ResponseWriter, r *http.Request, m Message, own Method) *Failure {
	result, f := own(r.Context(), m.Params)
	if f != nil {
		return f
	}
	body, err := encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  any             `json:"result"`
	}{"2.0", m.ID, result})
	if err != nil {
		return FromFault(err)
	}
	got := newCapture(w, r)
	_, _ = got.Write(body) // cannot fail: it writes to memory
	return got.answer()
}

// allowedOrigin reports whether a page of this origin may use the host through a person's browser. The transport
// requires this check because of DNS rebinding. Every page served over HTTPS may, and so may pages of the person's own
// machine, because no answer depends on cookies.
func allowedOrigin(r *http.Request) bool {
	sent := r.Header.Values("Origin")
	if len(sent) == 0 {
		return true
	}
	u, err := url.Parse(sent[0])
	if len(sent) > 1 || err != nil || u.Host == "" {
		return false
	}
	if u.Scheme == "https" {
		return true
	}
	return u.Scheme == "http" && slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname())
}

func forbiddenOrigin() *Failure {
	return &Failure{
		Status:  http.StatusForbidden,
		Code:    CodeServer,
		Reason:  "forbidden",
		Message: "this host answers no pages of the origin that the browser named",
	}
}

// MaxAnswer is the largest answer in bytes, as limits.FunctionBody counts them.
const MaxAnswer = limits.FunctionAnswer - limits.FunctionFrame
