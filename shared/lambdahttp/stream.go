package lambdahttp

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda/messages"
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
	w := newWriter(x.request.Method, out, func(status int, h http.Header) {
		response.StatusCode, response.MultiValueHeaders = status, h
		close(begun)
	})
	go func() {
		defer close(s.done)
		if !x.last.IsZero() { // the handler may wait for a reader that has stopped
			defer time.AfterFunc(time.Until(x.last), func() { out.CloseWithError(errCut) }).Stop()
		}
		out.CloseWithError(x.into(w))
	}()
	<-begun
	return response
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
	x.fail(w)
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
