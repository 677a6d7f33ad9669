package render

import (
	"errors"
	"net/http"
	"strings"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/content"
	"vitrine/shared/publishing/readaccess"
)

// ownRoutes serve the pages at the own origins of artifacts, by the cookie that the content host sets there.
func (h *Host) ownRoutes() map[string]web.OwnRoute {
	own := *h
	own.policies.own = true
	page := func(w http.ResponseWriter, r *http.Request, a id.Artifact) error { return own.ownPage(w, r, a) }
	nothing := func(http.ResponseWriter, *http.Request, id.Artifact) error { return readaccess.NotFound() }
	return map[string]web.OwnRoute{
		"/": nothing,
		strings.TrimSuffix(address.OwnPagesPath, "/"): page,
		address.OwnPagesPath + "{path...}":            page,
	}
}

// ownPage serves GET and HEAD of /.vitrine/r/{path}. A browser whose token is refused forgets the cookie and all that the
// origin has stored.
func (h *Host) ownPage(w http.ResponseWriter, r *http.Request, a id.Artifact) error {
	tokens := web.Opened(r)
	if len(tokens) == 0 {
		return readaccess.NotFound()
	}
	err := h.pageAt(w, r, place{token: h.Reader.TokenOf(a, tokens...), pages: address.OwnPagesPath, raw: "/"})
	if errors.As(err, new(content.Refused)) {
		web.ClearOpened(w.Header())
	}
	return err
}
