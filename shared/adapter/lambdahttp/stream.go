package lambdahttp

import (
	"context"
	"io"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda/messages"

	"vitrine/shared/platform/fault"
)

// errCut ends a stream whose answer is incomplete. It makes the gateway break off its own answer, so that the client
// does not take the part for the whole.
var errCut = messages.InvokeResponse_Error{Type: "AnswerCut", Message: "the answer broke off"}

// stream returns as soon as status and headers are known. The handler runs on while the runtime reads the body through
// a pipe. cancel ends the context of the request.
func (e exchange) stream(cancel context.CancelFunc) *events.APIGatewayProxyStreamingResponse {
	reader, out := io.Pipe()
	s := &stream{
		PipeReader: reader,
		cancel:     cancel,
		settle:     e.settle,
		done:       make(chan struct{}),
	}
	response := &events.APIGatewayProxyStreamingResponse{Body: s}
	begun := make(chan struct{})
	p := newPipe(out, e.deadline)
	w := newWriter(e.request.Method, p, func(status int, h http.Header) {
		response.StatusCode, response.MultiValueHeaders = status, h
		close(begun)
	})
	go func() {
		defer close(s.done)
		defer p.stop()
		out.CloseWithError(e.into(w))
		if p.late.Load() {
			s.abandonTimer = time.AfterFunc(cutTime, e.abandon)
		}
	}()
	<-begun
	return response
}

// cutTime is how long the runtime may take to pass on that a stream was cut. While the gateway waits for the reader,
// the runtime is stuck in a write. Before the function's time is up, only the end of the process ends that write.
const cutTime = 2 * time.Second

// pipe is the writing end of a stream's body. A write that waits beyond its deadline cuts the stream.
type pipe struct {
	out      *io.PipeWriter
	deadline time.Time   // of writes; zero: none
	late     atomic.Bool // a write waited beyond its deadline
	end      *time.Timer // cuts the stream at the function's deadline; nil if it has none
}

func newPipe(out *io.PipeWriter, last time.Time) *pipe {
	p := &pipe{out: out}
	if !last.IsZero() {
		p.end = time.AfterFunc(time.Until(last), p.cut)
	}
	return p
}

func (p *pipe) cut() { p.out.CloseWithError(errCut) }

func (p *pipe) stop() {
	if p.end != nil {
		p.end.Stop()
	}
}

// SetWriteDeadline implements what http.ResponseController calls.
func (p *pipe) SetWriteDeadline(t time.Time) error {
	p.deadline = t
	return nil
}

// Write implements io.Writer. It returns when the reader has taken the bytes, or with os.ErrDeadlineExceeded.
func (p *pipe) Write(b []byte) (int, error) {
	if p.deadline.IsZero() {
		return p.out.Write(b)
	}
	timer := time.AfterFunc(time.Until(p.deadline), func() {
		p.late.Store(true)
		p.cut()
	})
	defer timer.Stop()
	n, err := p.out.Write(b)
	if err != nil && p.late.Load() { // the deadline may also have passed just after the previous write was taken
		err = os.ErrDeadlineExceeded
	}
	return n, err
}

// into runs the handler. It returns nil for a complete answer. That includes an error answer, which replaces one that
// has not begun.
func (e exchange) into(w *writer) error {
	err := e.run(w)
	switch {
	case err == nil:
		return nil
	case w.begun:
		return errCut
	}
	e.fail(w, string(fault.Internal))
	return nil
}

// stream is the reading end of a stream's body.
type stream struct {
	*io.PipeReader
	cancel       context.CancelFunc
	settle       func()
	done         chan struct{}
	abandonTimer *time.Timer // abandons the function after cutTime; set before done is closed, if the reader was too slow
}

// Close waits for the handler, because code that runs after an answer may be frozen with the function. It cancels the
// handler first, in case the reader has gone. The runtime calls Close between an answer and its next request.
func (s *stream) Close() error {
	s.cancel()
	err := s.PipeReader.Close()
	<-s.done
	if s.abandonTimer != nil {
		s.abandonTimer.Stop()
	}
	s.settle()
	return err
}
