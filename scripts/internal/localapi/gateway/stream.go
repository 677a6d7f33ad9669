package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"vitrine/scripts/internal/localapi/runtime"
)

const (
	maxPrelude  = 64 << 10 // bytes of status and headers
	chunk       = 64 << 10
	streamMedia = "application/vnd.awslambda.http-integration-response"
)

// delimiter ends the prelude.
var delimiter = make([]byte, 8)

// stream passes an answer on while the function writes it. If the function fails midway, the
// connection is cut.
func (x *exchange) stream(ctx context.Context, event []byte) *refusal {
	a, err := x.Function(x.route.Function).Stream(ctx, event)
	if err != nil {
		return failed(err)
	}
	defer a.Close()
	h, rest, err := prelude(a)
	if err != nil {
		return failed(err)
	}
	defer x.cutWith(a)()
	x.sendHead(h)
	x.w.WriteHeader(h.StatusCode)
	if err := x.pass(io.MultiReader(bytes.NewReader(rest), a)); err != nil {
		x.warn(h.StatusCode, "cut off: "+err.Error())
		panic(http.ErrAbortHandler)
	}
	return nil
}

// prelude reads status and headers, and the part of the body that came with them.
func prelude(a *runtime.Answer) (*head, []byte, error) {
	if a.ContentType != streamMedia {
		return nil, nil, fmt.Errorf("%w: it does not stream, and its media type is %q", errMalformed, a.ContentType)
	}
	var read []byte
	for {
		at := bytes.Index(read, delimiter)
		if at >= 0 {
			h := new(head)
			if err := json.Unmarshal(read[:at], h); err != nil {
				return nil, nil, fmt.Errorf("%w: its prelude is no JSON object of that shape", errMalformed)
			}
			return h, read[at+len(delimiter):], h.check()
		}
		if len(read) > maxPrelude {
			return nil, nil, fmt.Errorf("%w: its prelude has no end", errMalformed)
		}
		part := make([]byte, 4<<10)
		n, err := a.Read(part)
		read = append(read, part[:n]...)
		if err != nil && n == 0 {
			return nil, nil, fmt.Errorf("the answer ended before its prelude did: %w", err)
		}
	}
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
