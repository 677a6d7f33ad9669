package app

import (
	"errors"
	"net/http"
	"time"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/signin"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

func (h *Host) signInRoutes() []route {
	return append(noReferrer(
		route{method: "GET", path: "/api/auth/sign-in", handle: timed(h.signIn), acts: true},
		route{method: "GET", path: "/api/auth/callback", handle: timed(h.callback), acts: true},
	), []route{
		{method: "GET", path: "/signed-out", handle: timed(h.signedOut)},
		{method: "POST", path: "/api/auth/sign-out", handle: timed(h.signOut)},
		question("/settings/sign-out-everywhere", "/settings", members{page: h.askSignOutEverywhere}),
		{
			method: "POST",
			path:   "/api/auth/sign-out-everywhere",
			handle: members{form: h.signOutEverywhere, back: "/settings"},
		},
	}...)
}

// signIn sends the browser to the identity provider.
func (h *Host) signIn(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	path := signin.ReturnPath(q.Get("returnPathname"))
	to := signin.Destination{Path: path, Fresh: forOperators(path) || q.Has(freshParameter)}
	begun, err := h.SignIns.Begin(r.Context(), to, web.ClientAddress(r))
	if err != nil {
		return notSignedIn(err)
	}
	setCookie(w, signinCookie, begun.Cookie, int(limits.SignInLife/time.Second))
	redirect(w, begun.URL)
	return nil
}

// callback finishes a sign-in when the browser returns from the provider.
func (h *Host) callback(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	for _, name := range []string{"state", "code", "error", "iss"} {
		if len(q[name]) > 1 { // the provider and this host might read different ones
			return notSignedIn(signin.Refused(errors.New(name + " stands twice")))
		}
	}
	web.RedactSecret(r.Context(), q.Get("code"))
	done, err := h.SignIns.Finish(r.Context(), signin.Callback{
		State:   q.Get("state"),
		Code:    q.Get("code"),
		Error:   q.Get("error"),
		Issuer:  q.Get("iss"),
		Cookie:  cookie(r, signinCookie),
		Session: cookie(r, sessionCookie),
	}, session.Client{Browser: r.UserAgent(), Network: address.Network(web.ClientAddress(r))}, web.RequestID(r.Context()))
	if err != nil {
		return notSignedIn(err)
	}
	dropCookie(w, signinCookie)
	if done.Question != "" {
		setCookie(w, takeoverCookie, done.Question, int(limits.TakeoverLife/time.Second))
		redirect(w, keepPath)
		return nil
	}
	setCookie(w, sessionCookie, done.Session, int(limits.MaxSessionLife/time.Second))
	redirect(w, done.ReturnTo)
	return nil
}

// notSignedIn explains why a sign-in failed, and what to do.
func notSignedIn(err error) error {
	again := []pages.Link{{Path: signInPath("/"), Text: "Sign in again"}, {Path: "/", Text: "Front page"}}
	m := pages.Message{Heading: "Signing in did not work", Links: again}
	switch {
	case notAllowed(err):
		return err
	case errors.Is(err, signin.ErrUnverified):
		m.Heading, m.Text = "Verify your e-mail address", "The sign-in provider has not verified your e-mail address yet. Look for its message in your mailbox and follow the link in it, then sign in again."
	case errors.Is(err, signin.ErrDeclined):
		m.Text = "The sign-in provider sent you back without signing you in. You can try again."
	case errors.Is(err, workspace.ErrRemoved):
		m.Heading, m.Text = "Your workspace is being deleted", "The time to keep it is over, and it is being removed now. In an hour or so you can sign up again and begin with an empty workspace."
	case fault.KindOf(err) == fault.KindForbidden:
		m.Heading, m.Text = "This workspace is closed", "The operator of this deployment closed your workspace. Ask them why."
	case fault.KindOf(err) == fault.KindInvalid:
		m.Text = "This sign-in took too long, was used before, or began in another browser. Nothing happened; start again here."
	case fault.KindOf(err) == fault.KindUnavailable:
		m.Heading, m.Text = "Nobody can sign in right now", "The sign-in provider, or a part of this service, does not answer. Try again in a moment."
	default:
		return err
	}
	return explained{err, m}
}

// signOut ends the session of this browser, if it has one.
func (h *Host) signOut(w http.ResponseWriter, r *http.Request) error {
	if _, err := readForm(r); err != nil {
		return err
	}
	if secret := cookie(r, sessionCookie); secret != "" {
		if err := h.Sessions.End(r.Context(), secret, web.RequestID(r.Context())); err != nil {
			return err
		}
	}
	dropCookie(w, sessionCookie)
	redirect(w, "/signed-out")
	return nil
}

func (h *Host) askSignOutEverywhere(w http.ResponseWriter, _ *http.Request, v browserSession) error {
	return h.page(w, http.StatusOK, pages.Confirm{
		Layout:  v.layout("/settings"),
		Heading: "Sign out everywhere?",
		Text: "Every browser of yours is signed out, this one too, and every app that you allowed has to ask again. " +
			"The command line is signed out on every machine. All API keys that you made end too, whatever uses them: " +
			"programs that still need one have to get a new key. Agents that you connected go on working.",
		Button: "Sign out everywhere",
		Action: "/api/auth/sign-out-everywhere",
		Back:   "/settings",
	})
}

func (h *Host) signOutEverywhere(w http.ResponseWriter, r *http.Request, v browserSession, _ web.Form) error {
	if err := h.Sessions.EndAll(r.Context(), v.Actor); err != nil {
		return err
	}
	dropCookie(w, sessionCookie)
	redirect(w, "/signed-out")
	return nil
}

func (h *Host) signedOut(w http.ResponseWriter, _ *http.Request) error {
	return h.page(w, http.StatusOK, pages.SignedOut{SignIn: signInPath("/"), Provider: h.SignIns.SignOutURL()})
}
