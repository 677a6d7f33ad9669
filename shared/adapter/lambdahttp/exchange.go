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
	deadline  time.Time // a stream must end by then; zero: no limit
	abandon   func()    // ends the process, even while the runtime is busy
	settle    func()    // called after the answer; may end the process
}

// run calls the handler. An error means that the answer is incomplete: the handler panicked, cut it off itself, or
// wrote less than it declared.
func (e exchange) run(w *writer) (err error) {
	defer func() {
		switch v := recover(); v {
		case nil:
		// This panic is how a handler cuts its answer off on purpose, so it is not logged.
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

// fail discards what the handler wrote, and answers with an internal error.
func (e exchange) fail(w *writer, why string) {
	name := w.header.Get(requestID)
	if name == "" {
		name = e.gatewayID
	}
	w.reset()
	refuse(w, http.StatusInternalServerError, fault.Internal, why, name)
	w.finish() // cannot fail: the envelope has its declared length
}

const requestID = "X-Request-Id"

// malformed is the handler for requests that net/http would have refused.
func malformed(w http.ResponseWriter, r *http.Request) {
	refuse(w, http.StatusBadRequest, fault.InvalidRequest, errMalformed.Error(), r.Header.Get(requestID))
}

// blankRequest replaces a malformed request, so that it can be handled like others.
func blankRequest(ctx context.Context, id string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "/", nil)
	if err != nil {
		panic(err) // the method and the URL are constant
	}
	r.Header.Set(requestID, id)
	return r
}

// refuse writes the error envelope for failures that reach no host.
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
