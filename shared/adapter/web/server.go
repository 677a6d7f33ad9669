// Package web serves the HTTP interface of the hosts: routes with their document, guards, refusals
// and one log line a request.
package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path"
	"strings"
	"time"

	"vitrine/shared/entry/access"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

// Server is what all routes of a host share.
type Server struct {
	Title  string // of the OpenAPI document
	Origin string // where the host is reached, without trailing slash
	// Metadata is the URL that every 401 names as the protected resource metadata; empty: 401s carry no challenge.
	Metadata string
	// HSTS is the scope of Strict-Transport-Security.
	HSTS HSTS
	// Headers replace or join the security headers.
	Headers map[string]string
	// Serves reports whether requests for a host name are answered, /healthz aside; the others get
	// 421. nil: all are.
	Serves func(name string) bool
	// Pace ends answers whose readers take them too slowly, for hosts that send large ones. The
	// zero value ends none.
	Pace limits.Pace
	Log  *slog.Logger
	// Observe counts what a request does; the fields join its log line. nil: no counting.
	Observe func(context.Context) (context.Context, func() []slog.Attr)
	// Refuse answers a request that panicked, on hosts whose refusals are not envelopes. nil:
	// writeError.
	Refuse func(http.ResponseWriter, *http.Request, error)

	// Authenticate checks an API key and reads what the request is about. Only guarded routes need
	// the fields that follow.
	Authenticate func(ctx context.Context, bearer string, w access.Request, requestID string) (access.Authenticated, error)
	// AuthenticateMember and AuthenticateMCP do the same with the access tokens of members, for
	// this host and for the MCP host. Only routes of members need them.
	AuthenticateMember, AuthenticateMCP func(ctx context.Context, bearer string, w access.Request,
		requestID string) (access.Authenticated, error)
	// Touch records the use of an API key, concurrently with the request; its failure is ignored.
	// nil: no record.
	Touch   func(ctx context.Context, by credential.Actor) error
	Limiter *rate.Limiter
	Now     func() time.Time

	untrusted bool // set by Untrusted
}

// securityHeaders are set on every answer, in addition to Strict-Transport-Security.
var securityHeaders = map[string]string{
	"X-Content-Type-Options":     "nosniff",
	"X-Frame-Options":            "DENY",
	"Referrer-Policy":            "strict-origin-when-cross-origin",
	"Permissions-Policy":         "accelerometer=(), camera=(), geolocation=(), microphone=(), payment=(), usb=()",
	"Cross-Origin-Opener-Policy": "same-origin",
	"Content-Security-Policy":    "default-src 'none'; frame-ancestors 'none'",
}

// The paths that every host has, with answers of its own if its routes name them.
const (
	documentPath = "/openapi.json"
	healthPath   = "/healthz"
)

// Handler serves the routes, /openapi.json and /healthz. An unknown path and a known one with the
// wrong method, OPTIONS included, are 404, but for preflights on hosts of untrusted files; the GET
// handler answers HEAD. The path / alone answers a wrong method with 405, on hosts that have it.
func (s *Server) Handler(routes ...Route) http.Handler {
	mux := http.NewServeMux()
	paths := wildcards{mux, &rootMethods{}, map[string]bool{}}
	api := newAPI(paths, s)
	for _, r := range routes {
		r.register(s, api)
	}
	paths.closeFolders()
	completeSchemas(api.OpenAPI().Components.Schemas)
	if api.OpenAPI().Paths[documentPath] == nil {
		mux.HandleFunc("GET "+documentPath, document(api))
	}
	if api.OpenAPI().Paths[healthPath] == nil {
		mux.HandleFunc("GET "+healthPath, healthz)
	}
	if allowed := *paths.root; len(allowed) > 0 {
		mux.HandleFunc("/{$}", allowed.refuse)
	}
	mux.HandleFunc("/", notFound)
	return s.Around(Pack(s.exact(mux)))
}

// rootMethods are the methods of the path /.
type rootMethods []string

// refuse answers another method.
func (m rootMethods) refuse(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Allow", strings.Join(m, ", "))
	w.WriteHeader(http.StatusMethodNotAllowed)
}

// healthz answers a frame with 204, which leaves the frame as it is. Viewers open the connection to their content by it.
func healthz(w http.ResponseWriter, r *http.Request) {
	if ViewerFrame(r) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Write([]byte("ok"))
}

// wildcards documents {path} at the end of a pattern and matches everything below it, and documents
// / and matches that path alone.
type wildcards struct {
	*http.ServeMux
	root    *rootMethods
	folders map[string]bool // patterns that end before {path}, and whether a route has them
}

// HandleFunc serves humago.
func (w wildcards) HandleFunc(pattern string, h func(http.ResponseWriter, *http.Request)) {
	if method, path, ok := cutMethod(pattern); ok && path == "/" {
		*w.root = append(*w.root, method)
		pattern += "{$}"
	}
	if dir, ok := strings.CutSuffix(pattern, "/{path}"); ok {
		if !w.folders[dir] {
			w.folders[dir] = false
		}
		pattern = dir + "/{path...}"
	} else {
		w.folders[pattern] = true
	}
	w.ServeMux.HandleFunc(pattern, h)
}

// closeFolders refuses what ServeMux would redirect to dir/, with the token in Location.
func (w wildcards) closeFolders() {
	for dir, open := range w.folders {
		if !open {
			w.ServeMux.HandleFunc(dir, notFound)
		}
	}
}

func cutMethod(pattern string) (method, path string, ok bool) { return strings.Cut(pattern, " ") }

// exact refuses what ServeMux would redirect, because another spelling is another path. ServeMux
// cleans the escaped path but for a slash at its end, so this looks at that one too. The app host
// decides by the decoded path, which refuses %2e%2e and %2F in segments as well.
func (s *Server) exact(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Serves != nil && r.URL.Path != "/healthz" && !s.Serves(hostName(r)) {
			misdirected(w, r)
			return
		}
		p := r.URL.EscapedPath()
		if clean := path.Clean(p); clean != p && (clean == "/" || clean+"/" != p) {
			notFound(w, r)
			return
		}
		if s.untrusted && r.Method == http.MethodOptions {
			preflight(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// hostName returns the host name of a request, lower case and without port.
func hostName(r *http.Request) string {
	name, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		name = strings.Trim(r.Host, "[]")
	}
	return strings.ToLower(name)
}

// Around is the outermost layer of a host. It gives every request its id and every answer the
// common headers, answers panics, and writes one log line a request.
func (s *Server) Around(next http.Handler) http.Handler {
	headers := s.headers()
	challenge := ""
	if s.Metadata != "" {
		challenge = fmt.Sprintf("Bearer resource_metadata=%q", s.Metadata)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start, counted := time.Now(), func() []slog.Attr { return nil }
		n := &requestLog{id: requestID(r), challenge: challenge}
		ctx := context.WithValue(r.Context(), requestLogKey{}, n)
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

func (s *Server) headers() http.Header {
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

// begin gives an answer the common headers. The slices are shared, and at capacity, so that an
// append copies them.
func begin(to, headers http.Header, requestID string) {
	for name, values := range headers {
		to[name] = values
	}
	to.Set("X-Request-Id", requestID)
}

// recovered answers a panic with internal_error, or cuts the connection if an answer has begun.
func (s *Server) recovered(w *recorder, r *http.Request, v any, headers http.Header) {
	if err, isError := v.(error); isError && errors.Is(err, http.ErrAbortHandler) {
		panic(v)
	}
	n := requestLogOf(r.Context())
	err := async.Recovered(v)
	n.failed(fault.Internal, err)
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
