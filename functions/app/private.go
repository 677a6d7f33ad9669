package app

import (
	"net/http"
	"net/url"

	"vitrine/functions/app/pages"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
)

// viewerPath is where members look at a revision.
func viewerPath(a id.Artifact, r id.Revision, newest bool) string {
	path := "/v/" + string(a)
	if !newest {
		path += "?" + url.Values{"revision": {string(r)}}.Encode()
	}
	return path
}

// private is the viewer for members: the newest revision of an artifact of theirs, or the one that the query names.
func (h *Host) private(w http.ResponseWriter, r *http.Request, v browserSession) error {
	a, shown, err := h.seen(r, v)
	if kind := fault.KindOf(err); kind == fault.KindNotFound || kind == fault.KindGone {
		return explained{err, unseen}
	}
	if err != nil {
		return err
	}
	if l := shown.Lockdown; l != nil && (l.Platform.Artifact.Locked || l.Platform.Workspace.Locked) {
		return explained{fault.New(fault.NotFound, "an operator closed the artifact"), shut(a.ID)}
	}
	content := h.contentOrigin()
	w.Header().Set(policyHeader, policyViewer(content))
	p := pages.Private{
		Workspace:     v.Actor.Workspace.Name,
		ID:            string(a.ID),
		Title:         shown.Title,
		Entrypoint:    shown.Entrypoint,
		Source:        shown.RevisionContentURL,
		Framed:        shownByBrowsers(shown.Entrypoint),
		ContentOrigin: content,
		CreatedAt:     shown.CreatedAt.Time,
		Files:         make([]pages.File, len(shown.Files)),
	}
	if a.PinnedAt.IsZero() {
		p.ExpiresAt = shown.ExpiresAt.Time
	}
	if shown.RevisionID != a.Current {
		p.Older = string(shown.RevisionID)
	}
	for i, f := range shown.Files {
		p.Files[i] = pages.File{
			Path:  f.Path,
			URL:   f.URL,
			Size:  f.SizeBytes,
			Shown: f.Path == shown.Entrypoint,
		}
	}
	return h.page(w, http.StatusOK, p)
}

// unseen is what the viewer says of what a member cannot see there, for every reason the same.
var unseen = pages.Message{
	Heading: "Nothing on show here",
	Text: "What was here may have expired or been deleted, or it belongs to another workspace than the one that " +
		"you are signed in to.",
	Links: []pages.Link{{Path: "/artifacts", Text: "Your artifacts"}},
}

// shut is what the viewer says to members about what an operator closed: no address of its files works.
func shut(a id.Artifact) pages.Message {
	return pages.Message{
		Heading: "Closed by the operator",
		Text: "An operator of this deployment closed this artifact: nobody sees its files while that is so, its " +
			"members included. Ask the operator why.",
		Links: []pages.Link{
			{Path: artifactPath(a), Text: "About the artifact"},
			{Path: "/artifacts", Text: "Your artifacts"},
		},
	}
}

// seen is what a request of the viewer names.
func (h *Host) seen(r *http.Request, v browserSession) (*artifact.Artifact, contract.AgentView, error) {
	a, err := h.Artifacts.Find(r.Context(), v.Actor, named(r))
	if err != nil {
		return nil, contract.AgentView{}, err
	}
	which := id.Revision(r.URL.Query().Get("revision"))
	if which == "" || which == a.Current {
		shown, err := h.Views.Latest(r.Context(), v.Actor, a)
		return a, shown, err
	}
	if _, err := which.Bits(); err != nil {
		return nil, contract.AgentView{}, fault.NewCode(fault.NotFound)
	}
	revision, err := h.Artifacts.Revision(r.Context(), a.ID, which)
	if err != nil {
		return nil, contract.AgentView{}, err
	}
	shown, err := h.Views.Pinned(r.Context(), v.Actor, a, revision)
	return a, shown, err
}
