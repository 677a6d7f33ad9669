package app

import (
	"bytes"
	"cmp"
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

// formHandler carries out a form of a member.
type formHandler func(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error

// members are who a route is for. It has a page or a form.
type members struct {
	page memberHandler
	form formHandler
	// back is where those begin again who are signed out when they send the form.
	back  string
	right credential.Scope // that a member needs; empty: none
	// fresh is where those begin again who have not just signed in; empty: an older sign-in is good enough.
	fresh string
	// deleting lets members in whose workspace is being deleted.
	deleting bool
	moved    int           // status of the answer that sends others to the sign-in; 0: 303
	limit    time.Duration // of the answer; 0: limits.IdentityAnswer
}

// serve lets members in. Others are sent to the sign-in from a page, and told of it by a form.
func (m members) serve(h *Host) handler {
	return withTimeout(cmp.Or(m.limit, limits.IdentityAnswer), func(w http.ResponseWriter, r *http.Request) error {
		v, err := h.visitor(r, m.deleting)
		switch {
		case err != nil && m.form != nil:
			return notSent(err, m.back)
		case fault.CodeOf(err) == fault.NotAuthenticated && !wantsJSON(r):
			to := signInPath(r.URL.RequestURI())
			if beingDeleted(err) { // which is not_authenticated too
				to = deletionPath
			}
			sendTo(w, cmp.Or(m.moved, http.StatusSeeOther), to)
			return nil
		case err != nil:
			return err
		case m.form != nil:
			return m.submit(h, w, r, v)
		}
		return h.countedPage(w, r, v, m.show(h))
	})
}

// show is the page for those who may see it.
func (m members) show(h *Host) memberHandler {
	return func(w http.ResponseWriter, r *http.Request, v browserSession) error {
		if err := m.permit(h, v); err != nil {
			return err
		}
		return m.page(w, r, v)
	}
}

// submit counts a form before anything else, so that a member who sends too many learns nothing from them. Rights come
// before the form, because whoever may not send it is told that and not what is wrong with it.
func (m members) submit(h *Host, w http.ResponseWriter, r *http.Request, v browserSession) error {
	if err := h.Limiter.Actor(r.Context(), v.Actor.Workspace.ID, v.Actor.Subject()); err != nil {
		return err
	}
	if err := m.permit(h, v); err != nil {
		return err
	}
	form, err := readForm(r)
	if err != nil {
		return err
	}
	return m.form(w, r, v, form)
}

// permit refuses members without the right, and those who would have to sign in again.
func (m members) permit(h *Host, v browserSession) error {
	if m.right != "" {
		if err := v.Actor.Require(m.right); err != nil {
			return err
		}
	}
	if m.fresh != "" {
		return h.signedInLately(v, m.fresh)
	}
	return nil
}

// notSent explains why a form was not taken from somebody who is not signed in, or whose workspace is being deleted.
func notSent(err error, back string) error {
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
	return err
}

// withTimeout gives up when an answer takes too long, and says so.
func withTimeout(limit time.Duration, handle handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), limit)
		defer cancel()
		return web.AsUnavailable(handle(w, r.WithContext(ctx)))
	}
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

// visitor finds the member behind a request; deleting finds those too whose workspace is being deleted. A cookie that
// is sent twice counts as none, because only one of the two can be ours.
func (h *Host) visitor(r *http.Request, deleting bool) (browserSession, error) {
	secret := cookie(r, sessionCookie)
	if secret == "" {
		return browserSession{}, fault.New(fault.NotAuthenticated, "sign in to go on")
	}
	authenticate := h.Sessions.Authenticate
	if deleting {
		authenticate = h.Deletions.AuthenticateDeleting
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
