package web

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"vitrine/shared/identity/pow"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

const (
	jsonType = "application/json; charset=utf-8"
	noStore  = "no-store"
)

// errorEnvelope is the body of a refusal, with its status.
type errorEnvelope struct {
	contract.Envelope
	status int
}

// Error returns the message for the caller.
func (e *errorEnvelope) Error() string { return e.Envelope.Error.Message }

// GetStatus implements huma.StatusError.
func (e *errorEnvelope) GetStatus() int { return e.status }

// refuse converts a failure to its envelope, sets the headers that belong to it, and records it for the log. The
// envelope of an unclassified failure shows no detail.
func refuse(ctx context.Context, header http.Header, err error) *errorEnvelope {
	f, n := fault.Of(err), requestLogOf(ctx)
	n.failed(f.Code, err)
	e := &errorEnvelope{status: Status(f.Code)}
	e.Envelope.Error = contract.Problem{Code: string(f.Code), Message: f.Message, RequestID: n.id}
	var work *pow.Required
	if errors.As(err, &work) {
		e.Challenge = &work.Challenge
	}
	header.Set("Content-Type", jsonType)
	header.Set("Cache-Control", noStore)
	RetryAfter(header, f.RetryAfter)
	if e.status == http.StatusUnauthorized && n.challenge != "" {
		header.Set("WWW-Authenticate", n.challenge)
	}
	return e
}

// RetryAfter sets the header Retry-After unless wait is zero. It rounds up to whole seconds, so that the wait is never
// too short.
func RetryAfter(h http.Header, wait time.Duration) {
	if wait > 0 {
		h.Set("Retry-After", strconv.FormatInt(int64((wait+time.Second-1)/time.Second), 10))
	}
}

// writeError answers a failure with its envelope. It must be called before any part of the answer is written.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
	writeEnvelope(w, refuse(r.Context(), w.Header(), err))
}

func writeEnvelope(w http.ResponseWriter, e *errorEnvelope) {
	body, err := contract.Encode(e.Envelope)
	if err != nil {
		panic(err) // strings always marshal
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(e.status)
	w.Write(body) // a failure means that the client left
}

func notFound(w http.ResponseWriter, r *http.Request) {
	writeError(w, r, fault.NewCode(fault.NotFound))
}

// misdirected refuses a request for another host's name.
func misdirected(w http.ResponseWriter, r *http.Request) {
	e := refuse(r.Context(), w.Header(), fault.NewCode(fault.NotFound))
	e.status = http.StatusMisdirectedRequest
	writeEnvelope(w, e)
}

// Abort ends a request whose answer has begun and cannot be completed. It breaks the connection, so that the client
// does not take the part for the whole. It does not return.
func Abort(ctx context.Context, err error) {
	requestLogOf(ctx).failed(fault.CodeOf(err), err)
	panic(http.ErrAbortHandler)
}
