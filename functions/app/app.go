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
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/manual"
	"vitrine/shared/platform/media"
	"vitrine/shared/platform/policy"
)

// Host is what the app host needs.
type Host struct {
	Surface *web.Server     // writes the log; this host replaces its headers and refusals
	Origins address.Origins // where the hosts are reached from outside
	Limiter Limiter
	Loads   media.Sources // what pages may load from other hosts
	Now     func() time.Time
	// AccountsOnly says that nobody publishes without an account.
	AccountsOnly bool

	Sessions Sessions
	SignIns  SignIns
	Account  Account
	Keys     Keys

	Artifacts   Artifacts
	Uploads     Uploads
	Links       Links
	Views       Views
	Feedback    Feedback
	Guests      Guests // nil: access links take no feedback
	Live        Live
	Comparisons Comparisons
	Reports     Reports
	Exports     Exports
	Downloads   Downloads

	// What asks members to let something in.
	Agents Agents
	Apps   Apps
	Claims Claims

	Billing   Billing // nil: the deployment sells no plans
	Deletions Deletions
	Operators Operators

	Brand policy.Brand
	// Manual teaches agents to use this deployment.
	Manual manual.Manual
	// PutOrigin is where browsers send the files that they publish.
	PutOrigin string
	// NoReports leaves out the form for reports of abuse.
	NoReports bool

	// Programs contains node_modules with the third-party programs that pages of files load; nil: those pages do without.
	Programs fs.FS

	site      pages.Site
	files     map[string]brandFile // those of the brand, by name
	documents map[string]document  // those of the manual, by path
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

// question returns the route of a page that asks before something is done. The parent is the page that leads to it.
func question(path, parent string, ask members) route {
	return route{
		method: "GET",
		path:   path,
		handle: ask,
		parent: parent,
	}
}

func (h *Host) routes() []route {
	return slices.Concat(
		h.openRoutes(),
		h.manualRoutes(),
		h.installRoutes(),
		h.signInRoutes(),
		h.overviewRoutes(),
		h.artifactListRoutes(),
		h.artifactRoutes(),
		h.uploadRoutes(),
		h.viewerRoutes(),
		h.feedbackRoutes(),
		h.guestRoutes(),
		h.comparisonRoutes(),
		h.linkRoutes(),
		h.visibilityRoutes(),
		h.liveRoutes(),
		h.reportRoutes(),
		h.keyRoutes(),
		h.connectionRoutes(),
		h.auditRoutes(),
		h.settingsRoutes(),
		h.exportRoutes(),
		h.deletionRoutes(),
		h.billingRoutes(),
		h.claimRoutes(),
		h.agentRoutes(),
		h.keepRoutes(),
		h.deviceRoutes(),
		h.consentRoutes(),
		h.operatorRoutes(),
	)
}

// Handler serves the host. It panics if the origin of the app host, of the content host or of uploads is not an absolute
// http URL, because no policy could name it.
func (h *Host) Handler() http.Handler {
	h.contentOrigin()
	origin("PutOrigin", h.PutOrigin)
	h.site, h.files = siteOf(h.Brand)
	h.site.NoReports = h.NoReports
	h.documents = documentsOf(h.Manual)
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

// framable returns what viewers frame in the form of a policy: the content origin and own origins of artifacts, if there
// are any.
func (h *Host) framable(own string) string { return strings.TrimSpace(h.contentOrigin() + " " + own) }

func origin(name, raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		panic(fmt.Sprintf("app: %s is not an absolute http URL: %q", name, raw))
	}
	return u.Scheme + "://" + u.Host
}
