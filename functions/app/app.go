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
	handle       handler
	// acts says that a GET changes something, so that a HEAD must not do the same.
	acts bool
	// parent is the page that a question belongs to. Browsers that another site sends to the question get it instead.
	parent string
}

// serve answers a request to the route. A page of another site could show a question under the pointer of a person who
// is about to click, and the click would answer it; the page that the question belongs to leads to it.
func (r route) serve(w http.ResponseWriter, request *http.Request) error {
	switch request.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		if r.parent != "" {
			redirect(w, strings.Replace(r.parent, "{artifactId}", url.PathEscape(request.PathValue("artifactId")), 1))
			return nil
		}
	}
	return r.handle(w, request)
}

// handler answers a request or returns the failure that the surface (page or JSON) writes.
type handler func(http.ResponseWriter, *http.Request) error

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
		{method: "GET", path: "/{$}", handle: withTimeout(h.home)},
		{method: "GET", path: "/al/{publicId}", handle: h.viewer},
		{method: "POST", path: "/al/{publicId}", handle: h.openPasted},
		{method: "POST", path: "/api/access-links/resolve", handle: h.resolve},
		{method: "POST", path: "/api/access-links/qr", handle: h.qr},
		{method: "GET", path: "/assets/{build}/{name}", handle: asset},
		{method: "GET", path: "/scripts/{program}/{file...}", handle: h.program},
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
			handle: noReferrer(withTimeout(h.signIn)),
			acts:   true,
		},
		{
			method: "GET",
			path:   "/api/auth/callback",
			handle: noReferrer(withTimeout(h.callback)),
			acts:   true,
		},
		{method: "POST", path: "/api/auth/sign-out", handle: withTimeout(h.signOut)},
		{method: "POST", path: "/api/auth/sign-out-everywhere", handle: h.command("/settings", h.signOutEverywhere)},
		{method: "GET", path: "/signed-out", handle: withTimeout(h.signedOut)},
	}
}

// memberRoutes are the pages of a member about their workspace.
func (h *Host) memberRoutes() []route {
	return []route{
		{method: "GET", path: "/dashboard", handle: h.member(h.dashboard)},
		{method: "GET", path: artifactsPath, handle: h.member(resetCursor(h.artifacts))},
		{
			method: "GET",
			path:   selectionPath,
			handle: h.member(h.askSelected),
			parent: artifactsPath,
		},
		{method: "POST", path: selectionPath, handle: h.command(artifactsPath, h.changeSelected)},
		{method: "GET", path: "/keys", handle: h.member(resetCursor(h.keys))},
		{method: "POST", path: "/keys", handle: h.command("/keys", h.createKey)},
		{method: "GET", path: "/keys/ended", handle: h.member(resetCursor(h.endedKeys))},
		{
			method: "GET",
			path:   "/keys/{keyId}/revoke",
			handle: h.member(h.askRevokeKey),
			parent: "/keys",
		},
		{method: "POST", path: "/keys/{keyId}/revoke", handle: h.command("/keys", h.revokeKey)},
		{method: "GET", path: "/connections", handle: h.member(resetCursor(h.connections))},
		{
			method: "GET",
			path:   "/connections/agents/{registrationId}/unlink",
			handle: h.member(h.askUnlinkAgent),
			parent: "/connections",
		},
		{method: "POST", path: "/connections/agents/{registrationId}/unlink", handle: h.command("/connections", h.unlinkAgent)},
		{
			method: "GET",
			path:   "/connections/providers/{delegationId}/unlink",
			handle: h.member(h.askUnlinkProvider),
			parent: "/connections",
		},
		{
			method: "POST",
			path:   "/connections/providers/{delegationId}/unlink",
			handle: h.command("/connections", h.unlinkProvider),
		},
		{
			method: "GET",
			path:   "/connections/apps/{grantId}/unlink",
			handle: h.member(h.askUnlinkApp),
			parent: "/connections",
		},
		{method: "POST", path: "/connections/apps/{grantId}/unlink", handle: h.command("/connections", h.unlinkApp)},
		{method: "GET", path: "/audit", handle: h.member(needs(credential.Admin, resetCursor(h.audit)))},
		{method: "GET", path: "/settings", handle: h.member(h.settings)},
		{method: "POST", path: "/settings", handle: h.command("/settings", needs(credential.Admin, h.updateSettings))},
		{method: "POST", path: "/settings/sessions/{session}/end", handle: h.command("/settings", h.endSession)},
		{
			method: "GET",
			path:   "/settings/sign-out-everywhere",
			handle: h.member(h.askSignOutEverywhere),
			parent: "/settings",
		},
	}
}

// decisionRoutes ask a member whether to let in a claim, an agent, a device or an app.
func (h *Host) decisionRoutes() []route {
	return []route{
		{method: "GET", path: "/claim", handle: noReferrer(withTimeout(h.claimPage))},
		{method: "POST", path: "/claim", handle: noReferrer(h.command("/claim", h.showClaim))},
		{method: "POST", path: "/claim/confirm", handle: noReferrer(h.command("/claim", h.claim))},
		{method: "GET", path: agentPath, handle: noReferrer(h.agentPage)},
		{method: "POST", path: agentPath, handle: noReferrer(h.command(agentPath, h.forThisAttempt(h.approveAgent)))},
		{method: "POST", path: agentPath + "/deny", handle: noReferrer(h.command(agentPath, h.forThisAttempt(h.denyAgent)))},
		{method: "GET", path: keepPath, handle: noReferrer(withTimeout(h.askKept))},
		{method: "POST", path: keepPath, handle: noReferrer(withTimeout(h.keep))},
		{method: "GET", path: "/device", handle: noReferrer(h.member(h.devicePage))},
		{method: "POST", path: "/device", handle: noReferrer(h.command("/device", h.showDevice))},
		{method: "POST", path: "/device/approve", handle: noReferrer(h.command("/device", h.approveDevice))},
		{method: "POST", path: "/device/deny", handle: noReferrer(h.command("/device", h.denyDevice))},
		{method: "GET", path: "/oauth/consent", handle: noReferrer(h.memberOrDeleting(h.consentPage))},
		{method: "POST", path: "/oauth/consent/allow", handle: noReferrer(h.commandOrDeleting(h.allowApp))},
		{method: "POST", path: "/oauth/consent/deny", handle: noReferrer(h.commandOrDeleting(h.denyApp))},
		{method: "GET", path: "/oauth/error", handle: noReferrer(withTimeout(h.appError))},
	}
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
		mux.HandleFunc(r.method+" "+r.path, h.answer(r.serve))
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
