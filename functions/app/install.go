package app

import (
	_ "embed"
	"net/http"
	"strings"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/release"
)

// The scripts that install the CLI. They have the places @app@, @api@, @version@ and @publish@ for a quoted text.
//
//go:embed install/install.sh
var installShell string

//go:embed install/install.ps1
var installPowerShell string

// installRoutes are open to everybody, whoever may sign in: the scripts that install the CLI, and what they download.
func (h *Host) installRoutes() []route {
	return []route{
		{method: "GET", path: "/install.sh", handle: h.script(installShell, `'\''`), packed: true},
		{method: "GET", path: "/install.ps1", handle: h.script(installPowerShell, "''"), packed: true},
		{method: "GET", path: "/cli/{version}/{name}", handle: timed(h.download)},
	}
}

// script answers with a script that is filled with the addresses of this deployment. quote is how its language writes
// an apostrophe in a text between apostrophes.
func (h *Host) script(text, quote string) handler {
	quoted := func(s string) string { return "'" + strings.ReplaceAll(s, "'", quote) + "'" }
	publish := "vitrine publish ./report --ephemeral"
	if h.AccountsOnly {
		publish = "vitrine login, then vitrine publish ./report"
	}
	filled := strings.NewReplacer(
		"@app@", quoted(h.Origins.App),
		"@api@", quoted(h.Origins.API),
		"@version@", quoted(contract.Release),
		"@publish@", quoted(publish),
	).Replace(text)
	return fixed("text/plain; charset=utf-8", "no-cache", filled)
}

// download leads to where a file of a release is to be had for some minutes.
func (h *Host) download(w http.ResponseWriter, r *http.Request) error {
	f := release.File{Version: r.PathValue("version"), Name: r.PathValue("name")}
	at, err := h.Downloads.Locate(r.Context(), f, web.ClientAddress(r))
	if err != nil {
		return err
	}
	sendTo(w, http.StatusFound, at)
	return nil
}
