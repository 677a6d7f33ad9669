package content

import (
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/content"
)

// refuseInFrame answers a navigation of a viewer frame that finds no file, because a browser shows its own error page for
// a refusal there. Documentation links to folders and to pages without their extension, as web servers resolve them: that
// leads on to the file. What is nowhere, and what too many people read, becomes a page that says so.
func (h *Host) refuseInFrame(w http.ResponseWriter, r *http.Request, err error) error {
	token, files := r.PathValue("token"), "/r/"+r.PathValue("token")
	var m content.Missing
	if errors.As(err, &m) && m.Page != "" {
		h.lead(w, r, "/v/"+token+"/"+m.Page)
		return nil
	}
	return h.explain(w, r, err, strings.TrimSuffix(files+"/"+r.PathValue("path"), "/"), files)
}

// explain answers a refusal in a frame. folder is the path of the page of what was asked for, and files that of all files.
func (h *Host) explain(w http.ResponseWriter, r *http.Request, err error, folder, files string) error {
	var m content.Missing
	switch found := errors.As(err, &m); {
	case found && m.Folder:
		h.lead(w, r, folder)
	case found:
		h.notice(w, r, err, fmt.Sprintf(`This artifact has no file %s. <a href="%s">See its files</a>.`,
			html.EscapeString(r.PathValue("path")), files))
	case fault.KindOf(err) == fault.KindLimited:
		h.notice(w, r, err, "Too many people read this at once. Load the page again in a minute.")
	default:
		return err
	}
	return nil
}

// lead redirects a frame to another path of the host.
func (h *Host) lead(w http.ResponseWriter, r *http.Request, path string) {
	h.allowFrame(w.Header())
	to := url.URL{Path: path, RawQuery: r.URL.RawQuery}
	w.Header().Set("Location", to.String())
	w.WriteHeader(http.StatusFound)
}

// notice answers a refusal with a page of one sentence, which is HTML.
func (h *Host) notice(w http.ResponseWriter, r *http.Request, err error, sentence string) {
	refusal := fault.Of(err)
	web.Failed(r.Context(), refusal.Code, err)
	h.allowFrame(w.Header())
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	web.RetryAfter(w.Header(), refusal.RetryAfter)
	w.WriteHeader(web.Status(refusal.Code))
	// An error means that the client left.
	_, _ = fmt.Fprintf(w, `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>Not shown</title>
<style>body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem; overflow-wrap: anywhere }</style>
<p>%s</p>`, sentence)
}

// allowFrame sets the headers of an answer that the app may frame and nobody keeps.
func (h *Host) allowFrame(header http.Header) {
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", h.policies.reported)
	header.Del("X-Frame-Options") // it cannot name an origin; frame-ancestors names the app's
}
