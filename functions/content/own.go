package content

import (
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/script"
	"vitrine/shared/publishing/content"
	"vitrine/shared/publishing/readaccess"
)

// The paths at the own origin of an artifact, beside address.OpenPath, that are none of its files.
const (
	readyPath = "/.vitrine/ready/"
	tokenPath = "/.vitrine/t/"
)

// ownRoutes serve the own origins of artifacts. A viewer's frame opens one by a token, which becomes a cookie, so that the
// paths there are those of the artifact's files alone. Every request is judged by the token in it, as at the shared origin.
func (h *Host) ownRoutes() map[string]web.OwnRoute {
	own := &ownHost{Host: *h}
	own.policies = ownPolicies(h)
	return map[string]web.OwnRoute{
		"/.vitrine":                  nil,
		"/.vitrine/":                 nil,
		"/.vitrine/ready":            nil,
		address.OpenPath + "{token}": nil,
		tokenPath + "{token}":        nil,
		address.OpenPath + "{token}" + "/{path...}": own.open,
		readyPath + "{path...}":                     own.ready,
		tokenPath + "{token}" + "/{path...}":        own.byToken,
		"/{path...}":                                web.ByCookie(h.Reader.TokenOf, content.Refused{}, own.byCookie),
	}
}

// ownHost serves the own origins.
type ownHost struct{ Host }

// open takes the token of a frame of the app as a cookie. No other request opens an origin: the app's frames name it as their
// referrer, which no other page can, even by the redirects of another site. A browser that sends no referrer is led to the
// same as one that keeps no cookie.
func (h *ownHost) open(w http.ResponseWriter, r *http.Request, a id.Artifact) error {
	token := h.Reader.TokenOf(a, r.PathValue("token"))
	if r.Header.Get("Sec-Fetch-Dest") != "iframe" || r.Header.Get("Sec-Fetch-Site") == "same-origin" {
		return readaccess.NotFound()
	}
	if r.Referer() != h.policies.app+"/" {
		h.tellApp(w, http.StatusNotFound)
		return nil
	}
	life, err := h.Reader.Admit(r.Context(), token)
	if err != nil {
		return h.refuseOwn(w, r, err, "/")
	}
	web.SetOpened(w.Header(), token, life)
	h.forward(w, r, a, readyPath)
	return nil
}

// ready leads on to the file if the browser has sent the cookie back, and tells the viewer if it has not.
func (h *ownHost) ready(w http.ResponseWriter, r *http.Request, a id.Artifact) error {
	w.Header().Add("Vary", "Cookie")
	if !web.ViewerFrame(r) {
		return readaccess.NotFound()
	}
	if h.Reader.TokenOf(a, web.Opened(r)...) != "" {
		h.forward(w, r, a, "/")
		return nil
	}
	h.tellApp(w, http.StatusOK)
	return nil
}

// tellApp answers with a page that tells the viewer around it to open the origin without a cookie.
func (h *ownHost) tellApp(w http.ResponseWriter, status int) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", fmt.Sprintf("default-src 'none'; script-src %s; base-uri 'none'; form-action 'none'; "+
		"frame-ancestors %s", script.Hash(h.policies.noCookies), h.policies.app))
	header.Del("X-Frame-Options") // it cannot name an origin; frame-ancestors names the app's
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `<!doctype html><html lang="en"><title>No cookies</title><script>%s</script>`, h.policies.noCookies)
}

// forward redirects to the path of a request below another prefix. The address is absolute, because //host after a
// prefix that is a slash alone would be another origin.
func (h *ownHost) forward(w http.ResponseWriter, r *http.Request, a id.Artifact, prefix string) {
	to := h.Origins.Of(a) + prefix + address.Escape(r.PathValue("path"))
	if r.URL.RawQuery != "" {
		to += "?" + r.URL.RawQuery
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Location", to)
	w.WriteHeader(http.StatusSeeOther)
}

// byToken serves a file to a browser that keeps no cookies of frames.
func (h *ownHost) byToken(w http.ResponseWriter, r *http.Request, a id.Artifact) error {
	token := h.Reader.TokenOf(a, r.PathValue("token"))
	return h.serveOwn(w, r, token, tokenPath+token+"/")
}

// byCookie serves a file to a browser that keeps the cookie.
func (h *ownHost) byCookie(w http.ResponseWriter, r *http.Request, token string) error {
	return h.serveOwn(w, r, token, "/")
}

// serveOwn serves a file below a prefix of the origin.
func (h *ownHost) serveOwn(w http.ResponseWriter, r *http.Request, token, prefix string) error {
	found, err := h.Reader.FindOwn(r.Context(), token, r.PathValue("path"), web.ViewerFrame(r))
	if err != nil {
		return h.refuseOwn(w, r, err, prefix)
	}
	return h.serve(w, r, found)
}

// refuseOwn is refuseInFrame at an own origin. It leaves refusals outside of frames as they are.
func (h *ownHost) refuseOwn(w http.ResponseWriter, r *http.Request, err error, prefix string) error {
	var m content.Missing
	if !web.ViewerFrame(r) {
		return err
	}
	asked := r.PathValue("path")
	if errors.As(err, &m) && m.Page != "" {
		to := m.Page
		if path.Dir(m.Page) == asked {
			to = asked + "/"
		}
		h.lead(w, r, prefix+to)
		return nil
	}
	return h.explain(w, r, err, strings.TrimSuffix(address.OwnPagesPath+asked, "/"), strings.TrimSuffix(address.OwnPagesPath, "/"))
}
