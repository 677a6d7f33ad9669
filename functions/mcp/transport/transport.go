// Package transport serves the Streamable HTTP transport of the Model Context Protocol, stateless and with answers in
// JSON.
//
// It stands before the handler of the SDK, which knows the protocol, and does what that leaves to its host or does in
// another way than the clients of this service expect: it refuses what is not one plain JSON-RPC request, asks for
// authority before the message has any effect, tells the two generations of the protocol apart, and answers every
// refusal as a JSON-RPC error. Source: https://modelcontextprotocol.io/specification, revisions 2025-03-26 to
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

// Handler serves POST of one endpoint.
type Handler struct {
	// SDK is the stateless handler of the SDK. It gets one call a request.
	SDK http.Handler
	// Methods are those that the SDK's server has. Calls of others are refused.
	Methods []string
	// Own are methods that the SDK does not have; a method is in one of both.
	Own map[string]Method
	// Screen refuses a request by its headers alone, before its body is read. nil: none.
	Screen func(*http.Request) *Failure
	// Authorize decides whether a client may send a message, and returns the context of what follows. It is asked for
	// notifications too, and for a message that cannot be read, which is then the zero value, because who may not send
	// anything learns nothing about the message either. nil: every client may.
	Authorize func(*http.Request, Message) (context.Context, *Failure)
	// MaxBody is how many bytes a request has at most.
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

// call answers a request.
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

// forward returns the request as the SDK takes it.
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
	_, _ = got.Write(body) // into memory
	return got.answer()
}

// allowedOrigin refuses the pages that may not talk to this host through a person's browser, as the transport demands
// because of DNS rebinding. No answer depends on cookies, so every page that came by HTTPS may, and pages of the
// person's own machine.
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

// MaxAnswer is how many bytes an answer may take, as limits.FunctionBody counts them.
const MaxAnswer = limits.FunctionAnswer - limits.FunctionFrame
