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

// Mode is how the gateway takes the answers of a function. A function cannot see it in its events,
// so it is a setting.
type Mode string

const (
	// Buffered answers are sent as a whole, limits.FunctionAnswer at most. The empty mode means the same.
	Buffered Mode = "buffered"
	// Stream sends an answer while the handler writes it. It applies to REST APIs only: events of
	// an HTTP API are answered as in Buffered.
	Stream Mode = "stream"
)

// Challenge repeats WWW-Authenticate, which API Gateway renames in answers; the stack maps this
// header back to it.
const Challenge = "X-Vitrine-Challenge"

// Settler is a handler with work that may outlive its requests. Settle waits for it after a streamed answer, and
// returns how many pieces still go on. The function then ends, because Lambda would let them go on under the next
// request.
type Settler interface{ Settle() int }

// Start serves h until the process ends. Events are those of HTTP APIs (payload format 2.0) and of REST APIs, and those
// of a schedule, which run scheduled unless it is nil. No client can send the latter, because a gateway writes its
// events itself.
func Start(h http.Handler, m Mode, scheduled func(context.Context) error) {
	lambda.Start(newHandler(h, m, scheduled))
}

// NewHandler returns what Start hands to the Lambda runtime for a function without a schedule.
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

// exit ends a function that its gateway holds. Lambda starts another one when needed.
func exit() {
	slog.Warn("the gateway takes no more of an answer that was cut off: the function ends, so that nobody holds it")
	os.Exit(1)
}

// end ends a function between its answer and its next request.
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
	// scheduled does what a schedule wakes the function for; nil: none does.
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

// settle ends the process if work of the handler goes on.
func (a adapter) settle() {
	if h, is := a.handler.(Settler); is {
		if n := h.Settle(); n > 0 {
			a.spent(n)
		}
	}
}

// shutdownMargin is the time reserved for answering that time ran out, because Lambda kills a
// function at its deadline without a word.
const shutdownMargin = 300 * time.Millisecond

// beforeDeadline ends the context of a request a little before its function is stopped. An answer
// written by last still arrives.
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
