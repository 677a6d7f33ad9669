package lambdahttp

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda/messages"

	"vitrine/shared/fault"
	"vitrine/shared/limits"
)

// errCut ends a stream whose answer is not whole, so that the gateway breaks it off too.
var errCut = messages.InvokeResponse_Error{Type: "AnswerCut", Message: "the answer broke off"}

// stream returns as soon as status and headers are known; the handler goes on while the body is read, and nothing but a
// pipe is between them. Cancel ends the request's context.
func (x exchange) stream(cancel context.CancelFunc) *events.APIGatewayProxyStreamingResponse {
	reader, out := io.Pipe()
	s := &stream{PipeReader: reader, cancel: cancel, done: make(chan struct{})}
	response := &events.APIGatewayProxyStreamingResponse{Body: s}
	begun := make(chan struct{})
	p := newPace(out, x.last)
	w := newWriter(x.request.Method, p, func(status int, h http.Header) {
		response.StatusCode, response.MultiValueHeaders = status, h
		close(begun)
	})
	go func() {
		defer close(s.done)
		defer p.timer.Stop()
		out.CloseWithError(x.into(w))
	}()
	<-begun
	return response
}

// pace cuts a stream at a time that what its reader takes puts off: readers of large files may take long, but nobody holds
// a function for longer than the bytes are worth.
type pace struct {
	out   *io.PipeWriter
	timer *time.Timer
	until time.Time
	last  time.Time // the function's own end, zero if it has none
}

func newPace(out *io.PipeWriter, last time.Time) *pace {
	p := &pace{out: out, last: last, until: time.Now().Add(limits.ReaderPatience)}
	p.timer = time.AfterFunc(p.left(), func() { out.CloseWithError(errCut) })
	return p
}

func (p *pace) left() time.Duration {
	if !p.last.IsZero() && p.last.Before(p.until) {
		return time.Until(p.last)
	}
	return time.Until(p.until)
}

// Write implements io.Writer. It returns when the bytes are taken.
func (p *pace) Write(b []byte) (int, error) {
	n, err := p.out.Write(b)
	if err == nil { // else the stream has ended, and its timer with it
		p.until = p.until.Add(time.Duration(n) * time.Second / limits.ReaderRate)
		p.timer.Reset(p.left())
	}
	return n, err
}

// into lets the handler answer into w. Nil: the answer is whole, be it one that says that the handler failed.
func (x exchange) into(w *writer) error {
	err := x.run(w)
	switch {
	case err == nil:
		return nil
	case w.begun:
		return errCut
	}
	x.fail(w, string(fault.Internal))
	return nil
}

// stream is the body of an answer that is being made.
type stream struct {
	*io.PipeReader
	cancel context.CancelFunc
	done   chan struct{}
}

// Close waits for the handler, because what runs on after an answer may be frozen with the function. A handler whose reader
// has gone is told to end.
func (s *stream) Close() error {
	s.cancel()
	err := s.PipeReader.Close()
	<-s.done
	return err
}
