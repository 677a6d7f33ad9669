package app

import (
	"context"
	"html/template"
	"net/http"
	"net/url"
	"slices"

	"vitrine/functions/app/pages"
	"vitrine/shared/credential"
	"vitrine/shared/fault"
	"vitrine/shared/web"
)

// consentPage shows an app that asks to act for the member.
func (h *Host) consentPage(w http.ResponseWriter, r *http.Request, v visit) error {
	request := r.URL.Query().Get("req")
	web.Hide(r.Context(), request)
	c, err := h.Apps.Consent(r.Context(), request)
	if err != nil {
		return consentOver(err)
	}
	return h.page(w, http.StatusOK, pages.Consent{
		Shell: v.shell(""), Client: c.Client.Name, ID: string(c.Client.ID), Host: c.RedirectHost, FirstParty: c.Client.FirstParty,
		Loopback: c.Loopback, Rights: rights(v.reach(c.Client.ID, c.Scopes)), Audience: c.Audience, ExpiresAt: c.ExpiresAt, Request: request,
	})
}

func (h *Host) allowApp(w http.ResponseWriter, r *http.Request, v visit) error {
	return h.answerApp(w, r, v, h.Apps.Allow, true)
}

func (h *Host) denyApp(w http.ResponseWriter, r *http.Request, v visit) error {
	return h.answerApp(w, r, v, h.Apps.Deny, false)
}

// answerApp answers an app and sends the browser back to it: by a page, for browsers follow no redirect from a form to
// another origin here.
func (h *Host) answerApp(
	w http.ResponseWriter, r *http.Request, v visit,
	answer func(context.Context, credential.Actor, string) (string, error), allowed bool,
) error {
	form, err := readForm(r)
	if err != nil {
		return err
	}
	request := form["req"]
	web.Hide(r.Context(), request)
	c, err := h.Apps.Consent(r.Context(), request)
	if err != nil {
		return consentOver(err)
	}
	to, err := answer(r.Context(), v.Actor, request)
	if err != nil {
		return consentOver(err)
	}
	safe, err := leaving(to)
	if err != nil {
		return err
	}
	return h.page(w, http.StatusOK, pages.Leave{Client: c.Client.Name, Host: c.RedirectHost, Allowed: allowed, To: safe})
}

// code runs in the page that follows a link with one of these schemes.
var code = []string{"javascript", "data", "vbscript", "blob", "file", "about", "filesystem", "view-source"}

// leaving lets the authorization server's redirects into a page. It checks them when clients register; a scheme that runs
// code is refused here once more.
func leaving(to string) (template.URL, error) {
	u, err := url.Parse(to)
	if err != nil || u.Scheme == "" || slices.Contains(code, u.Scheme) {
		return "", fault.Bare(fault.Internal)
	}
	return template.URL(to), nil
}

// consentOver says one thing for every request that cannot be answered.
func consentOver(err error) error {
	if kind := fault.KindOf(err); kind != fault.KindInvalid && kind != fault.KindNotFound && kind != fault.KindGone {
		return err
	}
	return explained{fault.Wrap(fault.InvalidRequest, err, "%s", fault.InvalidRequest), pages.Message{
		Heading: "No app is waiting here",
		Text:    "The request may have been answered, or be older than ten minutes. Go back to the app and start again there.",
		Links:   []pages.Link{{Path: "/dashboard", Text: "Overview"}},
	}}
}
