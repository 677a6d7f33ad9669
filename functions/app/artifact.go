package app

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/lint"
	"vitrine/shared/publishing/sharing"
)

// oneArtifact is the path of the page of an artifact.
const oneArtifact = artifactsPath + "/{artifactId}"

// seeArtifacts returns a page about artifacts, and changeArtifacts a form.
func seeArtifacts(show memberHandler) members { return members{page: show, right: credential.Read} }

func changeArtifacts(right credential.Scope, handle formHandler) members {
	return members{form: explainNotChanged(handle), back: artifactsPath, right: right}
}

// artifactRoutes show members an artifact and change it.
func (h *Host) artifactRoutes() []route {
	const restore, remove = oneArtifact + "/revisions/{revisionId}/restore", oneArtifact + "/delete"
	return append(noReferrer(
		route{method: "GET", path: oneArtifact, handle: seeArtifacts(resetCursor(h.artifact))},
	), []route{
		{method: "POST", path: oneArtifact + "/pin", handle: changeArtifacts(credential.Read, h.pin)},
		{method: "POST", path: oneArtifact + "/unpin", handle: changeArtifacts(credential.Read, h.unpin)},
		{method: "POST", path: oneArtifact + "/title", handle: changeArtifacts(credential.Publish, h.rename)},
		{method: "POST", path: restore, handle: changeArtifacts(credential.Publish, h.restore)},
		question(remove, oneArtifact, members{page: h.confirm(askDelete), right: credential.Publish}),
		{method: "POST", path: remove, handle: changeArtifacts(credential.Publish, h.delete)},
	}...)
}

// pathArtifact returns the id in the path.
func pathArtifact(r *http.Request) id.Artifact { return id.Artifact(r.PathValue("artifactId")) }

func artifactPath(a id.Artifact) string { return "/artifacts/" + url.PathEscape(string(a)) }

func (h *Host) artifact(w http.ResponseWriter, r *http.Request, v browserSession) error {
	return h.showArtifact(w, r, v, http.StatusOK, pages.ArtifactPage{})
}

// shownArtifact is an artifact with everything that its page shows.
type shownArtifact struct {
	*artifact.Artifact
	preview   *artifact.Preview // nil: there is no preview
	at        url.Values        // cursors of the pages of links and revisions
	revisions []artifact.Revision
	links     []link.Link
	feedback  pages.Feedback

	moreRevisions, moreLinks string // cursors of the next pages; empty: there are none
}

// readArtifact reads an artifact, and then concurrently what belongs to it.
func (h *Host) readArtifact(
	ctx context.Context, v browserSession, named id.Artifact, at url.Values,
) (*shownArtifact, error) {
	a, err := h.Artifacts.Find(ctx, v.Actor, named)
	if err != nil {
		return nil, err
	}
	s := &shownArtifact{Artifact: a, at: at}
	return s, async.All(
		func() (err error) { s.preview, err = h.Artifacts.Preview(ctx, v.Actor, a); return err },
		func() (err error) {
			t := sharing.Target{RequestedID: a.ID, Artifact: a}
			s.links, s.moreLinks, err = h.Links.Of(ctx, v.Actor, t, cursor.Page{Cursor: at.Get("links")})
			return err
		},
		func() (err error) {
			p := cursor.Page{Cursor: at.Get("revisions")}
			s.revisions, s.moreRevisions, err = h.Artifacts.Revisions(ctx, v.Actor, a, p)
			return err
		},
		func() error { s.feedback = h.openFeedback(ctx, v, a); return nil },
	)
}

// showArtifact shows an artifact, one page of its links and one of its revisions. p has what a form left to say.
func (h *Host) showArtifact(
	w http.ResponseWriter, r *http.Request, v browserSession, status int, p pages.ArtifactPage,
) error {
	var at url.Values
	if r.Method == http.MethodGet { // a form that is shown again begins at the first pages
		at = r.URL.Query()
	}
	a, err := h.readArtifact(r.Context(), v, pathArtifact(r), at)
	if err != nil {
		return err
	}
	p.Layout = v.layout("/artifacts")
	p.Artifact = h.artifactRow(a.Artifact)
	p.Once = once()
	p.APIURL = h.Origins.API
	policy := cmp.Or(p.Feedback.Policy, a.feedback.Policy) // as it was chosen, or as it is
	p.Feedback = a.feedback
	p.Feedback.Policy = policy
	p.Entrypoint = a.Entrypoint
	p.Files = a.FileCount
	p.Size = a.Size
	p.ExpiresAt = endOf(a.Artifact)
	if p.Error == "" { // otherwise it is what was typed
		p.Name = a.Title
	}
	if a.preview != nil {
		w.Header().Set(policyHeader, policyFraming(h.contentOrigin()))
		p.Source, p.Framed = a.preview.URL, a.preview.Listing || shownInFrames(a.Entrypoint)
		p.Listing = a.preview.Listing
		p.Bundle = bundleOf(a.preview.Bundle)
		p.Newest = string(a.Current)
		p.Warned, p.Unshown = h.warnedFiles(a.preview.Warnings), a.preview.Warnings.More
	}
	if !p.Ended() && a.Lock == "" {
		if p.Upload = h.uploadPart(w, v); p.Upload != nil {
			p.Upload.Artifact, p.Upload.Title = string(a.ID), a.Title
		}
	}
	p.Revisions = a.revisionRows()
	h.showLinks(&p, a)
	return h.page(w, status, p)
}

// severities name the severities of findings.
var severities = map[lint.Severity]string{lint.Error: "Error", lint.Warn: "Warning", lint.Info: "Hint"}

// warnedFiles groups findings by file, in their order, which begins with the worst.
func (h *Host) warnedFiles(r lint.Report) (files []pages.WarnedFile) {
	for _, w := range r.Warnings {
		message := w.Message(h.Loads)
		if message == "" {
			continue
		}
		n := slices.IndexFunc(files, func(f pages.WarnedFile) bool { return f.Path == w.Path })
		if n < 0 {
			n, files = len(files), append(files, pages.WarnedFile{Path: w.Path})
		}
		files[n].Warnings = append(files[n].Warnings, pages.Warning{
			Severity: severities[w.Severity],
			Line:     w.Line,
			Text:     message,
		})
	}
	return files
}

// showLinks adds a page of links, and what leads to other pages. For links on those it relies on what the artifact
// records.
func (h *Host) showLinks(p *pages.ArtifactPage, a *shownArtifact) {
	numbers := map[string]int{}
	for _, row := range p.Revisions {
		numbers[row.ID] = row.Number
	}
	for _, l := range a.links {
		row := h.linkRow(l, a.Artifact)
		row.Number = numbers[row.Revision]
		p.Links = append(p.Links, row)
	}
	turns := lists{artifactPath(a.ID), a.at, []string{"links", "revisions"}}
	p.Pages, p.RevisionPages = turns.pages("links", a.moreLinks), turns.pages("revisions", a.moreRevisions)
	if p.First != "" || p.Next != "" {
		p.Linked, p.Following = a.Linked(), a.Shared(h.Now()) != ""
	}
}

func (s *shownArtifact) revisionRows() []pages.Revision {
	rows := make([]pages.Revision, len(s.revisions))
	for i, r := range s.revisions {
		row := pages.Revision{
			ID:     string(r.ID),
			Number: r.Number,
			State:  "Draft",
			At:     r.CreatedAt,
			Files:  r.FileCount,
			Size:   r.Size,
			Newest: r.ID == s.Current,
		}
		if !r.PublishedAt.IsZero() {
			row.At = r.PublishedAt
		}
		switch r.Status {
		case artifact.Published:
			row.State = "Published"
			if s.preview != nil {
				row.Open = viewerPath(s.ID, r.ID, row.Newest)
				row.Compare = s.comparePath(i)
				if !row.Newest {
					row.Restore = artifactPath(s.ID) + "/revisions/" + url.PathEscape(row.ID) + "/restore"
				}
			}
		case artifact.Retained:
			row.State = "Files removed"
		}
		rows[i] = row
	}
	return rows
}

// comparePath returns where revision i is compared with the newest older one whose files are kept, empty if there is
// none.
func (s *shownArtifact) comparePath(i int) string {
	for _, older := range s.revisions[i+1:] {
		if older.Status == artifact.Published {
			return comparePath(s.ID, older.ID, s.revisions[i].ID)
		}
	}
	return ""
}

// target returns the target of a form about the artifact in the path.
func target(
	r *http.Request, v browserSession, operation idempotency.Operation, form web.Form,
) (artifact.Target, error) {
	command, err := commandOf(v, operation, r.PathValue("artifactId"), form["once"], nil)
	return artifact.Target{Command: command, RequestedID: pathArtifact(r)}, err
}

func (h *Host) pin(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	err := h.changeArtifact(w, r, v, form, bulkChanges["pin"], "")
	if fault.CodeOf(err) == fault.PinnedArtifactCap {
		return explained{err, pages.Message{
			Heading: "No pins left",
			Text:    "This workspace has pinned as many artifacts as it is allowed. Unpin another one first; nothing was changed.",
			Links: []pages.Link{
				{Path: artifactPath(pathArtifact(r)), Text: "Back to the artifact"},
				{Path: "/artifacts", Text: "Artifacts"},
			},
		}}
	}
	return err
}

func (h *Host) unpin(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	return h.changeArtifact(w, r, v, form, bulkChanges["unpin"], "")
}

// changeArtifact changes the artifact in the path, and returns to a section of its page.
func (h *Host) changeArtifact(
	w http.ResponseWriter, r *http.Request, v browserSession, form web.Form, what change, section string,
) error {
	t, err := target(r, v, what.operation, form)
	if err != nil {
		return err
	}
	if err := what.run(h, r.Context(), v.Actor, t); err != nil {
		return err
	}
	redirect(w, artifactPath(t.RequestedID)+section)
	return nil
}

func (h *Host) rename(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	a, err := h.Artifacts.Find(r.Context(), v.Actor, pathArtifact(r))
	if err != nil {
		return err
	}
	_, err = h.Artifacts.Rename(r.Context(), v.Actor, a, form["title"])
	if fault.CodeOf(err) == fault.InvalidRequest {
		web.Failed(r.Context(), fault.InvalidRequest, err)
		return h.showArtifact(w, r, v, http.StatusBadRequest, pages.ArtifactPage{
			Name:  form["title"],
			Error: fmt.Sprintf("Give it a title of 1 to %d characters.", limits.TitleRunes),
		})
	}
	if err != nil {
		return err
	}
	redirect(w, artifactPath(a.ID))
	return nil
}

// confirmation is a question before a change that cannot be undone, or that affects everybody with a link.
type confirmation struct {
	heading string
	button  string
	action  string // below the artifact's page
	text    string
}

var askDelete = confirmation{"Delete this artifact?", "Delete it", "/delete",
	"All its revisions and links end at once, for everybody and for good. " + recoverable}

// confirm returns a page that asks a question about an artifact that has not ended.
func (h *Host) confirm(q confirmation) memberHandler {
	return func(w http.ResponseWriter, r *http.Request, v browserSession) error {
		a, err := h.Artifacts.Find(r.Context(), v.Actor, pathArtifact(r))
		if err != nil {
			return err
		}
		if h.artifactRow(a).Ended() {
			return fault.New(fault.NotFound, "the artifact has ended")
		}
		return h.page(w, http.StatusOK, pages.Confirm{
			Layout:  v.layout("/artifacts"),
			Heading: q.heading,
			Subject: a.Title,
			Detail:  string(a.ID),
			Text:    q.text,
			Button:  q.button,
			Action:  artifactPath(a.ID) + q.action,
			Back:    artifactPath(a.ID),
			Once:    once(),
		})
	}
}

func (h *Host) delete(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	t, err := target(r, v, idempotency.DeleteArtifact, form)
	if err != nil {
		return err
	}
	if t.Artifact, err = h.Artifacts.Find(r.Context(), v.Actor, t.RequestedID); err != nil {
		return err
	}
	_, err = h.Artifacts.Delete(r.Context(), v.Actor, t)
	return returnTo(w, "/artifacts", err)
}
