// Package app is the host that people see: pages, the viewer of access links, and the few calls that its own scripts
// make.
package app

import (
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// Host is what the app host needs.
type Host struct {
	Surface *web.Server     // writes the log; its headers and its refusals are this host's own
	Origins address.Origins // where the hosts are reached from outside
	Limiter Limiter
	Now     func() time.Time

	Sessions Sessions
	SignIns  SignIns
	Account  Account
	Keys     Keys

	Artifacts   Artifacts
	Links       Links
	Views       Views
	Live        Live
	Comparisons Comparisons
	Reports     Reports
	Exports     Exports

	// What asks members whether to let something in.
	Agents Agents
	Apps   Apps
	Claims Claims

	Billing   Billing // nil: the deployment sells no plans
	Deletions Deletions
	Operators Operators

	// Programs holds node_modules with the programs that pages of files run; nil: those pages do without.
	Programs fs.FS
}

// route is one line of the host's list; the path is a pattern of http.ServeMux.
type route struct {
	method, path string
	handle       endpoint
	// acts says that a GET changes something, so that a HEAD must not do the same.
	acts bool
	// parent is the page that a question belongs to. Browsers that another site sends to the question get it instead.
	parent string
	// noReferrer keeps the address of the page from the sites that it links to.
	noReferrer bool
}

// endpoint makes what answers a route: a handler for everybody, or members, or operators.
type endpoint interface{ serve(*Host) handler }

// handler answers a request or returns the failure that the surface (page or JSON) writes.
type handler func(http.ResponseWriter, *http.Request) error

func (f handler) serve(*Host) handler { return f }

// timed is a handler with the limit of answers that read a session.
type timed handler

func (f timed) serve(*Host) handler { return withTimeout(limits.IdentityAnswer, handler(f)) }

// serve answers requests to a route. A page of another site could show a question under the pointer of a person who is
// about to click, and the click would answer it; the page that the question belongs to leads to it.
func (h *Host) serve(r route) handler {
	handle := r.handle.serve(h)
	return func(w http.ResponseWriter, request *http.Request) error {
		site := request.Header.Get("Sec-Fetch-Site")
		if r.parent != "" && (site == "cross-site" || site == "same-site") {
			redirect(w, strings.Replace(r.parent, "{artifactId}", url.PathEscape(request.PathValue("artifactId")), 1))
			return nil
		}
		if r.noReferrer {
			w.Header().Set("Referrer-Policy", "no-referrer")
		}
		return handle(w, request)
	}
}

// noReferrer sets the field of the same name of every route.
func noReferrer(routes ...route) []route {
	for i := range routes {
		routes[i].noReferrer = true
	}
	return routes
}

func (h *Host) routes() []route {
	return slices.Concat(
		h.artifactRoutes(),
		h.openRoutes(),
		h.liveRoutes(),
		h.reportRoutes(),
		h.memberRoutes(),
		h.deletionRoutes(),
		h.billingRoutes(),
		h.exportRoutes(),
		h.decisionRoutes(),
		h.operatorRoutes(),
	)
}

// openRoutes need no member: the front page, the viewer of access links, and signing in and out.
func (h *Host) openRoutes() []route {
	return []route{
		{method: "GET", path: "/{$}", handle: timed(h.home)},
		{method: "GET", path: "/al/{publicId}", handle: handler(h.viewer)},
		{method: "POST", path: "/al/{publicId}", handle: handler(h.openPasted)},
		{method: "POST", path: "/api/access-links/resolve", handle: handler(h.resolve)},
		{method: "POST", path: "/api/access-links/qr", handle: handler(h.qr)},
		{method: "GET", path: "/assets/{build}/{name}", handle: handler(asset)},
		{method: "GET", path: "/scripts/{program}/{file...}", handle: handler(h.program)},
		{method: "GET", path: "/healthz", handle: fixed("application/json", "no-store", `{"ok":true,"app":"app"}`)},
		{method: "GET", path: "/robots.txt", handle: fixed("text/plain; charset=utf-8", "public, max-age=3600", robots)},
		{
			method: "GET",
			path:   "/.well-known/gpc.json",
			handle: fixed("application/json", "public, max-age=300", `{"gpc":true,"lastUpdate":"2026-01-01"}`),
		},

		{
			method: "GET",
			path:   "/api/auth/sign-in",
			handle: timed(h.signIn),
			acts:   true,

			noReferrer: true,
		},
		{
			method: "GET",
			path:   "/api/auth/callback",
			handle: timed(h.callback),
			acts:   true,

			noReferrer: true,
		},
		{method: "POST", path: "/api/auth/sign-out", handle: timed(h.signOut)},
		{
			method: "POST",
			path:   "/api/auth/sign-out-everywhere",
			handle: members{form: h.signOutEverywhere, back: "/settings"},
		},
		{method: "GET", path: "/signed-out", handle: timed(h.signedOut)},
	}
}

// memberRoutes are the pages of a member about their workspace.
func (h *Host) memberRoutes() []route {
	return []route{
		{method: "GET", path: "/dashboard", handle: members{page: h.dashboard}},
		{method: "GET", path: artifactsPath, handle: members{page: resetCursor(h.artifacts)}},
		{
			method: "GET",
			path:   selectionPath,
			handle: members{page: h.askSelected},
			parent: artifactsPath,
		},
		{method: "POST", path: selectionPath, handle: members{form: h.changeSelected, back: artifactsPath}},
		{method: "GET", path: "/keys", handle: members{page: resetCursor(h.keys)}},
		{method: "POST", path: "/keys", handle: members{form: h.createKey, back: "/keys"}},
		{method: "GET", path: "/keys/ended", handle: members{page: resetCursor(h.endedKeys)}},
		{
			method: "GET",
			path:   "/keys/{keyId}/revoke",
			handle: members{page: h.askRevokeKey},
			parent: "/keys",
		},
		{method: "POST", path: "/keys/{keyId}/revoke", handle: members{form: h.revokeKey, back: "/keys"}},
		{method: "GET", path: "/connections", handle: members{page: resetCursor(h.connections)}},
		{
			method: "GET",
			path:   "/connections/agents/{registrationId}/unlink",
			handle: members{page: h.askUnlinkAgent},
			parent: "/connections",
		},
		{
			method: "POST",
			path:   "/connections/agents/{registrationId}/unlink",
			handle: members{form: h.unlinkAgent, back: "/connections"},
		},
		{
			method: "GET",
			path:   "/connections/providers/{delegationId}/unlink",
			handle: members{page: h.askUnlinkProvider},
			parent: "/connections",
		},
		{
			method: "POST",
			path:   "/connections/providers/{delegationId}/unlink",
			handle: members{form: h.unlinkProvider, back: "/connections"},
		},
		{
			method: "GET",
			path:   "/connections/apps/{grantId}/unlink",
			handle: members{page: h.askUnlinkApp},
			parent: "/connections",
		},
		{
			method: "POST",
			path:   "/connections/apps/{grantId}/unlink",
			handle: members{form: h.unlinkApp, back: "/connections"},
		},
		{method: "GET", path: "/audit", handle: members{page: resetCursor(h.audit), right: credential.Admin}},
		{method: "GET", path: "/settings", handle: members{page: h.settings}},
		{
			method: "POST",
			path:   "/settings",
			handle: members{form: h.updateSettings, back: "/settings", right: credential.Admin},
		},
		{
			method: "POST",
			path:   "/settings/sessions/{session}/end",
			handle: members{form: h.endSession, back: "/settings"},
		},
		{
			method: "GET",
			path:   "/settings/sign-out-everywhere",
			handle: members{page: h.askSignOutEverywhere},
			parent: "/settings",
		},
	}
}

// decisionRoutes ask a member whether to let in a claim, an agent, a device or an app.
func (h *Host) decisionRoutes() []route {
	return noReferrer(
		route{method: "GET", path: "/claim", handle: timed(h.claimPage)},
		route{method: "POST", path: "/claim", handle: members{form: h.showClaim, back: "/claim"}},
		route{method: "POST", path: "/claim/confirm", handle: members{form: h.claim, back: "/claim"}},
		route{method: "GET", path: agentPath, handle: handler(h.agentPage)},
		route{method: "POST", path: agentPath, handle: members{form: h.forThisAttempt(h.approveAgent), back: agentPath}},
		route{
			method: "POST",
			path:   agentPath + "/deny",
			handle: members{form: h.forThisAttempt(h.denyAgent), back: agentPath},
		},
		route{method: "GET", path: keepPath, handle: timed(h.askKept)},
		route{method: "POST", path: keepPath, handle: timed(h.keep)},
		route{method: "GET", path: "/device", handle: members{page: h.devicePage}},
		route{method: "POST", path: "/device", handle: members{form: h.showDevice, back: "/device"}},
		route{method: "POST", path: "/device/approve", handle: members{form: h.approveDevice, back: "/device"}},
		route{method: "POST", path: "/device/deny", handle: members{form: h.denyDevice, back: "/device"}},
		route{method: "GET", path: "/oauth/consent", handle: members{page: h.consentPage, deleting: true}},
		route{
			method: "POST",
			path:   "/oauth/consent/allow",
			handle: members{form: h.allowApp, back: "/dashboard", deleting: true},
		},
		route{
			method: "POST",
			path:   "/oauth/consent/deny",
			handle: members{form: h.denyApp, back: "/dashboard", deleting: true},
		},
		route{method: "GET", path: "/oauth/error", handle: timed(h.appError)},
	)
}

// robots keeps crawlers on the front page: every other address is of one member or one link.
const robots = "User-agent: *\nAllow: /$\nAllow: /assets/\nDisallow: /\n"

// Handler serves the host. It panics when the origin of the content host or of the app host is not an absolute http
// URL: nothing could be framed safely.
func (h *Host) Handler() http.Handler {
	h.contentOrigin()
	mux := http.NewServeMux()
	allowed := map[string][]string{}
	for _, r := range h.routes() {
		mux.HandleFunc(r.method+" "+r.path, h.answer(h.serve(r)))
		allowed[r.path] = append(allowed[r.path], r.method)
		switch {
		case r.acts:
			mux.HandleFunc("HEAD "+r.path, h.answer(wrongMethod(r.method)))
		case r.method == http.MethodGet:
			allowed[r.path] = append(allowed[r.path], http.MethodHead)
		}
	}
	for path, methods := range allowed {
		slices.Sort(methods)
		refuse := wrongMethod(strings.Join(methods, ", "))
		if forOperators(path) {
			refuse = notFound // it would tell that the page is there
		}
		mux.HandleFunc(path, h.answer(refuse))
	}
	mux.HandleFunc("/", h.answer(notFound))

	guard := http.NewCrossOriginProtection()
	if err := guard.AddTrustedOrigin(origin("Origins.App", h.Origins.App)); err != nil {
		panic(err)
	}
	guard.SetDenyHandler(h.answer(foreign))
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

func foreign(http.ResponseWriter, *http.Request) error {
	return explained{fault.New(fault.Forbidden, "The request came from another site."), pages.Message{
		Heading: "Not done",
		Text:    "Another site tried to do this in your name, so it was not done. Do it from this site instead.",
	}}
}

func notFound(http.ResponseWriter, *http.Request) error { return fault.NewCode(fault.NotFound) }

// methodNotAllowed carries the methods of the path; the contract has no code for it.
type methodNotAllowed string

func (m methodNotAllowed) Error() string { return "method not allowed" }

func wrongMethod(allow string) handler {
	return func(http.ResponseWriter, *http.Request) error { return methodNotAllowed(allow) }
}

func (h *Host) contentOrigin() string { return origin("Origins.Content", h.Origins.Content) }

func origin(name, raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		panic(fmt.Sprintf("app: %s is not an absolute http URL: %q", name, raw))
	}
	return u.Scheme + "://" + u.Host
}
