package app

import (
	"io"
	"net/http"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/manual"
)

// manualRoutes are the documents that tell agents how to use the deployment. They are the same for everybody, whoever
// may sign in.
func (h *Host) manualRoutes() []route {
	return []route{
		{method: "GET", path: "/skill.md", handle: handler(h.document), packed: true},
		{method: "GET", path: "/skills/vitrine.zip", handle: handler(h.document), packed: true},
		{method: "GET", path: "/.well-known/agent-skills/index.json", handle: handler(h.document), packed: true},
		{method: "GET", path: "/llms.txt", handle: handler(h.document), packed: true},
		{method: "GET", path: "/llms-full.txt", handle: handler(h.document), packed: true},
		{method: "GET", path: "/agents.md", handle: handler(h.document), packed: true},
	}
}

// document is a document of the manual that is ready to be sent.
type document struct {
	manual.Document
	tag string
}

// documentsOf returns the documents of a manual by path.
func documentsOf(m manual.Manual) map[string]document {
	all := map[string]document{}
	for path, d := range m.Documents() {
		all[path] = document{d, web.ETag(d.Body)}
	}
	return all
}

func (h *Host) document(w http.ResponseWriter, r *http.Request) error {
	d := h.documents[r.URL.Path]
	header := w.Header()
	header.Set("Content-Type", d.Media)
	header.Set("Cache-Control", "public, max-age=300")
	header.Set("Access-Control-Allow-Origin", "*")
	header.Set("ETag", d.tag)
	if known := web.Unchanged(r, d.tag); known != "" {
		header.Set("ETag", known)
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	io.WriteString(w, d.Body) // a failure means that the client left
	return nil
}
