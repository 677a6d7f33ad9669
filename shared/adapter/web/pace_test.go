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

	"vitrine/scripts/testkit/pipehttp"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/limits"
)

const piece = 64 << 10 // that a handler writes at once

// taker is the writer of a connection whose client lets each piece wait.
type taker struct {
	*httptest.ResponseRecorder
	wait     func(n int) time.Duration // for the n-th piece
	pieces   int
	deadline time.Time
}

func (w *taker) SetWriteDeadline(t time.Time) error {
	w.deadline = t
	return nil
}

func (w *taker) Write(b []byte) (int, error) {
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

// paced answers with so many pieces, to a client that takes them so, and returns the log line and how long it took.
func paced(t *testing.T, pieces int, wait func(int) time.Duration, between time.Duration) (line map[string]any, took time.Duration) {
	t.Helper()
	var log bytes.Buffer
	s := &web.Surface{Pace: limits.Default().Pace, Log: slog.New(slog.NewJSONHandler(&log, nil))}
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
		h.ServeHTTP(&taker{ResponseRecorder: httptest.NewRecorder(), wait: wait}, httptest.NewRequest("GET", "/", nil))
	}()
	took = time.Since(began)
	if err := json.NewDecoder(&log).Decode(&line); err != nil {
		t.Fatal(err)
	}
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
		"200 KB/s":                   {at(200), false, 0},
		"128 KB/s":                   {at(128), false, 0},
		"bursts of 1.2 MB":           {func(n int) time.Duration { return time.Duration(n%19/18) * 9 * time.Second }, false, 0},
		"100 KB/s":                   {at(100), true, 50 * time.Second},
		"36 KB/s":                    {at(36), true, 16 * time.Second},
		"1 KB/s":                     {at(1), true, 5 * time.Second},
		"nothing":                    {func(int) time.Duration { return time.Hour }, true, 5 * time.Second},
		"nothing after the first":    {func(n int) time.Duration { return time.Duration(min(n, 1)) * time.Hour }, true, 10 * time.Second},
		"nothing after 6 MB at once": {func(n int) time.Duration { return time.Duration(n/96) * time.Hour }, true, 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				line, took := paced(t, pieces, c.wait, 0)
				if line["slow_reader"] == true != c.slow || line["client_left"] != nil || line["level"] != "INFO" {
					t.Errorf("logged %v", line)
				}
				if c.slow && took > c.sooner {
					t.Errorf("held on for %v, want %v at most", took, c.sooner)
				}
			})
		})
	}
}

func TestAReaderDoesNotAnswerForASlowObjectStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		line, _ := paced(t, 20, func(int) time.Duration { return 100 * time.Millisecond }, 20*time.Second)
		if line["slow_reader"] != nil || line["bytes"] != float64(20*piece) {
			t.Errorf("logged %v", line)
		}
	})
}

// TestADeadlineIsOfWritesAlone lets a handler wait for longer than any deadline, while net/http still has what it wrote.
func TestADeadlineIsOfWritesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := pacedConn(t, func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w, "answer")
			<-time.After(time.Minute) // of the bubble
		})
		for range 2 { // on one connection
			got, err := conn.Ask("GET", "/")
			if err != nil {
				t.Fatal(err)
			}
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
			if err := conn.Send(method, "/"); err != nil {
				t.Fatal(err)
			}
			<-time.After(limits.Default().Pace.Patience + time.Second)
			if n, err := conn.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("%s: the server still listens: %d, %v", method, n, err)
			}
		})
	}
}

// pacedConn is a connection to a paced server.
func pacedConn(t *testing.T, h http.HandlerFunc) *pipehttp.Conn {
	s := &web.Surface{Pace: limits.Default().Pace, Log: slog.New(slog.DiscardHandler)}
	conn := pipehttp.Serve(t, s.Around(h)).Dial()
	t.Cleanup(func() { conn.Close() })
	return conn
}
