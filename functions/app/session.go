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
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// The cookies. The prefix makes browsers refuse them from other hosts and without TLS.
const (
	sessionCookie  = "__Host-session"
	signinCookie   = "__Host-signin"
	attemptCookie  = "__Host-aclaim"
	takeoverCookie = "__Host-takeover"
	helperCookie   = "__Host-helper"
)

// browserSession is a member who is signed in, for one request.
type browserSession struct {
	session.Authenticated
	sells bool // the deployment sells plans
}

// memberHandler shows a page to a member.
type memberHandler func(w http.ResponseWriter, r *http.Request, v browserSession) error

// formHandler carries out a form of a member.
type formHandler func(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error

// members is a route for members: a page, a form, or a call of a script, which gets JSON.
type members struct {
	page memberHandler
	form formHandler
	call memberHandler
	// back is the page to return to after a sign-in, for somebody who sends the form without a session.
	back  string
	right credential.Scope // that the member needs; empty: none
	// fresh is the page to return to for members who have to sign in again first; empty: an old sign-in will do.
	fresh string
	// deleting admits members whose workspace is being deleted, too.
	deleting bool
	moved    int           // status of the redirect to the sign-in; 0: 303
	limit    time.Duration // of the answer; 0: limits.IdentityAnswer
}

// serve answers members. A page redirects everybody else to the sign-in; a form says that it was not carried out.
func (m members) serve(h *Host) handler {
	return withTimeout(cmp.Or(m.limit, limits.IdentityAnswer), func(w http.ResponseWriter, r *http.Request) error {
		v, err := h.visitor(r, m.deleting)
		switch {
		case notAllowed(err), err != nil && m.call != nil:
			return err
		case err != nil && m.form != nil:
			return notSent(err, m.back)
		case fault.CodeOf(err) == fault.NotAuthenticated && !wantsJSON(r):
			to := signInPath(r.URL.RequestURI())
			if beingDeleted(err) { // with the code not_authenticated as well
				to = deletionPath
			}
			sendTo(w, cmp.Or(m.moved, http.StatusSeeOther), to)
			return nil
		case err != nil:
			return err
		case m.form != nil, m.call != nil:
			return m.submit(h, w, r, v)
		}
		return h.countedPage(w, r, v, m.show(h))
	})
}

// show returns the page, for those who may see it.
func (m members) show(h *Host) memberHandler {
	return func(w http.ResponseWriter, r *http.Request, v browserSession) error {
		if err := m.permit(h, v); err != nil {
			return err
		}
		return m.page(w, r, v)
	}
}

// submit carries out a form or a call. It counts first, so that a member who sends too many changes nothing, and checks rights
// before the form, so that somebody without them hears of that and not of a mistake in the form.
func (m members) submit(h *Host, w http.ResponseWriter, r *http.Request, v browserSession) error {
	if err := h.Limiter.Actor(r.Context(), v.Actor.Workspace.ID, v.Actor.Subject()); err != nil {
		return err
	}
	if err := m.permit(h, v); err != nil {
		return err
	}
	if m.call != nil {
		return m.call(w, r, v)
	}
	form, err := readForm(r)
	if err != nil {
		return err
	}
	return m.form(w, r, v, form)
}

// permit refuses members without the right, and those who have to sign in again first.
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

// notAllowed reports whether a person was refused whom the deployment does not let in. A page tells them, because a
// sign-in would lead back to it.
func notAllowed(err error) bool {
	_, refused := workspace.NotAllowed(err)
	return refused
}

// notSent explains that a form was not carried out, because nobody is signed in or the workspace is being deleted.
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

// withTimeout limits the time of an answer. What takes longer is unavailable.
func withTimeout(limit time.Duration, handle handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		ctx, cancel := context.WithTimeout(r.Context(), limit)
		defer cancel()
		return web.AsUnavailable(handle(w, r.WithContext(ctx)))
	}
}

// countedPage serves a page and counts the request concurrently. The page is held back until both are done, so that a
// member with too many requests sees none of it.
func (h *Host) countedPage(w http.ResponseWriter, r *http.Request, v browserSession, handle memberHandler) error {
	// It begins with the headers that are set, because handlers look at the policies.
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

// resetCursor redirects to the first page of a list if the cursor is a day old or of another list.
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

// visitor returns the member behind a request; with deleting, also one whose workspace is being deleted. A cookie that
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

// reach returns what an app may do for the member. Our own clients act with all rights of the member, others with those
// that they asked for.
func (s browserSession) reach(c id.Client, asked []credential.Scope) []credential.Scope {
	if c == oauth.CLI || c == oauth.Dashboard {
		return s.Actor.Scopes
	}
	return asked
}

// layout returns the frame around a member's pages; here is the current section.
func (s browserSession) layout(here string) pages.Layout {
	return pages.Layout{
		Workspace: s.Actor.Workspace.Name,
		Email:     s.Member.Email,
		Here:      here,
		Sells:     s.sells,
		Operates:  !s.Actor.Operator.IsZero(),
	}
}

// cookie returns the value of a cookie that was sent exactly once, otherwise "".
func cookie(r *http.Request, name string) string {
	if sent := r.CookiesNamed(name); len(sent) == 1 {
		return sent[0].Value
	}
	return ""
}

// setCookie stores a value in the browser for some seconds. A negative number removes it.
func setCookie(w http.ResponseWriter, name, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{
		Name:     name,
		Value:    value,
		Path:     "/",
		MaxAge:   seconds,
		HttpOnly: true,
		Secure:   true,
		SameSite: http.SameSiteLaxMode, // Strict would withhold it on the way back from the provider
	})
}

func dropCookie(w http.ResponseWriter, name string) { setCookie(w, name, "", -1) }

// redirect sends the browser to another page, by GET, and is cached nowhere.
func redirect(w http.ResponseWriter, to string) { sendTo(w, http.StatusSeeOther, to) }

func sendTo(w http.ResponseWriter, status int, to string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Location", to)
	w.WriteHeader(status)
}

func signInPath(back string) string {
	return "/api/auth/sign-in?" + url.Values{"returnPathname": {back}}.Encode()
}

// wantsJSON reports whether a program asks, which accepts JSON and no page.
func wantsJSON(r *http.Request) bool { return web.Accepts(r, "application/json", "text/html") }
