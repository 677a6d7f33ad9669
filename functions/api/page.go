package api

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"time"

	"vitrine/functions/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/limits"
)

// publicPage serves the public agent view to people who open its URL in a browser. It is plain markup without script or
// style, because the function that serves it links no template engine.
func (h *Host) publicPage(w http.ResponseWriter, r *http.Request) error {
	p := cursor.Page{Cursor: r.URL.Query().Get("files_cursor")}
	v, err := h.Views.Public(r.Context(), r.PathValue("token"), p)
	if err != nil {
		return err
	}
	head := w.Header()
	head.Set("Content-Type", "text/html; charset=utf-8")
	head.Set("Cache-Control", "no-store")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Vary", "Accept")
	if v.Ephemeral {
		head.Set("X-Robots-Tag", "noindex, nofollow")
	}
	w.Write([]byte(page(wire.PublicAgentView(v))))
	return nil
}

// expiry says when an artifact expires, or that it does not.
func expiry(at time.Time) string {
	if !limits.Ends(at) {
		return "Does not expire"
	}
	return "Expires " + at.UTC().Format(time.RFC1123)
}

// page renders the view. It escapes every text of a stranger.
func page(v contract.PublicAgentView) string {
	var b strings.Builder
	text := html.EscapeString
	fmt.Fprintf(&b, `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">`+
		`<title>%s</title><h1>%s</h1><p>Agent View of artifact %s, revision %s. %s.</p>`+
		`<p><a href="%s" rel="noreferrer">Open %s</a></p><table><tr><th>File<th>Bytes<th>Type<th>SHA-256`,
		text(v.Title), text(v.Title), v.ArtifactID, v.RevisionID, expiry(v.ExpiresAt.Time), text(v.RevisionContentURL), text(v.Entrypoint))
	for _, f := range v.Files {
		fmt.Fprintf(&b, `<tr><td><a href="%s" rel="noreferrer">%s</a><td>%d<td>%s<td><code>%s</code>`,
			text(f.URL), text(f.Path), f.SizeBytes, text(f.ContentType), f.SHA256)
	}
	b.WriteString(`</table>`)
	if v.FilesNextCursor != "" {
		fmt.Fprintf(&b, `<p>These are %d of %d files. <a href="?files_cursor=%s" rel="next">More files</a></p>`,
			len(v.Files), v.FilesTotal, url.QueryEscape(v.FilesNextCursor))
	}
	b.WriteString(`<p>Ask with <code>Accept: application/json</code> for the same as JSON.</p></html>`)
	return b.String()
}
