package app

import (
	"errors"
	"io/fs"
	"net/http"
	"strings"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/script"
)

// program serves a file of a third-party program, which pages of files load on the content origin. The path names the
// version, so that browsers keep it for ever.
func (h *Host) program(w http.ResponseWriter, r *http.Request) error {
	name, ok := script.Find(r.PathValue("program"), r.PathValue("file"))
	if !ok || h.Programs == nil {
		return fault.NewCode(fault.NotFound)
	}
	text, err := fs.ReadFile(h.Programs, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.NewCode(fault.NotFound)
	case err != nil:
		return err
	}
	header := w.Header()
	header.Set("Content-Type", "text/javascript; charset=utf-8")
	if strings.HasSuffix(name, ".woff2") {
		header.Set("Content-Type", "font/woff2")
	}
	header.Set("Cache-Control", forever)
	header.Set("Access-Control-Allow-Origin", "*") // sandboxed pages have an opaque origin, and the files are public
	header.Set("Cross-Origin-Resource-Policy", "cross-origin")
	_, _ = w.Write(text) // a failure means that the client left
	return nil
}
