package app

import (
	"context"
	"net/http"
	"net/url"

	"vitrine/functions/app/pages"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/view"
)

// viewerRoutes show members the files of an artifact.
func (h *Host) viewerRoutes() []route {
	view := seeArtifacts(h.private)
	view.moved = http.StatusFound // what programs that look for artifacts expect
	return noReferrer(route{method: "GET", path: "/v/{artifactId}", handle: view})
}

// viewerPath returns the page where members view a revision.
func viewerPath(a id.Artifact, r id.Revision, newest bool) string {
	path := "/v/" + string(a)
	if !newest {
		path += "?" + url.Values{"revision": {string(r)}}.Encode()
	}
	return path
}

// filesQuery names the cursor of a page of files in the query of the viewer.
const filesQuery = "files"

// filesPath returns the page of the viewer with a page of files of one revision.
func filesPath(a id.Artifact, r id.Revision, cursor string) string {
	return viewerPath(a, r, false) + "&" + url.Values{filesQuery: {cursor}}.Encode()
}

// listedRevisions is how many revisions the viewer links to. The page of the artifact lists all.
const listedRevisions = 10

// private is the viewer for members. It shows the newest revision of an artifact, or the one in the query.
func (h *Host) private(w http.ResponseWriter, r *http.Request, v browserSession) error {
	a, err := h.seen(r, v)
	if q := r.URL.Query(); fault.KindOf(err) == fault.KindInvalid && q.Has(filesQuery) { // a cursor older than a day
		which := q.Get("revision")
		redirect(w, viewerPath(pathArtifact(r), id.Revision(which), which == ""))
		return nil
	}
	if kind := fault.KindOf(err); kind == fault.KindNotFound || kind == fault.KindGone {
		return explained{err, unseen}
	}
	if err != nil {
		return err
	}
	if a.Lock != "" || v.Actor.Workspace.Lock != "" {
		return explained{fault.New(fault.NotFound, "an operator closed the artifact"), shut(a.ID)}
	}
	w.Header().Set(policyHeader, policyMember(h.framable(h.Origins.Of(a.ID))))
	p := h.privatePage(a, v.Actor.Workspace.Name, r.URL.Query().Get("at"))
	p.Feedback = a.shownFeedback(p.Panel)
	if r.URL.Query().Has(filesQuery) {
		p.First = viewerPath(a.ID, a.view.Revision.ID, a.view.Revision.ID == a.Current)
	}
	return h.page(w, http.StatusOK, p)
}

// privatePage returns the page of a revision that the member may see, at a place in it.
func (h *Host) privatePage(a *seenArtifact, workspace, place string) pages.Private {
	newest := a.view.Revision.ID == a.Current
	address := h.Origins.App + viewerPath(a.ID, a.view.Revision.ID, newest)
	source := frameAt(a.view, place)
	p := pages.Private{
		Strip:     a.strip(),
		Panel:     h.panel(a.view, address),
		Workspace: workspace,
		ID:        string(a.ID),
		Title:     a.view.Title,
		Revision:  string(a.view.Revision.ID),
		Shown: pages.Shown{
			Entrypoint: a.view.Revision.Entrypoint,
			Source:     source,
			Own:        ownFrameAt(a.view, place),
			App:        a.view.Revision.App.Is(),
			Framed:     source != a.view.Frame || framed(a.view),
		},
		Scripts:       a.view.Scripts,
		ContentOrigin: h.contentOrigin(),
		OwnOrigins:    h.Origins.Own,
		Pace:          pages.Pace(h.Operators.Limits.Pace),
		CreatedAt:     a.CreatedAt,
	}
	if p.Next != "" {
		p.Next = filesPath(a.ID, a.view.Revision.ID, p.Next)
	}
	if h.Origins.MCP != h.Origins.API {
		p.MCPURL = h.Origins.MCP
	}
	p.Pinned = !a.PinnedAt.IsZero()
	if !a.Lasts() {
		p.ExpiresAt = a.ExpiresAt
	}
	if !newest {
		p.Older = p.Revision
	}
	p.Revisions, p.More = a.offered()
	return p
}

// offered returns the revisions that the viewer links to, newest first, and whether there are more.
func (a *seenArtifact) offered() (rows []pages.Revision, more bool) {
	for _, r := range a.revisions {
		switch {
		case r.Status != artifact.Published:
		case len(rows) == listedRevisions:
			return rows, true
		default:
			newest := r.ID == a.Current
			rows = append(rows, pages.Revision{
				ID:     string(r.ID),
				Number: r.Number,
				Newest: newest,
				Open:   viewerPath(a.ID, r.ID, newest),
				At:     r.PublishedAt,
			})
		}
	}
	return rows, false
}

// unseen is the answer for everything that a member cannot see, whatever the reason.
var unseen = pages.Message{
	Heading: "Nothing on show here",
	Text: "What was here may have expired or been deleted, or it belongs to another workspace than the one that " +
		"you are signed in to.",
	Links: []pages.Link{{Path: "/artifacts", Text: "Your artifacts"}},
}

// shut returns the message about an artifact that an operator locked. None of the addresses of its files works.
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

// seenArtifact is an artifact with the revision on show.
type seenArtifact struct {
	*artifact.Artifact
	view      view.View
	revisions []artifact.Revision
	feedback  pages.Feedback
}

// shownFeedback returns the threads beside the revision on show, and its files to choose from.
func (a *seenArtifact) shownFeedback(p pages.Panel) pages.Feedback {
	f := a.feedback
	f.Revision = string(a.view.Revision.ID)
	f.Draft.Path = a.view.Revision.Entrypoint
	for _, threads := range [][]pages.Thread{f.Open, f.Addressed, f.Resolved} {
		for i := range threads {
			threads[i].Viewer = f.Revision
		}
	}
	for _, file := range p.Files {
		f.Files = append(f.Files, file.Path)
	}
	return f
}

// seen reads an artifact, and then concurrently the revision to show and the list of all.
func (h *Host) seen(r *http.Request, v browserSession) (*seenArtifact, error) {
	a, err := h.Artifacts.Find(r.Context(), v.Actor, pathArtifact(r))
	if err != nil {
		return nil, err
	}
	s := &seenArtifact{Artifact: a}
	return s, async.All(
		func() (err error) { s.view, err = h.seenRevision(r, v, a); return err },
		func() (err error) { s.revisions, err = h.revisionsOf(r.Context(), v, a); return err },
		func() error { s.feedback = h.viewerFeedback(r, v, a); return nil },
	)
}

// revisionsOf lists the newest revisions of an artifact, as many as a page of them has. An artifact with a single published
// one needs no read.
func (h *Host) revisionsOf(ctx context.Context, v browserSession, a *artifact.Artifact) ([]artifact.Revision, error) {
	if a.Number == 1 {
		return []artifact.Revision{{
			ID:          a.Current,
			Artifact:    a.ID,
			Status:      artifact.Published,
			Number:      1,
			PublishedAt: a.PublishedAt,
		}}, nil
	}
	newest, _, err := h.Artifacts.Revisions(ctx, v.Actor, a, cursor.Page{})
	return newest, err
}

// seenRevision reads the revision in the query, or the newest one.
func (h *Host) seenRevision(r *http.Request, v browserSession, a *artifact.Artifact) (view.View, error) {
	which, p := id.Revision(r.URL.Query().Get("revision")), cursor.Page{Cursor: r.URL.Query().Get(filesQuery)}
	if which == "" || which == a.Current {
		return h.Views.Latest(r.Context(), v.Actor, a, p)
	}
	if _, err := which.Bits(); err != nil {
		return view.View{}, fault.NewCode(fault.NotFound)
	}
	revision, err := h.Artifacts.Revision(r.Context(), a.ID, which)
	if err != nil {
		return view.View{}, err
	}
	return h.Views.Pinned(r.Context(), v.Actor, a, revision, p)
}
