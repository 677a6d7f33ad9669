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

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// requestLog collects what the log line and the refusals of one request need. It is safe for concurrent use.
type requestLog struct {
	id        string
	challenge string // WWW-Authenticate of every 401; empty: none

	mu    sync.Mutex
	hide  []string // secrets that are not logged even if an error quotes them
	code  fault.Code
	err   error
	stack []byte
	attrs []slog.Attr

	expected bool // err follows from the deployment's configuration and needs no attention
}

type requestLogKey struct{}

// requestLogOf returns the log of a request. Outside of Server.Around it returns one that is discarded.
func requestLogOf(ctx context.Context) *requestLog {
	if n, ok := ctx.Value(requestLogKey{}).(*requestLog); ok {
		return n
	}
	return new(requestLog)
}

func (l *requestLog) failed(code fault.Code, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.code = code
	l.err = err
	l.stack = async.StackOf(err)
	l.expected = false
}

// notSetUp is the log code of a request for a feature that this deployment does not configure. The contract does not
// have it.
const notSetUp fault.Code = "temporarily_unavailable"

// unserved records that a request asked for a feature that this deployment does not configure. Any client can send such
// a request, so its log line must not look like an outage, although its status does.
func (l *requestLog) unserved(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.code = notSetUp
	l.err = err
	l.expected = true
}

// Annotate adds fields to the log line of a request. The fields must not hold secrets, URLs or text of a client.
func Annotate(ctx context.Context, attrs ...slog.Attr) {
	n := requestLogOf(ctx)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.attrs = append(n.attrs, attrs...)
}

// Failed records a failure in the log line of a request. It is for hosts whose refusals are not envelopes.
func Failed(ctx context.Context, code fault.Code, err error) { requestLogOf(ctx).failed(code, err) }

// RedactSecret keeps a secret out of the log line of a request, beside those of earlier calls. It is for secrets whose form
// Redact does not recognise.
func RedactSecret(ctx context.Context, secret string) {
	n := requestLogOf(ctx)
	n.mu.Lock()
	defer n.mu.Unlock()
	if secret != "" {
		n.hide = append(n.hide, secret)
	}
}

// RequestID returns the ID of a request: the client's, or a new one.
func RequestID(ctx context.Context) string { return requestLogOf(ctx).id }

var requestIDs = regexp.MustCompile(`^[!-~]{8,128}$`)

func requestID(r *http.Request) string {
	if given := r.Header.Get("X-Request-Id"); requestIDs.MatchString(given) {
		return given
	}
	return string(id.NewWorkspace()) // a random UUID
}

// line writes the log line. It names the route and not the path, and never a URL, token or body.
func (l *requestLog) line(log *slog.Logger, r *http.Request, rec *recorder, took time.Duration, more []slog.Attr) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if given, _ := r.Context().Value(gatewayIDKey{}).(string); given != "" {
		more = append(more, slog.String(GatewayRequestIDField, given))
	}
	level, failure := l.failure(rec.slow())
	attrs := slices.Concat([]slog.Attr{
		slog.String("request_id", l.id), slog.String("method", method(r)), slog.String("route", route(r)),
		slog.Int("status", rec.status()), slog.Float64("duration_ms", float64(took.Microseconds())/1000),
		slog.Int64("bytes", rec.bytes),
	}, l.attrs, more, failure)
	log.LogAttrs(r.Context(), level, "request", attrs...)
}

// failure returns the level and the fields of a failure. Failures of the service have level ERROR. A client that left
// or reads too slowly is none, and neither is a feature that is not configured.
func (l *requestLog) failure(slow bool) (slog.Level, []slog.Attr) {
	var attrs []slog.Attr
	if slow {
		attrs = append(attrs, slog.Bool("slow_reader", true))
	}
	switch {
	case l.err == nil, slow && errors.Is(l.err, context.Canceled):
		return slog.LevelInfo, attrs
	case errors.Is(l.err, context.Canceled):
		return slog.LevelInfo, []slog.Attr{slog.Bool("client_left", true)}
	}
	level, attrs := slog.LevelInfo, append(attrs, slog.String("code", string(l.code)))
	if l.expected {
		return level, attrs
	}
	if cause := l.cause(); cause != "" {
		level, attrs = slog.LevelWarn, append(attrs, slog.String("error", cause))
	}
	if kind := l.code.Kind(); kind == fault.KindInternal || kind == fault.KindUnavailable {
		level = slog.LevelError
	}
	if l.stack != nil {
		attrs = append(attrs, slog.String("stack", string(l.stack)))
	}
	return level, attrs
}

// cause returns the text that a refusal hides from the caller, or "" if it hides none.
func (l *requestLog) cause() string {
	if fault.Of(l.err).Unwrap() == nil {
		return ""
	}
	text := l.err.Error()
	for _, secret := range l.hide {
		text = strings.ReplaceAll(text, secret, "[secret]")
	}
	return Redact(text)
}

// route returns the path of the pattern that matched.
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
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	http.MethodOptions,
}

// method returns the request's method, or "other" for an unknown one, which would be text of the client.
func method(r *http.Request) string {
	if slices.Contains(methods, r.Method) {
		return r.Method
	}
	return "other"
}

// recorder records status and size of the answer.
type recorder struct {
	http.ResponseWriter
	head  bool // the body is discarded
	code  int
	bytes int64
	pace  *pace // nil: readers may be as slow as they like
}

func (r *recorder) slow() bool { return r.pace != nil && r.pace.slow }

func (r *recorder) status() int {
	if r.code == 0 {
		return http.StatusOK
	}
	return r.code
}

func (r *recorder) begun() bool { return r.code != 0 }

// WriteHeader implements http.ResponseWriter. It records the first final status.
func (r *recorder) WriteHeader(code int) {
	if r.code == 0 && code >= http.StatusOK {
		r.code = code
	}
	r.ResponseWriter.WriteHeader(code)
}

func (r *recorder) Write(b []byte) (int, error) {
	if r.code == 0 {
		r.code = http.StatusOK
	}
	n, err := r.write(b)
	if !r.head {
		r.bytes += int64(n)
	}
	return n, err
}

func (r *recorder) write(b []byte) (int, error) {
	if r.pace == nil {
		return r.ResponseWriter.Write(b)
	}
	return r.pace.write(b, r.ResponseWriter.Write)
}

// Unwrap lets http.ResponseController find the wrapped writer.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
