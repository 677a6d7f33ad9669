package render

import (
	"net/http"
	"strings"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/address"
	"vitrine/shared/publishing/content"
)

// ownRoutes serve the pages at the own origins of artifacts, by the cookie that the content host sets there.
func (h *Host) ownRoutes() map[string]web.OwnRoute {
	own := *h
	own.policies.own = true
	page := web.ByCookie(h.Reader.TokenOf, content.Refused{}, own.ownPage)
	return map[string]web.OwnRoute{
		"/": nil,
		strings.TrimSuffix(address.OwnPagesPath, "/"): page,
		address.OwnPagesPath + "{path...}":            page,
	}
}

// ownPage serves GET and HEAD of /.vitrine/r/{path}.
func (h *Host) ownPage(w http.ResponseWriter, r *http.Request, token string) error {
	return h.pageAt(w, r, place{token: token, pages: address.OwnPagesPath, raw: "/"})
}
