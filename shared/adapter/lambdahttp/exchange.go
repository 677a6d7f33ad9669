package lambdahttp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// exchange is one request and the handler that answers it.
type exchange struct {
	handler   http.Handler
	request   *http.Request
	gatewayID string    // identifies the request if the handler did not
	deadline  time.Time // when a stream has to end; zero: never
	abandon   func()    // ends the process, even while the runtime is busy
	settle    func()    // may end the process after the answer
}

// run lets the handler answer to the end. An error means that the answer is incomplete; the handler
// may have cut it off itself.
func (e exchange) run(w *writer) (err error) {
	defer func() {
		switch v := recover(); v {
		case nil:
		case http.ErrAbortHandler:
			err = http.ErrAbortHandler
		default:
			err = fmt.Errorf("panic: %v", v)
			slog.ErrorContext(e.request.Context(), "panic", "error", err, "stack", string(debug.Stack()))
		}
	}()
	e.handler.ServeHTTP(w, e.request)
	if err := w.finish(); err != nil {
		slog.ErrorContext(e.request.Context(), "short answer", "error", err)
		return err
	}
	return nil
}

// fail answers with a failure of the handler, discarding what it wrote.
func (e exchange) fail(w *writer, why string) {
	name := w.header.Get(requestID)
	if name == "" {
		name = e.gatewayID
	}
	w.reset()
	refuse(w, http.StatusInternalServerError, fault.Internal, why, name)
	w.finish() // the envelope has its declared length
}

const requestID = "X-Request-Id"

// malformed answers a request that net/http would have refused.
func malformed(w http.ResponseWriter, r *http.Request) {
	refuse(w, http.StatusBadRequest, fault.InvalidRequest, errMalformed.Error(), r.Header.Get(requestID))
}

// blankRequest stands in for a malformed request.
func blankRequest(ctx context.Context, id string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	if err != nil {
		panic(err) // the method and the URL are constant
	}
	r.Header.Set(requestID, id)
	return r
}

// refuse writes the hosts' error envelope for failures that no host has seen.
func refuse(w http.ResponseWriter, status int, code fault.Code, message, id string) {
	body, err := json.Marshal(
		contract.Envelope{Error: contract.Problem{Code: string(code), Message: message, RequestID: id}})
	if err != nil {
		panic(err) // strings always marshal
	}
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if id != "" {
		h.Set(requestID, id)
	}
	w.WriteHeader(status)
	w.Write(body) // a failure means that the client left
}

var errShort = errors.New("the body is shorter than its Content-Length")
