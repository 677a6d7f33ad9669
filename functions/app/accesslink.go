package app

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/view"
)

// unlisted sets headers that keep other sites and crawlers from learning of a page about an access link.
func unlisted(header http.Header) {
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("X-Robots-Tag", "noindex, nofollow")
}

// openPasted opens the access link in a form, for browsers without scripts. The fragment of a URL never reaches the
// server, so the person pastes the link into the body.
func (h *Host) openPasted(w http.ResponseWriter, r *http.Request) error {
	unlisted(w.Header())
	form, err := readForm(r)
	if err != nil {
		return err
	}
	link := pasted(form["link"], id.Public(r.PathValue("publicId")))
	web.RedactSecret(r.Context(), link.Blob)
	address, err := h.Views.LinkURL(link.PublicID, link.Blob)
	if err != nil {
		return unshown(err)
	}
	link.FilesCursor = form["files"]
	shown, err := h.Views.Resolve(r.Context(), link, false)
	if fault.KindOf(err) == fault.KindInvalid && link.FilesCursor != "" { // the cursor is older than a day
		link.FilesCursor = ""
		shown, err = h.Views.Resolve(r.Context(), link, false)
	}
	if err != nil {
		return unshown(unopened(err))
	}
	policy := policyViewer
	if shown.Next != "" || link.FilesCursor != "" {
		policy = policyLink // a form leads to the other files
	}
	w.Header().Set(policyHeader, policy(h.contentOrigin()))
	return h.page(w, http.StatusOK, h.opened(link, shown, address))
}

// unshown answers every link that does not open with the page that the viewer shows for it, whatever the reason.
func unshown(err error) error {
	switch fault.KindOf(err) {
	case fault.KindNotFound, fault.KindInvalid:
		return explained{fault.Wrap(fault.NotFound, err, "%s", fault.NotFound), pages.Gone}
	}
	return err
}

// pasted returns the link in a pasted text, which is a whole URL or only the part after the #. The latter belongs to
// the public id of the page.
func pasted(text string, public id.Public) contract.ResolveRequest {
	text = strings.TrimSpace(text)
	u, err := url.Parse(text)
	if err != nil || u.Fragment == "" {
		return contract.ResolveRequest{PublicID: public, Blob: text}
	}
	if u.Path != "" {
		public = id.Public(path.Base(u.Path))
	}
	return contract.ResolveRequest{PublicID: public, Blob: u.Fragment}
}

// opened returns the page that shows what a link opens.
func (h *Host) opened(link contract.ResolveRequest, v view.View, address string) pages.Opened {
	p := h.panel(v, address)
	if link.FilesCursor != "" {
		p.First = address
	}
	return pages.Opened{
		Panel:    p,
		PublicID: string(link.PublicID),
		Blob:     link.Blob,
		Revision: string(v.Revision.ID),
		Title:    v.Title,
		Mode:     string(v.Revision.Mode),
		Shown: pages.Shown{
			Entrypoint: v.Revision.Entrypoint,
			Source:     v.Frame,
			Framed:     framed(v),
			Shared:     true,
		},
		CreatedAt: v.Artifact.CreatedAt,
		ExpiresAt: v.Artifact.ExpiresAt,
		Kept:      v.Artifact.Lasts(),
	}
}

// qr draws the URL of an access link as a QR code. It draws nothing else, so that nobody can have other addresses drawn
// under the name of this host.
func (h *Host) qr(w http.ResponseWriter, r *http.Request) error {
	link, err := sentLink(w, r)
	if err != nil {
		return err
	}
	address, err := h.Views.LinkURL(link.PublicID, link.Blob)
	if err != nil {
		return unopened(err)
	}
	code, err := pages.DrawQR(address)
	if err != nil {
		return err
	}
	return fixed("image/svg+xml", "no-store", code.SVG())(w, r)
}
