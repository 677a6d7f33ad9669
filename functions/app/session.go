package app

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"time"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/identity/session"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// The cookies. Their prefix makes browsers refuse them from other hosts and without TLS.
const (
	sessionCookie  = "__Host-session"
	signinCookie   = "__Host-signin"
	attemptCookie  = "__Host-aclaim"
	takeoverCookie = "__Host-takeover"
)

// browserSession is a request of a member who is signed in.
type browserSession struct {
	session.Authenticated
	sells bool // the deployment has billing
}

// memberHandler answers a member.
type memberHandler func(w http.ResponseWriter, r *http.Request, v browserSession) error

// withTimeout gives up when an answer takes too long, and says so.
func withTimeout(handle handler) handler { return withTimeoutOf(limits.IdentityAnswer, handle) }

func withTimeoutOf(limit time.Duration, handle handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), limit)
		defer cancel()
		return web.AsUnavailable(handle(w, r.WithContext(ctx)))
	}
}

// noReferrer keeps the address of a page from the sites that it links to.
func noReferrer(handle handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Referrer-Policy", "no-referrer")
		return handle(w, r)
	}
}

// member serves a page to members; others sign in first and come back.
func (h *Host) member(handle memberHandler) handler { return h.admit(http.StatusSeeOther, handle) }

// admit is member with the status of the answer that sends others to the sign-in, and members to the one page of a
// workspace that is being deleted.
func (h *Host) admit(status int, handle memberHandler) handler {
	return h.admitBy(h.visitor, status, handle)
}

func (h *Host) admitBy(
	find func(*http.Request) (browserSession, error), status int, handle memberHandler,
) handler {
	return withTimeout(func(w http.ResponseWriter, r *http.Request) error {
		v, err := find(r)
		if fault.CodeOf(err) == fault.NotAuthenticated && !wantsJSON(r) {
			to := signInPath(r.URL.RequestURI())
			if beingDeleted(err) {
				to = deletionPath
			}
			sendTo(w, status, to)
			return nil
		}
		if err != nil {
			return err
		}
		return h.countedPage(w, r, v, handle)
	})
}

// countedPage serves a page beside counting who reads it. What the page says goes out when both are done, so that a reader
// who comes too often sees none of it.
func (h *Host) countedPage(w http.ResponseWriter, r *http.Request, v browserSession, handle memberHandler) error {
	kept := &bufferedResponse{header: w.Header().Clone(), status: http.StatusOK}
	err := async.All(
		func() error { return h.Limiter.Actor(r.Context(), v.Actor.Workspace.ID, v.Actor.Subject()) },
		func() error { return handle(kept, r, v) },
	)
	if err != nil {
		return err
	}
	maps.Copy(w.Header(), kept.header)
	w.WriteHeader(kept.status)
	w.Write(kept.body.Bytes()) // a failure means that the client left
	return nil
}

// bufferedResponse is an answer that is not sent yet.
type bufferedResponse struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *bufferedResponse) Header() http.Header { return r.header }

func (r *bufferedResponse) WriteHeader(status int) { r.status = status }

func (r *bufferedResponse) Write(b []byte) (int, error) { return r.body.Write(b) }

// needs lets members with a right through.
func needs(s credential.Scope, handle memberHandler) memberHandler {
	return func(w http.ResponseWriter, r *http.Request, v browserSession) error {
		if err := v.Actor.Require(s); err != nil {
			return err
		}
		return handle(w, r, v)
	}
}

// resetCursor shows the first page of a list where the cursor is a day old or of another list.
func resetCursor(list memberHandler) memberHandler {
	return func(w http.ResponseWriter, r *http.Request, v browserSession) error {
		err := list(w, r, v)
		if fault.CodeOf(err) == fault.InvalidCursor {
			redirect(w, r.URL.EscapedPath())
			return nil
		}
		return err
	}
}

// command serves a form of members, within their limits. Others are told to sign in, and to begin again at a page.
func (h *Host) command(back string, handle memberHandler) handler {
	return h.commandBy(h.visitor, back, handle)
}

func (h *Host) commandBy(
	find func(*http.Request) (browserSession, error), back string, handle memberHandler,
) handler {
	return withTimeout(h.untimedCommand(find, back, handle))
}

// untimedCommand is commandBy without its time limit.
func (h *Host) untimedCommand(
	find func(*http.Request) (browserSession, error), back string, handle memberHandler,
) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		v, err := find(r)
		if beingDeleted(err) {
			return explained{err, pages.Message{
				Heading: "This workspace is being deleted", Text: "Nothing was changed. You can still keep the workspace.",
				Links: []pages.Link{{Path: deletionPath, Text: "See when it goes"}},
			}}
		}
		if fault.CodeOf(err) == fault.NotAuthenticated {
			return explained{err, pages.Message{
				Heading: "You are signed out", Text: "Nothing was changed. Sign in, then do it again.",
				Links: []pages.Link{{Path: signInPath(back), Text: "Sign in"}},
			}}
		}
		if err != nil {
			return err
		}
		if err := h.Limiter.Actor(r.Context(), v.Actor.Workspace.ID, v.Actor.Subject()); err != nil {
			return err
		}
		return handle(w, r, v)
	}
}

// visitor finds the member behind a request. A cookie that is sent twice counts as none, because only one of
// the two can be ours.
func (h *Host) visitor(r *http.Request) (browserSession, error) {
	return h.visitorBy(r, func(ctx context.Context, secret, requestID string) (session.Authenticated, error) {
		return h.Sessions.Authenticate(ctx, secret, requestID)
	})
}

func (h *Host) visitorBy(
	r *http.Request, authenticate func(ctx context.Context, secret, requestID string) (session.Authenticated, error),
) (browserSession, error) {
	secret := cookie(r, sessionCookie)
	if secret == "" {
		return browserSession{}, fault.New(fault.NotAuthenticated, "sign in to go on")
	}
	opened, err := authenticate(r.Context(), secret, web.RequestID(r.Context()))
	if err != nil {
		return browserSession{}, err
	}
	web.Annotate(r.Context(),
		slog.String("workspace", string(opened.Actor.Workspace.ID)),
		slog.String("member", string(opened.Member.ID)))
	return browserSession{Authenticated: opened, sells: h.Billing != nil}, nil
}

// reach is what an app may do for the member: our own clients act with all their rights, others with those that they
// asked for.
func (s browserSession) reach(c id.Client, asked []credential.Scope) []credential.Scope {
	if c == oauth.CLI || c == oauth.Dashboard {
		return s.Actor.Scopes
	}
	return asked
}

// layout is what a member's pages have around them; here is the section on show.
func (s browserSession) layout(here string) pages.Layout {
	return pages.Layout{
		Workspace: s.Actor.Workspace.Name,
		Email:     s.Member.Email,
		Here:      here,
		Sells:     s.sells,
		Operates:  !s.Actor.Operator.IsZero(),
	}
}

// cookie is the value of a cookie that the request has exactly once, else "".
func cookie(r *http.Request, name string) string {
	if sent := r.CookiesNamed(name); len(sent) == 1 {
		return sent[0].Value
	}
	return ""
}

// setCookie keeps a value in the browser, for seconds; a negative number removes it.
func setCookie(w http.ResponseWriter, name, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{
		Name:     name,
		Value:    value,
		Path:     "/",
		MaxAge:   seconds,
		HttpOnly: true,
		Secure:   true,
		SameSite: http.SameSiteLaxMode,
	})
}

func dropCookie(w http.ResponseWriter, name string) { setCookie(w, name, "", -1) }

// redirect sends the browser on with a GET, and keeps nothing of it.
func redirect(w http.ResponseWriter, to string) { sendTo(w, http.StatusSeeOther, to) }

func sendTo(w http.ResponseWriter, status int, to string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Location", to)
	w.WriteHeader(status)
}

func signInPath(back string) string {
	return "/api/auth/sign-in?" + url.Values{"returnPathname": {back}}.Encode()
}

// wantsJSON tells whether a program asks: it names JSON and no page.
func wantsJSON(r *http.Request) bool { return web.Accepts(r, "application/json", "text/html") }
