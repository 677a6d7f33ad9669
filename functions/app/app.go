// Package app is the host that people see: pages, the viewer of access links, and the few calls that its own scripts make.
package app

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"vitrine/shared/contract"
	"vitrine/shared/fault"
	"vitrine/shared/web"
)

// Resolver opens access links.
type Resolver interface {
	// Resolve checks the secret of a link and returns what it shows. Faults: InvalidRequest, NotFound for every link that
	// does not open, RateLimitedArtifact with RetryAfter, DatabaseUnavailable.
	Resolve(ctx context.Context, r contract.ResolveRequest) (contract.Resolved, error)
}

// Host is what the app host needs.
type Host struct {
	Links Resolver
	// ContentURL, AppURL and APIURL are where the three hosts are reached from outside, without a trailing slash.
	ContentURL, AppURL, APIURL string
	// Surface writes the log; its headers and its refusals are this host's own.
	Surface *web.Surface
}

// route is one line of the host's list; the path is a pattern of http.ServeMux.
type route struct {
	method, path string
	handle       handler
}

// handler answers a request or returns the failure that the surface (page or JSON) writes.
type handler func(http.ResponseWriter, *http.Request) error

func (h *Host) routes() []route {
	return []route{
		{"GET", "/{$}", h.home},
		{"GET", "/al/{publicId}", h.viewer},
		{"POST", "/api/access-links/resolve", h.resolve},
		{"GET", "/assets/{build}/{name}", asset},
		{"GET", "/healthz", fixed("application/json", "no-store", `{"ok":true,"app":"app"}`)},
		{"GET", "/robots.txt", fixed("text/plain; charset=utf-8", "public, max-age=3600", robots)},
		{"GET", "/.well-known/gpc.json", fixed("application/json", "public, max-age=300", `{"gpc":true,"lastUpdate":"2026-01-01"}`)},
	}
}

// robots keeps crawlers on the front page: every other address is somebody's.
const robots = "User-agent: *\nAllow: /$\nAllow: /assets/\nDisallow: /\n"

// Handler serves the host. It panics when ContentURL or AppURL is not an absolute http URL: nothing could be framed safely.
func (h *Host) Handler() http.Handler {
	h.contentOrigin()
	mux := http.NewServeMux()
	allowed := map[string][]string{}
	for _, r := range h.routes() {
		mux.HandleFunc(r.method+" "+r.path, h.answer(r.handle))
		allowed[r.path] = append(allowed[r.path], r.method)
		if r.method == http.MethodGet {
			allowed[r.path] = append(allowed[r.path], http.MethodHead)
		}
	}
	for path, methods := range allowed {
		slices.Sort(methods)
		mux.HandleFunc(path, h.answer(wrongMethod(strings.Join(methods, ", "))))
	}
	mux.HandleFunc("/", h.answer(notFound))

	guard := http.NewCrossOriginProtection()
	if err := guard.AddTrustedOrigin(origin("AppURL", h.AppURL)); err != nil {
		panic(err)
	}
	guard.SetDenyHandler(h.answer(func(http.ResponseWriter, *http.Request) error {
		return fault.New(fault.Forbidden, "The request came from another site.")
	}))
	return h.around(guard.Handler(h.exactPaths(mux)))
}

func (h *Host) around(next http.Handler) http.Handler {
	s := *h.Surface
	s.Headers, s.Refuse = headers, h.fail
	return s.Around(next)
}

// exactPaths answers paths that ServeMux would clean and redirect: here another spelling is another path.
func (h *Host) exactPaths(next http.Handler) http.Handler {
	missing := h.answer(notFound)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := r.URL.Path
		if clean := path.Clean(p); p != clean && p != clean+"/" {
			missing(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func notFound(http.ResponseWriter, *http.Request) error { return fault.Bare(fault.NotFound) }

// methodNotAllowed carries the methods of the path; the contract has no code for it.
type methodNotAllowed string

func (m methodNotAllowed) Error() string { return "method not allowed" }

func wrongMethod(allow string) handler {
	return func(http.ResponseWriter, *http.Request) error { return methodNotAllowed(allow) }
}

func (h *Host) contentOrigin() string { return origin("ContentURL", h.ContentURL) }

func origin(name, raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		panic(fmt.Sprintf("app: %s is not an absolute http URL: %q", name, raw))
	}
	return u.Scheme + "://" + u.Host
}
