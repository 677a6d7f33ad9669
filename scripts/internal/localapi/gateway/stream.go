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
func (x *exchange) stream(ctx context.Context, event []byte) *refusal {
	a, err := x.Function(x.route.Function).Stream(ctx, event)
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
	defer x.cutWith(a)()
	x.sendHead(head)
	x.w.WriteHeader(head.StatusCode)
	if err := x.pass(body); err != nil {
		x.warn(head.StatusCode, "cut off: "+err.Error())
		panic(http.ErrAbortHandler)
	}
	return nil
}

// cutWith ends a write that waits for the client when the function has failed, until the returned
// function is called.
func (x *exchange) cutWith(a *runtime.Answer) (stop func()) {
	passed := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-a.Failed():
			_ = http.NewResponseController(x.w).SetWriteDeadline(time.Now())
		case <-passed:
		}
	})
	return func() {
		close(passed)
		watch.Wait()
	}
}

// pass writes and flushes piece by piece.
func (x *exchange) pass(body io.Reader) error {
	out := http.NewResponseController(x.w)
	buffer := make([]byte, chunk)
	flush := out.Flush()
	for {
		n, err := body.Read(buffer)
		if n > 0 && x.r.Method != http.MethodHead && flush == nil {
			if _, err := x.w.Write(buffer[:n]); err != nil {
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
