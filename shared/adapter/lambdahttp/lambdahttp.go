// Package lambdahttp serves an http.Handler as a Lambda function behind API Gateway, as net/http would serve it.
package lambdahttp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
)

// Mode says how the gateway takes the answers of a function. It is a setting, because events do not tell.
type Mode string

const (
	// Buffered sends an answer as a whole, of at most limits.FunctionAnswer bytes. The empty mode means the same.
	Buffered Mode = "buffered"
	// Stream sends an answer while the handler writes it. It applies to REST APIs only; events of an HTTP API are
	// answered as with Buffered.
	Stream Mode = "stream"
)

// Challenge is a header that repeats WWW-Authenticate, because API Gateway renames that header in answers. The HTTP API
// maps this header back.
const Challenge = "X-Vitrine-Challenge"

// Settler is implemented by handlers whose work may outlive the request. Settle waits for that work after a streamed
// answer, and returns how many pieces are still running. If there are any, the process ends, because Lambda would let
// them run on during the next request.
type Settler interface{ Settle() int }

// Start serves h until the process ends. It accepts events of HTTP APIs (payload format 2.0) and REST APIs. An event of
// a schedule runs scheduled, unless that is nil. No client can send one, because a gateway writes its events itself.
func Start(h http.Handler, m Mode, scheduled func(context.Context) error) {
	lambda.Start(newHandler(h, m, scheduled))
}

// NewHandler returns the handler that Start passes to the Lambda runtime, for a function without a schedule.
func NewHandler(h http.Handler, m Mode) lambda.Handler {
	return newHandler(h, m, nil)
}

func newHandler(h http.Handler, m Mode, scheduled func(context.Context) error) lambda.Handler {
	return lambda.NewHandler(adapter{
		handler:   h,
		mode:      m,
		abandon:   exit,
		spent:     end,
		scheduled: scheduled,
	}.serve)
}

// exit ends a function whose gateway does not take the rest of an answer. Lambda starts another one when it needs one.
func exit() {
	slog.Warn("the gateway takes no more of an answer that was cut off: the function ends, so that nobody holds it")
	os.Exit(1)
}

// end ends a function between an answer and the next request.
func end(views int) {
	slog.Warn("views go on without a reader: the function ends, so that they do not go on under the next request",
		"views", views)
	os.Exit(1)
}

type adapter struct {
	handler http.Handler
	mode    Mode
	abandon func()
	spent   func(views int) // ends the process
	// scheduled handles events of a schedule; nil: there are none.
	scheduled func(context.Context) error
}

// serve handles one event.
func (a adapter) serve(ctx context.Context, e event) (any, error) {
	if e.ofSchedule() && a.scheduled != nil {
		return nil, a.scheduled(ctx)
	}
	if !e.known() {
		return nil, errors.New("this is not an event of an HTTP or REST API")
	}
	ctx, cancel, last := beforeDeadline(ctx)
	x := exchange{
		handler:   a.handler,
		gatewayID: e.Context.RequestID,
		deadline:  last,
		abandon:   a.abandon,
		settle:    a.settle,
	}
	var err error
	if x.request, err = e.request(ctx); err != nil {
		x.handler, x.request = http.HandlerFunc(malformed), blankRequest(ctx, x.gatewayID)
	}
	if a.mode == Stream && !e.ofHTTPAPI() {
		return x.stream(cancel), nil
	}
	defer cancel()
	if e.ofHTTPAPI() {
		return x.buffer(httpAPI), nil
	}
	return x.buffer(restAPI), nil
}

// settle ends the process if the handler's work goes on after the answer.
func (a adapter) settle() {
	if h, is := a.handler.(Settler); is {
		if n := h.Settle(); n > 0 {
			a.spent(n)
		}
	}
}

// shutdownMargin is the time that is kept for the answer that time ran out, because Lambda kills a function at its
// deadline without an answer.
const shutdownMargin = 300 * time.Millisecond

// beforeDeadline ends the context of a request shortly before Lambda kills the function. An answer that is written by
// last still arrives.
func beforeDeadline(ctx context.Context) (_ context.Context, _ context.CancelFunc, last time.Time) {
	deadline, ok := ctx.Deadline()
	if !ok {
		ctx, cancel := context.WithCancel(ctx)
		return ctx, cancel, last
	}
	kept := min(shutdownMargin, time.Until(deadline)/10)
	ctx, cancel := context.WithDeadline(ctx, deadline.Add(-kept))
	return ctx, cancel, deadline.Add(-kept / 3)
}
