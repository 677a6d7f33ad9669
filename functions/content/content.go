// Package content is the host of untrusted files. It serves them by signed token, from an origin of their own.
package content

import (
	"net/http"
	"slices"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/content"
	"vitrine/shared/publishing/readaccess"
)

// Host is the content host.
type Host struct {
	Surface *web.Server
	Reader  *content.Reader
	Origins address.Origins
	// Loads are the hosts that pages whose scripts run may load from, and Static those for other files.
	Loads, Static media.Sources
	// Strict makes the host answer only requests for the content origin's own name, as in production. Otherwise it
	// refuses only the app's name, because content under that name would share the app's cookies.
	Strict bool

	policies policies
}

// Handler returns the host. It panics if the content or the app origin is not an absolute http URL.
func (h *Host) Handler() http.Handler {
	h.policies = newPolicies(h)
	shared := h.Surface.Untrusted(h.Origins, h.Strict).Handler(h.routes()...)
	return h.Surface.WithOwn(h.Origins, h.ownRoutes(), shared)
}

func (h *Host) routes() []web.Route {
	get := web.Operation{
		ID:       "content.get",
		Method:   http.MethodGet,
		Path:     "/v/{token}/{path}",
		Summary:  "Serve one file of a revision",
		Security: web.ContentToken,
		Errors: []fault.Code{
			fault.NotFound, fault.RateLimitedArtifact, fault.DatabaseUnavailable, fault.StorageUnavailable,
		},
		Answers: []web.Answer{
			{
				Status:      http.StatusOK,
				Description: "the file, as the media type that its extension tells",
				MediaType:   "application/octet-stream",
			},
			{
				Status:      http.StatusPartialContent,
				Description: "the range that was asked for",
				MediaType:   "application/octet-stream",
			},
			{Status: http.StatusNotModified, Description: "the client's copy is current"},
			{
				Status:      http.StatusRequestedRangeNotSatisfiable,
				Description: "the file ends before the range; Content-Range tells its size",
			},
		},
	}
	head := get
	head.ID = "content.head"
	head.Method = http.MethodHead
	head.Summary = "What GET would answer, without the file"
	head.Answers = []web.Answer{
		{Status: http.StatusOK, Description: "the headers that GET answers"},
		{Status: http.StatusNotModified, Description: "the client's copy is current"},
	}
	bundle, bundleHead := get, head
	bundle.ID, bundleHead.ID = "content.bundle", "content.bundleHead"
	bundle.Path, bundleHead.Path = "/b/{token}", "/b/{token}"
	bundle.Summary = "Serve all files of a revision as a zip archive"
	bundle.Answers = slices.Clone(get.Answers)
	for n, answer := range bundle.Answers {
		if answer.MediaType != "" {
			bundle.Answers[n].MediaType = zipType
		}
	}
	bundle.Answers[0].Description = "the archive; Repr-Digest has its SHA-256"
	exported, exportedHead := bundle, bundleHead
	exported.ID, exportedHead.ID = "content.export", "content.exportHead"
	exported.Path, exportedHead.Path = "/x/{token}", "/x/{token}"
	exported.Summary = "Serve an archive of an export of a workspace"
	return append(h.pageRoutes(get, head),
		web.Plain[fileInput](get, h.file),
		web.Plain[fileInput](head, h.file),
		web.Plain[bundleInput](bundle, h.archive(h.Reader.FindBundle)),
		web.Plain[bundleInput](bundleHead, h.archive(h.Reader.FindBundle)),
		web.Plain[exportInput](exported, h.archive(h.Reader.FindExport)),
		web.Plain[exportInput](exportedHead, h.archive(h.Reader.FindExport)),
	)
}

// pageRoutes returns the routes of pages of files, for the document of the origin only. The gateway sends requests for
// them to the render host.
func (h *Host) pageRoutes(get, head web.Operation) (out []web.Route) {
	for _, of := range []struct{ id, path, what string }{
		{"content.page", "/r/{token}/{path}", "the page of a file or a folder"},
		{"content.pages", "/r/{token}", "the list of the files of a revision"},
	} {
		asked, headers := get, head
		asked.ID, headers.ID = of.id, of.id+"Head"
		asked.Path, headers.Path = of.path, of.path
		asked.Summary = "Show " + of.what
		asked.Answers = []web.Answer{
			{Status: http.StatusOK, Description: of.what + ", without scripts", MediaType: "text/html"},
			{Status: http.StatusNotModified, Description: "the client's copy is current"},
		}
		if of.id == "content.pages" {
			out = append(out, web.Plain[pagesInput](asked, elsewhere), web.Plain[pagesInput](headers, elsewhere))
			continue
		}
		asked.Answers[0].Description += "; with as=text the file as text/plain"
		out = append(out, web.Plain[pageInput](asked, elsewhere), web.Plain[pageInput](headers, elsewhere))
	}
	return out
}

func elsewhere(http.ResponseWriter, *http.Request) error { return readaccess.NotFound() }

type pagesInput struct {
	Token string `path:"token" doc:"signed content token"`
}

type pageInput struct {
	Token string `path:"token" doc:"signed content token"`
	Path  string `path:"path" doc:"path of a file or folder within the artifact"`
	As    string `query:"as" doc:"text: the plain text of Markdown, a table or a notebook"`
	Sort  string `query:"sort" doc:"column that a table is sorted by, counted from 1, followed by d for descending"`
}

type bundleInput struct {
	Token string `path:"token" doc:"signed bundle token"`
}

type exportInput struct {
	Token string `path:"token" doc:"signed export token"`
}

type fileInput struct {
	Token string `path:"token" doc:"signed content token"`
	Path  string `path:"path" doc:"file path within the artifact"`
}
