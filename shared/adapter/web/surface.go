// Package web is the HTTP surface of the hosts: routes with their document, guards, refusals and one log line a request.
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path"
	"runtime/debug"
	"strings"
	"time"

	"vitrine/shared/entry/access"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

// Surface is what all routes of a host share.
type Surface struct {
	Title  string // of the OpenAPI document
	Origin string // where the host is reached, without trailing slash
	// Metadata is the URL that every 401 names as the protected resource metadata; empty: 401s carry no challenge.
	Metadata string
	// HSTS is how much of its domain the host tells browsers to ask by HTTPS only.
	HSTS HSTS
	// Headers replace or join the security headers.
	Headers map[string]string
	// Serves tells under which host names requests are answered, /healthz aside; the others get 421. nil: under all.
	Serves func(name string) bool
	// Pace ends answers whose readers take them too slowly, for hosts that send large ones. The zero value ends none.
	Pace limits.Pace
	Log  *slog.Logger
	// Observe counts what a request does; the fields join its log line. nil: nothing is counted.
	Observe func(context.Context) (context.Context, func() []slog.Attr)
	// Refuse answers a request that panicked, on hosts whose refusals are no envelopes. nil: writeError.
	Refuse func(http.ResponseWriter, *http.Request, error)

	// Authenticate checks an API key and reads what the request is about. Only guarded routes need what follows.
	Authenticate func(ctx context.Context, bearer string, w access.Wants, requestID string) (access.Opened, error)
	// AuthenticateMember and AuthenticateMCP do the same with the access tokens of members, for this host and for the MCP
	// host. Only routes of members need them.
	AuthenticateMember, AuthenticateMCP func(ctx context.Context, bearer string, w access.Wants, requestID string) (access.Opened, error)
	// Touch stamps the use of an API key beside the request; its failure is nobody's. nil: no stamp.
	Touch   func(ctx context.Context, by credential.Actor) error
	Limiter *rate.Limiter
	Now     func() time.Time
}

// securityHeaders go with every answer, beside Strict-Transport-Security.
var securityHeaders = map[string]string{
	"X-Content-Type-Options":     "nosniff",
	"X-Frame-Options":            "DENY",
	"Referrer-Policy":            "strict-origin-when-cross-origin",
	"Permissions-Policy":         "accelerometer=(), camera=(), geolocation=(), microphone=(), payment=(), usb=()",
	"Cross-Origin-Opener-Policy": "same-origin",
	"Content-Security-Policy":    "default-src 'none'; frame-ancestors 'none'",
}

// Handler serves the routes, /openapi.json and /healthz. An unknown path and a known one with the wrong method, OPTIONS
// included, are 404; HEAD is answered by the GET handler.
func (s *Surface) Handler(routes ...Route) http.Handler {
	mux := http.NewServeMux()
	api := newAPI(wildcards{mux}, s)
	for _, r := range routes {
		r.register(s, api)
	}
	completeSchemas(api.OpenAPI().Components.Schemas)
	mux.HandleFunc("GET /openapi.json", document(api))
	mux.HandleFunc("GET /healthz", healthz)
	mux.HandleFunc("/", notFound)
	return s.Around(s.exact(mux))
}

func healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write([]byte("ok"))
}

// wildcards documents {path} at the end of a pattern and matches everything below it.
type wildcards struct{ *http.ServeMux }

// HandleFunc serves humago.
func (m wildcards) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	if dir, ok := strings.CutSuffix(pattern, "/{path}"); ok {
		m.ServeMux.HandleFunc(dir, notFound) // else ServeMux redirects to dir/, with the token in Location
		pattern = dir + "/{path...}"
	}
	m.ServeMux.HandleFunc(pattern, h)
}

func cutMethod(pattern string) (method, path string, ok bool) { return strings.Cut(pattern, " ") }

// exact refuses what ServeMux would redirect: here another spelling is another path.
func (s *Surface) exact(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Serves != nil && r.URL.Path != "/healthz" && !s.Serves(hostName(r)) {
			misdirected(w, r)
			return
		}
		if p := r.URL.EscapedPath(); path.Clean(p) != p {
			notFound(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// hostName is the name that a request asks, lower case and without port.
func hostName(r *http.Request) string {
	name, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		name = strings.Trim(r.Host, "[]")
	}
	return strings.ToLower(name)
}

// Around is the outermost layer of a host: it gives every request its id and every answer the common headers, answers
// panics, and writes one log line a request.
func (s *Surface) Around(next http.Handler) http.Handler {
	headers := s.headers()
	challenge := ""
	if s.Metadata != "" {
		challenge = fmt.Sprintf("Bearer resource_metadata=%q", s.Metadata)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start, counted := time.Now(), func() []slog.Attr { return nil }
		n := &note{id: requestID(r), challenge: challenge}
		ctx := context.WithValue(r.Context(), noteKey{}, n)
		if s.Observe != nil {
			ctx, counted = s.Observe(ctx)
		}
		r = r.WithContext(ctx)
		rec := &recorder{ResponseWriter: w, head: r.Method == http.MethodHead}
		begin(rec.Header(), headers, n.id)
		if s.Pace.Rate > 0 {
			rec.pace = newPace(s.Pace, w)
			defer rec.pace.finish()
		}
		defer func() { n.line(s.Log, r, rec, time.Since(start), counted()) }()
		defer func() {
			if v := recover(); v != nil {
				s.recovered(rec, r, v, headers)
			}
		}()
		next.ServeHTTP(rec, r)
	})
}

func (s *Surface) headers() http.Header {
	h := make(http.Header)
	for name, value := range securityHeaders {
		h.Set(name, value)
	}
	h.Set("Strict-Transport-Security", s.HSTS.header())
	for name, value := range s.Headers {
		h.Set(name, value)
	}
	return h
}

// begin gives an answer the headers of all answers; the slices are shared, and full, so that nobody appends to them.
func begin(to, headers http.Header, requestID string) {
	for name, values := range headers {
		to[name] = values
	}
	to.Set("X-Request-Id", requestID)
}

// recovered answers a panic with internal_error, or cuts the connection if an answer has begun.
func (s *Surface) recovered(w *recorder, r *http.Request, v any, headers http.Header) {
	if err, isError := v.(error); isError && errors.Is(err, http.ErrAbortHandler) {
		panic(v)
	}
	n := noteOf(r.Context())
	err := fmt.Errorf("panic: %v", v)
	n.failed(fault.Internal, err)
	n.stack = debug.Stack()
	if w.begun() {
		panic(http.ErrAbortHandler)
	}
	clear(w.Header())
	begin(w.Header(), headers, n.id)
	if s.Refuse != nil {
		s.Refuse(w, r, err)
		return
	}
	writeError(w, r, err)
}
