package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"vitrine/scripts/internal/localapi/runtime"
)

const chunk = 64 << 10

// stream passes an answer on while the function writes it. If the function fails midway, the
// connection is cut.
func (e *exchange) stream(ctx context.Context, event []byte) *refusal {
	a, err := e.Function(e.route.Function).Stream(ctx, event)
	if err != nil {
		return failed(err)
	}
	defer a.Close()
	if a.ContentType != StreamMedia {
		return failed(fmt.Errorf("%w: it does not stream, and its media type is %q", errMalformed, a.ContentType))
	}
	head, body, err := Streamed(a)
	if err != nil {
		return failed(err)
	}
	defer e.cutWith(a)()
	e.sendHead(head)
	e.w.WriteHeader(head.StatusCode)
	if err := e.pass(body); err != nil {
		e.warn(head.StatusCode, "cut off: "+err.Error())
		panic(http.ErrAbortHandler)
	}
	return nil
}

// cutWith ends a write that waits for the client when the function has failed, until the returned
// function is called.
func (e *exchange) cutWith(a *runtime.Answer) (stop func()) {
	passed := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-a.Failed():
			_ = http.NewResponseController(e.w).SetWriteDeadline(time.Now())
		case <-passed:
		}
	})
	return func() {
		close(passed)
		watch.Wait()
	}
}

// pass writes and flushes piece by piece.
func (e *exchange) pass(body io.Reader) error {
	out := http.NewResponseController(e.w)
	buffer := make([]byte, chunk)
	flush := out.Flush()
	for {
		n, err := body.Read(buffer)
		if n > 0 && e.r.Method != http.MethodHead && flush == nil {
			if _, err := e.w.Write(buffer[:n]); err != nil {
				return err
			}
			flush = out.Flush()
		}
		switch {
		case errors.Is(err, io.EOF):
			return flush
		case err != nil:
			return err
		}
	}
}
