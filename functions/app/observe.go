package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"vitrine/shared/fault"
	"vitrine/shared/id"
)

// note is what one request leaves in the log.
type note struct {
	id     string
	code   fault.Code
	err    error
	stack  []byte
	secret string // never logged, even when an error quotes it
}

func (n *note) failed(err error, code fault.Code) { n.err, n.code = err, code }

type noteKey struct{}

func noteOf(r *http.Request) *note { return r.Context().Value(noteKey{}).(*note) }

var requestID = regexp.MustCompile(`^[!-~]{8,128}$`)

// observe is the outermost layer: request id, headers for all answers, panics, and one log line a request.
func (h *Host) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := &note{id: r.Header.Get("X-Request-Id")}
		if !requestID.MatchString(n.id) {
			n.id = string(id.NewWorkspace()) // a random UUID
		}
		r = r.WithContext(context.WithValue(r.Context(), noteKey{}, n))
		w.Header().Set("X-Request-Id", n.id)
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		rec, start := &recorder{ResponseWriter: w}, time.Now()
		defer func() { h.log(r, n, rec.status, time.Since(start)) }()
		defer h.recover(rec, r)
		next.ServeHTTP(rec, r)
	})
}

// recover turns a panic into the failure answer, or cuts the connection if an answer has begun.
func (h *Host) recover(w *recorder, r *http.Request) {
	v := recover()
	if v == nil {
		return
	}
	if v == http.ErrAbortHandler {
		panic(v)
	}
	err := fmt.Errorf("panic: %v", v)
	n := noteOf(r)
	n.failed(err, fault.Internal)
	n.stack = debug.Stack()
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	h.fail(w, r, err)
}

var urls = regexp.MustCompile(`[a-z]+://[^\s"]+`)

// cause is the text of what went wrong, without URLs and without the secret of the request.
func (n *note) cause() string {
	text := urls.ReplaceAllString(n.err.Error(), "[url]")
	if n.secret != "" {
		text = strings.ReplaceAll(text, n.secret, "[secret]")
	}
	return text
}

// log writes the line of a request: never a URL, a body or a token, so the route stands for the path.
func (h *Host) log(r *http.Request, n *note, status int, took time.Duration) {
	level := slog.LevelInfo
	attrs := []slog.Attr{
		slog.String("request_id", n.id), slog.String("route", r.Pattern), slog.Int("status", status),
		slog.Duration("duration", took),
	}
	if n.code != "" {
		attrs = append(attrs, slog.String("code", string(n.code)))
	}
	if status >= 500 && n.err != nil {
		level = slog.LevelError
		attrs = append(attrs, slog.String("error", n.cause()))
	}
	if n.stack != nil {
		attrs = append(attrs, slog.String("stack", string(n.stack)))
	}
	h.Log.LogAttrs(r.Context(), level, "request", attrs...)
}

// recorder remembers the status.
type recorder struct {
	http.ResponseWriter
	status int
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap serves http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
