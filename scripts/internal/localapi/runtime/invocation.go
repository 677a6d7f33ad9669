package runtime

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// invocation is one event on its way through a process.
type invocation struct {
	id      string
	event   []byte
	settled atomic.Bool      // begun has its value, or is about to
	begun   chan answerStart // gets one value
	left    chan struct{}    // closed when the caller has gone

	ended context.Context // done when the process has ended midway, and why
	end   context.CancelCauseFunc

	deadline time.Time
	timer    *time.Timer // kills the process at the deadline
}

func newInvocation(event []byte) *invocation {
	i := &invocation{
		id:    rand.Text(),
		event: event,
		begun: make(chan answerStart, 1),
		left:  make(chan struct{}),
	}
	i.ended, i.end = context.WithCancelCause(context.Background())
	return i
}

// answerStart is an answer that begins, or why there is none.
type answerStart struct {
	answer *Answer
	err    error
}

// begin delivers the answer to the caller, once; it reports whether this was the first time.
func (i *invocation) begin(a *Answer, err error) bool {
	if i.settled.Swap(true) {
		return false
	}
	i.begun <- answerStart{a, err}
	return true
}

// fail ends the invocation because the process ended midway. The first reason counts.
func (i *invocation) fail(why *Failure) {
	i.end(why)
	i.begin(nil, context.Cause(i.ended))
}

// Answer is the body that a function sends, as it arrives. Read ends with io.EOF only if the answer
// is complete, and with a *Failure if the function failed midway.
type Answer struct {
	ContentType string // as the function's runtime said it

	process    *process
	request    *http.Request
	body       io.Reader // of the request
	invocation *invocation
	refused    bool // it is longer than the caller takes
	closed     chan struct{}
	close      sync.Once
}

// Trailers of an answer that broke off.
const (
	errorType = "Lambda-Runtime-Function-Error-Type"
	errorBody = "Lambda-Runtime-Function-Error-Body"
)

// Failed returns a channel that closes when the process has ended in the middle of its answer,
// which Read reports only to a caller that reads.
func (a *Answer) Failed() <-chan struct{} { return a.invocation.ended.Done() }

// Read implements io.Reader.
func (a *Answer) Read(b []byte) (int, error) {
	n, err := a.body.Read(b)
	switch {
	case err == nil, errors.Is(err, streamTooLarge):
		return n, err
	case !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		if why := context.Cause(a.invocation.ended); why != nil {
			return n, why
		}
		return n, &Failure{"Runtime.TruncatedResponse", "the process ended in the middle of its answer"}
	case a.request.Trailer.Get(errorType) != "":
		return n, trailerFailure(a.request.Trailer)
	}
	return n, io.EOF
}

func trailerFailure(trailer http.Header) *Failure {
	f := &Failure{Type: trailer.Get(errorType)}
	if body, err := base64.StdEncoding.DecodeString(trailer.Get(errorBody)); err == nil {
		_ = json.Unmarshal(body, f) // the type alone will do
	}
	return f
}

// Close lets the function go on and discards the rest of its answer. It must not be called during
// Read.
func (a *Answer) Close() error {
	a.close.Do(func() {
		a.process.release()
		close(a.closed)
	})
	return nil
}
