package transport

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// The codes of JSON-RPC errors. The first three are from JSON-RPC 2.0, the last three from MCP 2026-07-28.
const (
	CodeInvalidParams      = -32602
	CodeMethodNotFound     = -32601
	CodeInternal           = -32603
	CodeServer             = -32000 // a failure that has no code in JSON-RPC
	CodeHeaderMismatch     = -32020
	CodeUnsupportedVersion = -32022
)

// Failure refuses a message with an HTTP status and a JSON-RPC error.
type Failure struct {
	Status    int
	Code      int             // JSON-RPC error code
	Reason    string          // error code of the service, in error.data.code
	Message   string          // tells the client what to do
	Challenge string          // WWW-Authenticate; empty: none
	Data      json.RawMessage // replaces error.data; nil: error.data has reason and request ID
	Wait      time.Duration   // Retry-After; zero: none
	Cause     error           // for the log; may be nil

	id json.RawMessage // ID of the message; nil: unknown
}

// Error returns the message for the caller.
func (f *Failure) Error() string { return f.Message }

// of returns the failure as the answer to the message with this ID.
func (f *Failure) of(id json.RawMessage) *Failure {
	g := *f
	g.id = id
	return &g
}

// toUnknown does what of does, except for a client that is not authenticated. Its answer does not repeat the ID.
func (f *Failure) toUnknown(id json.RawMessage) *Failure {
	if f.Status == http.StatusUnauthorized {
		return f
	}
	return f.of(id)
}

// invalid returns the refusal of a malformed message.
func invalid(reason, message string) *Failure {
	return &Failure{
		Status:  http.StatusBadRequest,
		Code:    CodeInvalidParams,
		Reason:  reason,
		Message: message,
	}
}

func tooLarge(limit int64) *Failure {
	return &Failure{
		Status:  http.StatusRequestEntityTooLarge,
		Code:    CodeInvalidParams,
		Reason:  "request_too_large",
		Message: fmt.Sprintf("a request has at most %d bytes; upload larger files with prepare_upload", limit),
	}
}

func unknownMethod() *Failure {
	return &Failure{
		Status:  http.StatusNotFound,
		Code:    CodeMethodNotFound,
		Reason:  "method_not_found",
		Message: "method_not_found",
	}
}

// FromFault converts an error of the service.
func FromFault(err error) *Failure {
	f := fault.Of(err)
	return &Failure{
		Status:  web.Status(f.Code),
		Code:    CodeServer,
		Reason:  string(f.Code),
		Message: f.Message,
		Wait:    f.RetryAfter,
		Cause:   err,
	}
}

// rpcError is a JSON-RPC error on the wire.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data"`
}

// rpcFailure is an answer with an error. It has no ID if the message had none that could be read.
type rpcFailure struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Error   rpcError        `json:"error"`
}

// write answers with the failure. It must be called before any part of the answer is written.
func (f *Failure) write(w http.ResponseWriter, r *http.Request) {
	answer := rpcFailure{Version: "2.0", ID: f.id, Error: rpcError{Code: f.Code, Message: f.Message}}
	if f.Data != nil {
		answer.Error.Data = f.Data
	} else {
		answer.Error.Data = contract.Problem{Code: f.Reason, Message: f.Message, RequestID: web.RequestID(r.Context())}
	}
	web.Failed(r.Context(), f.logCode(), f.logged())
	if f.Challenge != "" {
		w.Header().Set("WWW-Authenticate", f.Challenge)
	}
	web.RetryAfter(w.Header(), f.Wait)
	body, err := contract.Encode(answer)
	if err != nil {
		panic(err) // strings always marshal
	}
	send(w, f.Status, body)
}

// logged returns the error for the log line.
func (f *Failure) logged() error {
	if f.Cause != nil {
		return f.Cause
	}
	return fault.New(f.logCode(), "%s", f.Reason)
}

// logCode returns the closest code of the contract.
func (f *Failure) logCode() fault.Code {
	switch f.Status {
	case http.StatusUnauthorized:
		return fault.NotAuthenticated
	case http.StatusForbidden:
		return fault.Forbidden
	case http.StatusNotFound:
		return fault.NotFound
	case http.StatusInternalServerError:
		return fault.Internal
	}
	if f.Cause != nil {
		return fault.CodeOf(f.Cause)
	}
	return fault.InvalidRequest
}

const jsonType = "application/json; charset=utf-8"

func send(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", jsonType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body) // a failure means that the client left
}
