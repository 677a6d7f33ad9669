// Package content is the host of untrusted files. It serves them by signed token, from an origin that serves only
// them.
package content

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/content"
)

// Host is the content host.
type Host struct {
	Surface *web.Server
	Reader  *content.Reader
	Origins address.Origins
	// Strict makes the host answer requests for the content origin's own name only, as in production. Otherwise it
	// refuses only the app's name, because content under that name would share the app's cookies.
	Strict bool

	policies policies
}

// Handler returns the handler. It panics when the content or the app origin is not an absolute http URL.
func (h *Host) Handler() http.Handler {
	own, app := mustName(h.Origins.Content), mustName(h.Origins.App)
	h.policies = newPolicies(h.Origins.App)
	s := *h.Surface
	s.Metadata = "" // no credential is accepted here
	s.Headers = map[string]string{"Referrer-Policy": "no-referrer", "Cross-Origin-Resource-Policy": "cross-origin"}
	s.Serves = func(name string) bool { return name == own || !h.Strict && name != app }
	return s.Handler(h.routes()...)
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
	return []web.Route{
		web.Plain[fileInput](get, h.file),
		web.Plain[fileInput](head, h.file),
		web.Plain[bundleInput](bundle, h.bundle),
		web.Plain[bundleInput](bundleHead, h.bundle),
		web.Plain[exportInput](exported, h.export),
		web.Plain[exportInput](exportedHead, h.export),
	}
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

// mustName returns the host name of an origin.
func mustName(origin string) string {
	u, err := url.Parse(origin)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		panic("content: not an absolute http origin: " + origin)
	}
	return strings.ToLower(u.Hostname())
}
