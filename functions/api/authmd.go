package api

import (
	_ "embed"
	"strings"
)

//go:embed auth.md
var authMD string

// authMD returns the guide for agents with the addresses of this deployment.
func (h *Host) authMD() []byte {
	types := "none until the operator sets it up: `POST /agent/identity` answers 503 `temporarily_unavailable`"
	if all := h.Features.IdentityTypes(); len(all) > 0 {
		types = "`" + strings.Join(all, "`, `") + "`"
	}
	o := h.URLs.Origins
	return []byte(strings.NewReplacer("{base_url}", o.API, "{upload_url}", o.Upload, "{app_url}", o.App, "{types}", types,
		"{name}", h.Features.Brand.Title()).Replace(authMD))
}
