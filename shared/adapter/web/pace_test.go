package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/pipehttp"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/limits"
)

const piece = 64 << 10 // size of one write of the handler

// slowWriter is the writer of a connection whose client delays each piece.
type slowWriter struct {
	*httptest.ResponseRecorder
	wait     func(n int) time.Duration // for the n-th piece
	pieces   int
	deadline time.Time
}

func (w *slowWriter) SetWriteDeadline(t time.Time) error {
	w.deadline = t
	return nil
}

func (w *slowWriter) Write(b []byte) (int, error) {
	wait := w.wait(w.pieces)
	if w.deadline.IsZero() {
		return 0, errors.New("a write has no deadline")
	}
	if left := time.Until(w.deadline); wait > left {
		<-time.After(left) // of the bubble
		return 0, os.ErrDeadlineExceeded
	}
	<-time.After(wait)
	w.pieces++
	return len(b), nil
}

// servePaced answers with that many pieces to a client that delays each, and returns the log line
// and the elapsed time.
func servePaced(
	t *testing.T,
	pieces int,
	wait func(int) time.Duration,
	between time.Duration,
) (line map[string]any, took time.Duration) {
	t.Helper()
	var log bytes.Buffer
	s := &web.Server{Pace: limits.Default().Pace, Log: slog.New(slog.NewJSONHandler(&log, nil))}
	h := s.Around(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range pieces {
			<-time.After(between) // of the bubble, as an object store that is slow
			if _, err := w.Write(make([]byte, piece)); err != nil {
				web.Abort(r.Context(), errors.Join(err, context.Canceled))
			}
		}
	}))
	began := time.Now()
	func() {
		defer func() { _ = recover() }() // http.ErrAbortHandler
		h.ServeHTTP(&slowWriter{ResponseRecorder: httptest.NewRecorder(), wait: wait}, httptest.NewRequest("GET", "/", nil))
	}()
	took = time.Since(began)
	expect.OK(t, json.NewDecoder(&log).Decode(&line))
	return line, took
}

func TestReadersHaveToKeepAPace(t *testing.T) {
	const pieces = 160 // 10 MB
	at := func(kilobytes int) func(int) time.Duration {
		each := piece * time.Second / time.Duration(kilobytes<<10)
		return func(int) time.Duration { return each }
	}
	for name, c := range map[string]struct {
		wait   func(n int) time.Duration
		slow   bool
		sooner time.Duration // at most, for those that are cut off
	}{
		"60 KB/s": {at(60), false, 0},
		"16 KB/s": {at(16), false, 0},
		"bursts of 512 KB": {func(n int) time.Duration { return time.Duration(n%8/7) * 29 * time.Second }, false,
			0},
		"12 KB/s": {at(12), true, 125 * time.Second},
		"8 KB/s":  {at(8), true, 60 * time.Second},
		"1 KB/s":  {at(1), true, 30 * time.Second},
		"nothing": {func(int) time.Duration { return time.Hour }, true, 30 * time.Second},
		"nothing after the first": {func(n int) time.Duration { return time.Duration(min(n, 1)) * time.Hour }, true,
			30 * time.Second},
		"nothing after 6 MB at once": {func(n int) time.Duration { return time.Duration(n/96) * time.Hour }, true,
			30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				line, took := servePaced(t, pieces, c.wait, 0)
				if line["slow_reader"] == true != c.slow || line["client_left"] != nil || line["level"] != "INFO" {
					t.Errorf("logged %v", line)
				}
				if c.slow && (took > c.sooner || took < 30*time.Second) {
					t.Errorf("held on for %v, want %v at most, and 30 s at least", took, c.sooner)
				}
			})
		})
	}
}

func TestAReaderDoesNotAnswerForASlowObjectStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line, _ := servePaced(t, 20, func(int) time.Duration { return 100 * time.Millisecond }, 20*time.Second)
		if line["slow_reader"] != nil || line["bytes"] != float64(20*piece) {
			t.Errorf("logged %v", line)
		}
	})
}

// TestADeadlineIsOfWritesAlone lets a handler wait longer than any deadline, while net/http still
// buffers what it wrote.
func TestADeadlineIsOfWritesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := pacedConn(t, func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "answer")
			<-time.After(time.Minute) // of the bubble
		})
		for range 2 { // on one connection
			got := expect.Value(conn.Ask("GET", "/"))(t)
			if body, err := io.ReadAll(got.Body); err != nil || string(body) != "answer" {
				t.Errorf("%q, %v", body, err)
			}
			<-time.After(time.Minute)
		}
	})
}

func TestAReaderOfNothingLosesItsConnection(t *testing.T) {
	for _, method := range []string{"GET", "HEAD"} {
		synctest.Test(t, func(t *testing.T) {
			conn := pacedConn(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					w.Write(make([]byte, piece))
				}
			})
			expect.OK(t, conn.Send(method, "/"))
			<-time.After(limits.Default().Pace.Patience + time.Second)
			if n, err := conn.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("%s: the server still listens: %d, %v", method, n, err)
			}
		})
	}
}

// pacedConn is a connection to a paced server.
func pacedConn(t *testing.T, h http.HandlerFunc) *pipehttp.Conn {
	s := &web.Server{Pace: limits.Default().Pace, Log: slog.New(slog.DiscardHandler)}
	conn := pipehttp.Serve(t, s.Around(h)).Dial()
	t.Cleanup(func() { conn.Close() })
	return conn
}
