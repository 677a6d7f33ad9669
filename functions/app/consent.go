package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"html/template"
	"net/http"
	"net/url"
	"slices"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/fault"
)

func (h *Host) consentRoutes() []route {
	answer := func(handle formHandler) members { return members{form: handle, back: "/dashboard", deleting: true} }
	return noReferrer(
		route{method: "GET", path: "/oauth/consent", handle: members{page: h.consentPage, deleting: true}},
		route{method: "POST", path: "/oauth/consent/allow", handle: answer(h.allowApp)},
		route{method: "POST", path: "/oauth/consent/deny", handle: answer(h.denyApp)},
		route{method: "GET", path: "/oauth/error", handle: timed(h.appError)},
	)
}

// meets reports whether a member may let an app in. While a workspace is being deleted only our own may be, because the
// command line can cancel that.
func meets(v browserSession, c oauth.Consent) bool {
	return c.Client.FirstParty && c.Client.ID != oauth.Helper || !v.Actor.Workspace.Deleting()
}

// consentPage shows an app that asks to act for the member.
func (h *Host) consentPage(w http.ResponseWriter, r *http.Request, v browserSession) error {
	request := r.URL.Query().Get("req")
	web.RedactSecret(r.Context(), request)
	c, err := h.Apps.Consent(r.Context(), request)
	if err != nil {
		return consentOver(err)
	}
	if !meets(v, c) {
		redirect(w, deletionPath)
		return nil
	}
	if c.Client.ID == oauth.Helper && afterCLI(r) {
		return h.letHelperIn(w, r, v, request)
	}
	return h.page(w, http.StatusOK, pages.Consent{
		Layout:      v.layout(""),
		Client:      c.Client.Name,
		ID:          string(c.Client.ID),
		Host:        c.RedirectHost,
		DescribedAt: c.Client.Host(),
		FirstParty:  c.Client.FirstParty,
		Loopback:    c.Loopback,
		Rights:      rights(v.reach(c.Client.ID, c.Scopes)),
		Audience:    c.Audience,
		ExpiresAt:   c.ExpiresAt,
		Request:     request,
	})
}

// helperSeconds is how long after the command line the helper of the same machine is let in without a question.
const helperSeconds = 120

// sessionMark returns a mark of the browser's session, which tells nothing of it.
func sessionMark(r *http.Request) string {
	sum := sha256.Sum256([]byte("helper\x00" + cookie(r, sessionCookie)))
	return hex.EncodeToString(sum[:])
}

// afterCLI reports whether the member has just let the command line in, in this session, and a program of the machine has
// opened this page, not a site. The command line can do more than the helper, so that a second question would tell the
// member nothing.
func afterCLI(r *http.Request) bool {
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Site") == "none" &&
		cookie(r, helperCookie) == sessionMark(r)
}

// letHelperIn answers the helper without a question, once.
func (h *Host) letHelperIn(w http.ResponseWriter, r *http.Request, v browserSession, request string) error {
	safe, err := answerOf(r.Context(), v.Actor, request, h.Apps.Allow)
	if err != nil {
		return err
	}
	dropCookie(w, helperCookie)
	redirect(w, string(safe))
	return nil
}

func (h *Host) allowApp(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	return h.answerApp(w, r, v, form["req"], h.Apps.Allow, true)
}

func (h *Host) denyApp(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	return h.answerApp(w, r, v, form["req"], h.Apps.Deny, false)
}

// answerer answers an app's request, and returns the address that leads back to the app.
type answerer func(ctx context.Context, by credential.Actor, request string) (string, error)

// answerOf returns where the browser goes once an app's request is answered.
func answerOf(ctx context.Context, by credential.Actor, request string, answer answerer) (template.URL, error) {
	to, err := answer(ctx, by, request)
	if err != nil {
		return "", consentOver(err)
	}
	return leaving(to)
}

// answerApp answers an app, and shows a page that leads the browser back to it. A redirect would not do, because the
// form-action policy blocks one from a form to another origin.
func (h *Host) answerApp(
	w http.ResponseWriter, r *http.Request, v browserSession, request string,
	answer answerer, allowed bool,
) error {
	web.RedactSecret(r.Context(), request)
	c, err := h.Apps.Consent(r.Context(), request)
	if err != nil {
		return consentOver(err)
	}
	if !meets(v, c) {
		return v.Actor.Workspace.RefuseDeleting()
	}
	safe, err := answerOf(r.Context(), v.Actor, request, answer)
	if err != nil {
		return err
	}
	if allowed && c.Client.ID == oauth.CLI {
		setCookie(w, helperCookie, sessionMark(r), helperSeconds)
	}
	return h.page(w, http.StatusOK, pages.Leave{
		Client:  c.Client.Name,
		Host:    c.RedirectHost,
		Allowed: allowed,
		To:      safe,
	})
}

// errorMeanings explain the errors of apps.
var errorMeanings = map[fault.OAuthCode]string{
	fault.OAuthUnsupportedResponse: "The app wants its answer in a form that this service does not give.",
	fault.OAuthInvalidTarget:       "The app asks for access to something that this service does not offer.",
}

const malformed = "Something in the app’s request is missing or not allowed."

// appError shows a person what was wrong with the request of an app. It redirects to the app only if the member of this
// browser has let the app in before, so that nobody can use this host as an open redirect.
func (h *Host) appError(w http.ResponseWriter, r *http.Request) error {
	v, err := h.visitor(r, false)
	if err != nil && fault.CodeOf(err) != fault.NotAuthenticated {
		return err
	}
	refused, err := h.Apps.Refused(r.Context(), v.Actor, oauth.ParseAuthorization(r.URL.RawQuery), web.ClientAddress(r))
	if err != nil {
		return consentOver(err)
	}
	to, err := leaving(refused.RedirectTo)
	if err != nil {
		return err
	}
	if refused.Trusted {
		redirect(w, string(to))
		return nil
	}
	web.Failed(r.Context(), fault.InvalidRequest, fault.NewOAuth(refused.Code, "%s", refused.Description))
	return h.page(w, http.StatusBadRequest, pages.AppError{
		Client:  refused.Client.Name,
		ID:      string(refused.Client.ID),
		Host:    refused.RedirectHost,
		Code:    string(refused.Code),
		Meaning: cmp.Or(errorMeanings[refused.Code], malformed),
		Detail:  refused.Description,
		To:      to,
	})
}

// code are the schemes whose links run code in the page.
var code = []string{"javascript", "data", "vbscript", "blob", "file", "about", "filesystem", "view-source"}

// leaving allows a redirect of the authorization server in a page. The server checks schemes when clients register;
// those that run code are refused here once more.
func leaving(to string) (template.URL, error) {
	u, err := url.Parse(to)
	if err != nil || u.Scheme == "" || slices.Contains(code, u.Scheme) {
		return "", fault.NewCode(fault.Internal)
	}
	return template.URL(to), nil
}

// consentOver gives every request that cannot be answered the same page.
func consentOver(err error) error {
	if kind := fault.KindOf(err); kind != fault.KindInvalid && kind != fault.KindNotFound && kind != fault.KindGone {
		return err
	}
	return explained{fault.Wrap(fault.InvalidRequest, err, "%s", fault.InvalidRequest), pages.Message{
		Heading: "No app is waiting here",
		Text: "The request may have been answered, or be older than ten minutes. Go back to the app and start again " +
			"there.",
		Links: []pages.Link{{Path: "/dashboard", Text: "Overview"}},
	}}
}
