package web

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// requestLog is what one request leaves for its log line, and what its refusals need.
type requestLog struct {
	id        string
	challenge string // of every 401; empty: none

	mu    sync.Mutex
	hide  string // never logged, even when an error quotes it
	code  fault.Code
	err   error
	stack []byte
	attrs []slog.Attr

	expected bool // err follows from how the deployment is set up, so that nobody has to look at it
}

type requestLogKey struct{}

// requestLogOf is the note of a request; outside of a Surface nobody reads it.
func requestLogOf(ctx context.Context) *requestLog {
	if n, ok := ctx.Value(requestLogKey{}).(*requestLog); ok {
		return n
	}
	return new(requestLog)
}

func (n *requestLog) failed(code fault.Code, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.code = code
	n.err = err
	n.expected = false
}

// notSetUp stands in the log line of a request for something that the deployment is not set up to serve. It is no code
// of the contract.
const notSetUp fault.Code = "temporarily_unavailable"

// unserved notes that a request asked for something that the deployment is not set up to serve. Anybody can ask for
// that, so that its log line must not look like that of an outage, although its status does.
func (n *requestLog) unserved(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.code = notSetUp
	n.err = err
	n.expected = true
}

// Annotate adds fields to the log line of a request. They must hold no secret, no URL and no text of a client.
func Annotate(ctx context.Context, attrs ...slog.Attr) {
	n := requestLogOf(ctx)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.attrs = append(n.attrs, attrs...)
}

// Failed puts a failure into the log line of a request, on hosts whose refusals are no envelopes.
func Failed(ctx context.Context, code fault.Code, err error) { requestLogOf(ctx).failed(code, err) }

// RedactSecret keeps a text that is a secret, whatever its form, out of the log line of a request.
func RedactSecret(ctx context.Context, secret string) {
	n := requestLogOf(ctx)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hide = secret
}

// RequestID is the id of a request: the client's, or a new one.
func RequestID(ctx context.Context) string { return requestLogOf(ctx).id }

var requestIDs = regexp.MustCompile(`^[!-~]{8,128}$`)

func requestID(r *http.Request) string {
	if given := r.Header.Get("X-Request-Id"); requestIDs.MatchString(given) {
		return given
	}
	return string(id.NewWorkspace()) // a random UUID
}

// line writes the log line: the route stands for the path, and no URL, token or body ever appears.
func (n *requestLog) line(log *slog.Logger, r *http.Request, rec *recorder, took time.Duration, more []slog.Attr) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if given, _ := r.Context().Value(gatewayIDKey{}).(string); given != "" {
		more = append(more, slog.String(GatewayRequestIDField, given))
	}
	attrs := append([]slog.Attr{
		slog.String("request_id", n.id), slog.String("method", method(r)), slog.String("route", route(r)),
		slog.Int("status", rec.status()), slog.Float64("duration_ms", float64(took.Microseconds())/1000), slog.Int64("bytes", rec.bytes),
	}, slices.Concat(n.attrs, more)...)
	level, failure := n.failure(rec.slow())
	log.LogAttrs(r.Context(), level, "request", append(attrs, failure...)...)
}

// failure is what went wrong and how much it matters to the operator: a client that left, or that reads too slowly, does
// not, nor does what is not set up. Level ERROR means that the service failed.
func (n *requestLog) failure(slow bool) (slog.Level, []slog.Attr) {
	var attrs []slog.Attr
	if slow {
		attrs = append(attrs, slog.Bool("slow_reader", true))
	}
	switch {
	case n.err == nil, slow && errors.Is(n.err, context.Canceled):
		return slog.LevelInfo, attrs
	case errors.Is(n.err, context.Canceled):
		return slog.LevelInfo, []slog.Attr{slog.Bool("client_left", true)}
	}
	level, attrs := slog.LevelInfo, append(attrs, slog.String("code", string(n.code)))
	if n.expected {
		return level, attrs
	}
	if cause := n.cause(); cause != "" {
		level, attrs = slog.LevelWarn, append(attrs, slog.String("error", cause))
	}
	if kind := n.code.Kind(); kind == fault.KindInternal || kind == fault.KindUnavailable {
		level = slog.LevelError
	}
	if n.stack != nil {
		attrs = append(attrs, slog.String("stack", string(n.stack)))
	}
	return level, attrs
}

// cause is what a refusal hides from the caller, "" when it hides nothing.
func (n *requestLog) cause() string {
	if fault.Of(n.err).Unwrap() == nil {
		return ""
	}
	text := n.err.Error()
	if n.hide != "" {
		text = strings.ReplaceAll(text, n.hide, "[secret]")
	}
	return Redact(text)
}

// route is the pattern that matched, without its method.
func route(r *http.Request) string {
	if r.Pattern == "" || r.Pattern == "/" {
		return "none"
	}
	if _, path, ok := cutMethod(r.Pattern); ok {
		return path
	}
	return r.Pattern
}

var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
}

// method is the request's method; a made-up one is text of the client.
func method(r *http.Request) string {
	if slices.Contains(methods, r.Method) {
		return r.Method
	}
	return "other"
}

// recorder remembers what was answered.
type recorder struct {
	http.ResponseWriter
	head  bool // the body stays here
	code  int
	bytes int64
	pace  *pace // nil: readers may take their time
}

func (w *recorder) slow() bool { return w.pace != nil && w.pace.slow }

func (w *recorder) status() int {
	if w.code == 0 {
		return http.StatusOK
	}
	return w.code
}

func (w *recorder) begun() bool { return w.code != 0 }

// WriteHeader remembers the first final status.
func (w *recorder) WriteHeader(code int) {
	if w.code == 0 && code >= http.StatusOK {
		w.code = code
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.code == 0 {
		w.code = http.StatusOK
	}
	n, err := w.write(b)
	if !w.head {
		w.bytes += int64(n)
	}
	return n, err
}

func (w *recorder) write(b []byte) (int, error) {
	if w.pace == nil {
		return w.ResponseWriter.Write(b)
	}
	return w.pace.write(b, w.ResponseWriter.Write)
}

// Unwrap serves http.ResponseController.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
