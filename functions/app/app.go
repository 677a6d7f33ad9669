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
	Surface *web.Server     // writes the log; this host replaces its headers and refusals
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

	// What asks members to let something in.
	Agents Agents
	Apps   Apps
	Claims Claims

	Billing   Billing // nil: the deployment sells no plans
	Deletions Deletions
	Operators Operators

	// Programs contains node_modules with the third-party programs that pages of files load; nil: those pages do without.
	Programs fs.FS
}

// route is one line of the host's list; the path is a pattern of http.ServeMux.
type route struct {
	method, path string
	handle       endpoint
	// acts marks a GET that changes something, so that HEAD is refused.
	acts bool
	// parent is the page that leads to a question. A browser that comes to the question from another site is sent there.
	parent string
	// noReferrer keeps the address of the page from the sites that it links to.
	noReferrer bool
	// packed marks answers that hold nothing of a session, so that their size may tell what they hold. The answers of all
	// other routes are not packed.
	packed bool
}

// endpoint is what answers a route: a handler for everybody, or members, or operators.
type endpoint interface{ serve(*Host) handler }

// handler answers a request, or returns a failure that the host writes as a page or as JSON.
type handler func(http.ResponseWriter, *http.Request) error

func (f handler) serve(*Host) handler { return f }

// timed is a handler for everybody that may wait for a store or for the identity provider, and therefore has a time
// limit.
type timed handler

func (f timed) serve(*Host) handler { return withTimeout(limits.IdentityAnswer, handler(f)) }

// serve returns what answers requests to a route.
func (h *Host) serve(r route) handler {
	handle := r.handle.serve(h)
	return func(w http.ResponseWriter, request *http.Request) error {
		// Another site could bring a question under the pointer of somebody who is about to click, so that the click
		// answers it. From the parent, only a click of its own leads to the question.
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

// noReferrer sets the field of that name in all routes.
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

// openRoutes are open to everybody: the front page, the viewer of access links, and signing in and out.
func (h *Host) openRoutes() []route {
	return []route{
		{method: "GET", path: "/{$}", handle: timed(h.home), packed: true},
		{method: "GET", path: "/al/{publicId}", handle: handler(h.viewer), packed: true},
		{method: "POST", path: "/al/{publicId}", handle: handler(h.openPasted)},
		{method: "POST", path: "/api/access-links/resolve", handle: handler(h.resolve)},
		{method: "POST", path: "/api/access-links/qr", handle: handler(h.qr)},
		{method: "GET", path: "/assets/{build}/{name}", handle: handler(asset), packed: true},
		{method: "GET", path: "/scripts/{program}/{file...}", handle: handler(h.program), packed: true},
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

// memberRoutes show members their workspace.
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

// robots allows crawlers the front page alone, because every other address belongs to a member or a link.
const robots = "User-agent: *\nAllow: /$\nAllow: /assets/\nDisallow: /\n"

// Handler serves the host. It panics if the origin of the app host or of the content host is not an absolute http URL,
// because nothing could be framed safely.
func (h *Host) Handler() http.Handler {
	h.contentOrigin()
	mux := http.NewServeMux()
	allowed := map[string][]string{}
	for _, r := range h.routes() {
		var handle http.Handler = h.answer(h.serve(r))
		if r.packed {
			handle = web.Pack(handle)
		}
		mux.Handle(r.method+" "+r.path, handle)
		allowed[r.path] = append(allowed[r.path], r.method)
		switch {
		case r.acts:
			mux.HandleFunc("HEAD "+r.path, h.answer(wrongMethod(r.method)))
		case r.method == http.MethodGet: // for which ServeMux answers HEAD too
			allowed[r.path] = append(allowed[r.path], http.MethodHead)
		}
	}
	for path, methods := range allowed {
		slices.Sort(methods)
		refuse := wrongMethod(strings.Join(methods, ", "))
		if forOperators(path) {
			refuse = notFound // 405 would reveal that the page exists
		}
		mux.HandleFunc(path, h.answer(refuse)) // any method that no route of the path has
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

// exactPaths refuses every path that path.Clean would change, because here another spelling is another path. The
// routers of the other hosts look at the escaped path instead, and refuse a slash at the end too. That would let %2e%2e
// and %2F through to handlers here, with other pages for them, and would answer 404 where a path that ends in a slash
// gets 405 today.
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

// methodNotAllowed is a refusal with the methods of the path, for Allow. The contract has no code for it.
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
