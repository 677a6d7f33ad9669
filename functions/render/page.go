package render

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strconv"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/content"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/render"
)

// answer describes the page that a request asks for.
type answer struct {
	content.Page
	query  render.Query
	text   bool // plain text instead of a page
	framed bool // loaded into a viewer frame
	policy string
	etag   string
}

// place is where the pages and the bytes of files are for a request, and the token that opens them.
type place struct{ token, pages, raw string }

// page serves GET and HEAD of /r/{token}/{path}.
func (h *Host) page(w http.ResponseWriter, r *http.Request) error {
	web.VaryByFrame(w.Header(), r)
	token := r.PathValue("token")
	return h.pageAt(w, r, place{token: token, pages: "/r/" + token + "/", raw: "/v/" + token + "/"})
}

// pageAt makes a page. In a frame it replaces the body of a 429 by a page for people.
func (h *Host) pageAt(w http.ResponseWriter, r *http.Request, at place) error {
	err := h.serve(w, r, at)
	if fault.KindOf(err) != fault.KindLimited || !web.ViewerFrame(r) {
		return err
	}
	refusal := fault.Of(err)
	web.Failed(r.Context(), refusal.Code, err)
	a := answer{framed: true}
	a.policy = h.policies.choose(a)
	a.describe(w.Header())
	w.Header().Del("ETag")
	w.Header().Set("Cache-Control", "no-store")
	web.RetryAfter(w.Header(), refusal.RetryAfter)
	w.WriteHeader(web.Status(refusal.Code))
	_ = render.Notice(w, "Too many people read this at once. Load the page again in "+w.Header().Get("Retry-After")+" seconds.")
	return nil
}

// serve makes a page, unless the client has it. It reads the state for every request.
func (h *Host) serve(w http.ResponseWriter, r *http.Request, at place) error {
	found, err := h.Reader.FindPage(r.Context(), at.token, r.PathValue("path"))
	if err != nil {
		return err
	}
	web.Annotate(r.Context(), slog.String("workspace", string(found.Workspace)),
		slog.String("artifact", string(found.Artifact)), slog.String("revision", string(found.Revision)))
	a, err := h.answer(found, r)
	if err != nil {
		return err
	}
	if known := web.Unchanged(r, a.etag); known != "" {
		a.etag = known
		a.describe(w.Header())
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	if r.Method == http.MethodHead {
		a.describe(w.Header())
		w.WriteHeader(http.StatusOK)
		return nil
	}
	var out bytes.Buffer
	if err := h.make(r, a, at, &out); err != nil {
		return err
	}
	a.describe(w.Header())
	w.Header().Set("Content-Length", strconv.Itoa(out.Len()))
	w.WriteHeader(http.StatusOK)
	_, _ = out.WriteTo(w) // an error means that the client left
	return nil
}

// answer decides what a request gets, without making it.
func (h *Host) answer(p content.Page, r *http.Request) (answer, error) {
	a := answer{Page: p, query: render.Query{Sort: r.URL.Query().Get("sort"), Page: r.URL.Query().Get("page")}}
	switch as := r.URL.Query().Get("as"); {
	case as == "text" && media.HasText(p.File.Path):
		a.text = true
	case as != "":
		return a, readaccess.NotFound()
	}
	a.framed = web.ViewerFrame(r)
	a.policy = h.policies.choose(a)
	a.etag = a.tag()
	return a, nil
}

// make writes the page.
func (h *Host) make(r *http.Request, a answer, at place, w io.Writer) error {
	source := render.Source{
		Path:      a.Page.Path,
		File:      a.File.File,
		Files:     a.Files,
		Artifact:  a.Artifact,
		Workspace: a.Workspace,
		Pages:     at.pages,
		Raw:       at.raw,
		App:       h.Origins.App,
		Framed:    a.framed,
		Open: func(ctx context.Context, size int64) (io.ReadCloser, error) {
			return h.Reader.Open(ctx, a.File, web.ClientAddress(r), 0, size)
		},
	}
	if a.text {
		return h.Renderer.Text(r.Context(), w, source)
	}
	return h.Renderer.Page(r.Context(), w, source, a.query)
}

// tag returns the ETag. It depends on revision, path, the reader's choices, policy and the version of the page.
func (a answer) tag() string {
	as := ""
	if a.text {
		as = "text"
	}
	version := render.Version(a.File.Path)
	return web.ETag(string(a.Revision), a.Page.Path, as, a.query.Sort, a.query.Page, a.policy, version)
}

// describe sets the headers that 200 and 304 share.
func (a answer) describe(h http.Header) {
	h.Set("ETag", a.etag)
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Content-Type", "text/html; charset=utf-8")
	if a.text {
		h.Set("Content-Type", "text/plain; charset=utf-8")
	}
	h.Set("Content-Security-Policy", a.policy)
	h.Set("X-Robots-Tag", "noindex, nofollow")
	if a.framed {
		h.Del("X-Frame-Options") // it cannot name an origin; frame-ancestors names the app's
	}
}
