package lambdahttp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/lambda/messages"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/limits"
)

func TestAStreamBeginsBeforeTheHandlerEnds(t *testing.T) {
	release := make(chan struct{})
	_, body := streamOf(t, t.Context(), func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "first ")
		<-release
		io.WriteString(w, "second")
	})
	expect.Value(io.ReadFull(body, make([]byte, len("first "))))(t)
	close(release)
	if rest, err := io.ReadAll(body); string(rest) != "second" || err != nil {
		t.Error(string(rest), err)
	}
}

// TestNothingIsHeldOfAStream lets the handler write until it blocks, before any byte of the body is
// read.
func TestNothingIsHeldOfAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		written := 0
		_, body := streamOf(t, t.Context(), func(w http.ResponseWriter, _ *http.Request) {
			for range 3 {
				n, _ := w.Write(make([]byte, 64<<10))
				written += n
			}
		})
		synctest.Wait()
		if written != 0 {
			t.Errorf("%d bytes are taken from the handler before anyone reads", written)
		}
		io.ReadFull(body, make([]byte, 64<<10))
		synctest.Wait()
		if written != 64<<10 {
			t.Errorf("%d bytes are taken after reading one chunk", written)
		}
		if rest, err := io.ReadAll(body); len(rest) != 128<<10 || err != nil {
			t.Error(len(rest), err)
		}
	})
}

func TestAnAnswerThatBreaksOffEndsInAnError(t *testing.T) {
	captureLog(t)
	for name, h := range map[string]http.HandlerFunc{
		"aborted": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			io.WriteString(w, "half")
			panic(http.ErrAbortHandler)
		},
		"panicked": func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "half"); panic("boom") },
		"short": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			io.WriteString(w, "half")
		},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := streamOf(t, t.Context(), h)
			got, err := io.ReadAll(body)
			var said messages.InvokeResponse_Error
			if status != 200 || string(got) != "half" || !errors.As(err, &said) || said.Type != "AnswerCut" {
				t.Errorf("%d %q %v", status, got, err)
			}
		})
	}
}

func TestAStreamEndsAfterItsHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		_, body := streamOf(t, t.Context(), func(w http.ResponseWriter, _ *http.Request) {
			defer func() { ended = true }() // as the log line of a request
			io.WriteString(w, "all")
			<-time.After(time.Second) // of the bubble
		})
		if got, err := io.ReadAll(body); string(got) != "all" || err != nil || !ended {
			t.Errorf("%q, %v, handler ended: %v", got, err, ended)
		}
	})
}

func TestAReaderThatLeavesEndsTheHandler(t *testing.T) {
	var failed error
	var why error
	_, body := streamOf(t, t.Context(), func(w http.ResponseWriter, r *http.Request) {
		for failed == nil {
			_, failed = w.Write(make([]byte, 1000))
		}
		why = r.Context().Err()
	})
	io.ReadFull(body, make([]byte, 10))
	if err := body.Close(); err != nil || failed == nil || why == nil {
		t.Errorf("close %v, write %v, context %v", err, failed, why)
	}
}

func TestAReaderThatLeavesAtOnceEndsAHandlerThatWaitsForAnotherService(t *testing.T) {
	_, body := streamOf(t, t.Context(), func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	if err := body.Close(); err != nil {
		t.Error(err)
	}
}

func TestTheHandlerSeesTheDeadlineInTimeToSaySo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct{ limit, left time.Duration }{{28 * time.Second, 300 * time.Millisecond},
			{time.Second, 100 * time.Millisecond}} {
			ctx, cancel := context.WithTimeout(t.Context(), c.limit)
			start := time.Now()
			h := func(w http.ResponseWriter, r *http.Request) {
				<-r.Context().Done()
				w.WriteHeader(http.StatusServiceUnavailable)
				io.WriteString(w, "no time")
			}
			status, body := streamOf(t, ctx, h)
			got, err := io.ReadAll(body)
			if took := time.Since(start); status != 503 || string(got) != "no time" || err != nil || took != c.limit-c.left {
				t.Errorf("%d %q %v after %v", status, got, err, took)
			}
			cancel()
		}
	})
}

func TestAStreamThatNobodyReadsIsCutAtTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var failed error
		done := make(chan struct{})
		_, body := streamOf(t, ctx, func(w http.ResponseWriter, _ *http.Request) {
			defer close(done)
			_, failed = io.WriteString(w, "nobody listens")
		})
		<-done
		if _, err := io.ReadAll(body); failed == nil || err == nil {
			t.Errorf("the handler is told %v, the gateway %v", failed, err)
		}
	})
}

// TestASlowReaderIsCutOff reads a file of a paced host in pieces of 64 KB; the handler has one more
// piece in hand.
func TestASlowReaderIsCutOff(t *testing.T) {
	const piece, pieces = 64 << 10, 160
	pace := limits.Default().Pace
	worth := piece * time.Second / time.Duration(pace.Rate) // how long a reader may take for one
	for name, c := range map[string]struct {
		pause time.Duration
		whole bool
		least int           // pieces that arrive
		most  time.Duration // how long the function is held
	}{
		"fast enough":     {worth * 9 / 10, true, pieces, pieces * worth},
		"a little slower": {worth * 3 / 2, false, 12, 110 * time.Second},
		"hardly at all":   {pace.Patience * 2 / 3, false, 1, 3 * pace.Patience},
		"never":           {time.Hour, false, 0, pace.Patience},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				held := make(chan time.Duration, 1)
				s := &web.Server{Pace: pace, Log: slog.New(slog.NewJSONHandler(&log, nil))}
				h := s.Around(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					began := time.Now()
					defer func() { held <- time.Since(began) }()
					for range pieces {
						if _, err := w.Write(make([]byte, piece)); err != nil {
							web.Abort(r.Context(), errors.Join(err, context.Canceled))
						}
					}
				}))
				_, body := abandonable(t, t.Context(), h.ServeHTTP, func() {}) // where the reader stops for long
				got := 0
				var err error
				for err == nil && got < pieces {
					<-time.After(c.pause) // of the bubble
					if _, err = io.ReadFull(body, make([]byte, piece)); err == nil {
						got++
					}
				}
				synctest.Wait()
				if (err == nil) != c.whole || got < c.least || strings.Contains(log.String(), `"slow_reader":true`) == c.whole {
					t.Errorf("%d pieces, the reader is told %v, logged %s", got, err, log.String())
				}
				body.Close()
				if took := <-held; took > c.most {
					t.Errorf("held the function for %v, want %v at most", took, c.most)
				}
			})
		})
	}
}

// TestAFunctionThatItsGatewayHoldsEnds does not close a stream after it was cut, like a runtime
// that is stuck in a write.
func TestAFunctionThatItsGatewayHoldsEnds(t *testing.T) {
	for name, c := range map[string]struct {
		after time.Duration // when the runtime closes the stream
		ended bool
	}{"at once": {0, false}, "in time": {cutTime - 1, false}, "never": {time.Hour, true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				gone, ended := false, false
				_, body := abandonable(t, t.Context(), func(w http.ResponseWriter, r *http.Request) {
					defer func() { gone = true }()
					http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Second))
					w.Write([]byte("nobody reads this"))
				}, func() { ended = gone })
				<-time.After(time.Second + c.after) // of the bubble
				synctest.Wait()
				body.Close()
				<-time.After(time.Hour)
				if ended != c.ended {
					t.Errorf("the function ends itself: %t, want %t", ended, c.ended)
				}
			})
		})
	}
}

// TestAWriteHasADeadlineOnlyWhileItWaits lets a handler wait longer than the deadline between its
// writes.
func TestAWriteHasADeadlineOnlyWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, body := streamOf(t, t.Context(), func(w http.ResponseWriter, _ *http.Request) {
			out := http.NewResponseController(w)
			for range 3 {
				if err := out.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
					t.Error(err)
				}
				io.WriteString(w, "x")
				<-time.After(time.Minute) // of the bubble
			}
		})
		if got, err := io.ReadAll(body); string(got) != "xxx" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
}

func TestHTTPAPIsAreNeverStreamed(t *testing.T) {
	out, err := adapter{handler: http.NotFoundHandler(), mode: Stream}.serve(t.Context(), httpAPIEvent("GET", "/"))
	if _, streams := out.(io.Reader); err != nil || streams {
		t.Errorf("%T, %v", out, err)
	}
}

func TestABigStreamComesThroughWhole(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 1<<16) + "\x00\x00\x00\x00\x00\x00\x00\x00end"
	got := invoke(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, big) }), Stream,
		restEvent("GET", "/"))
	if got.Body != big {
		t.Errorf("%d bytes of %d", len(got.Body), len(big))
	}
}

// leftover is a handler with pieces of work that outlive its answer.
type leftover int

func (leftover) ServeHTTP(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "all") }

func (l leftover) Settle() int { return int(l) }

func TestWorkThatOutlivesAnAnswerEndsTheFunctionOnceTheAnswerIsSent(t *testing.T) {
	for left, want := range []int{-1, 1, 2} {
		ended := -1
		a := adapter{handler: leftover(left), mode: Stream, spent: func(n int) { ended = n }}
		out := expect.Value(a.serve(t.Context(), restEvent("GET", "/")))(t)
		body := out.(io.ReadCloser)
		if got, err := io.ReadAll(body); !strings.HasSuffix(string(got), "all") || err != nil || ended != -1 {
			t.Errorf("%d left: %q, %v, ended %d before the answer was sent", left, got, err, ended)
		}
		body.Close()
		if ended != want {
			t.Errorf("%d left: ended %d, want %d", left, ended, want)
		}
	}
}
