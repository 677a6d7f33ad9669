package client

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strconv"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func artifactPath(a id.Artifact) string { return "/v1/artifacts/" + string(a) }

// read reads artifacts, or a resource of one, from the api host.
func (a *Account) read(ctx context.Context, path string, out any) error {
	k := a.call(http.MethodGet, path)
	k.about = aboutArtifact
	return a.caller.do(ctx, k, out)
}

// View returns a revision of an artifact with all of its files; "" is the newest one. The view has passed checkView.
func (a *Account) View(
	ctx context.Context,
	artifact id.Artifact,
	revision id.Revision,
) (view contract.AgentView, err error) {
	view.PublicAgentView, err = a.allFiles(func(cursor string) (contract.PublicAgentView, error) {
		page, err := a.viewPage(ctx, artifact, revision, cursor)
		if cursor == "" {
			view = page
		}
		return page.PublicAgentView, err
	})
	return view, err
}

// FirstPage returns what View does with no more files than one call answers.
func (a *Account) FirstPage(
	ctx context.Context,
	artifact id.Artifact,
	revision id.Revision,
) (contract.AgentView, error) {
	return a.viewPage(ctx, artifact, revision, "")
}

func (a *Account) viewPage(
	ctx context.Context,
	artifact id.Artifact,
	revision id.Revision,
	cursor string,
) (view contract.AgentView, err error) {
	path := artifactPath(artifact)
	if revision != "" {
		path += "/revisions/" + string(revision)
	}
	path += "/agent-view"
	if cursor != "" {
		path += "?" + url.Values{"files_cursor": {cursor}}.Encode()
	}
	if err = a.read(ctx, path, &view); err != nil {
		return view, err
	}
	return view, a.checkView(view.PublicAgentView, artifact, revision)
}

var digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

// checkView refuses a view of another revision than requested, and one that cannot be built upon: an artifact without
// title or files, or a malformed id or digest.
func (d *Deployment) checkView(v contract.PublicAgentView, artifact id.Artifact, revision id.Revision) error {
	_, malformed := v.RevisionID.Bits()
	why := ""
	switch {
	case v.ArtifactID != artifact, malformed != nil, revision != "" && v.RevisionID != revision:
		why = "the view is of another revision"
	case v.Title == "":
		why = "the artifact has no title"
	case len(v.Files) == 0:
		why = "the revision has no files"
	}
	for _, f := range v.Files {
		if f.Path == "" || f.SizeBytes < 0 || f.SHA256 != "" && !digestForm.MatchString(f.SHA256) {
			why = "the revision has a malformed file"
		}
	}
	if why == "" {
		return nil
	}
	return d.caller.badResponse(d.Hosts.APIURL, "%s", why)
}

// Text returns one file of a revision; "" is the newest one. The body is set if the file is text that fits.
func (a *Account) Text(
	ctx context.Context,
	artifact id.Artifact,
	revision id.Revision,
	path string,
) (f contract.FileContent, err error) {
	q := url.Values{"path": {path}}
	if revision != "" {
		q.Set("revision_id", string(revision))
	}
	if err = a.read(ctx, artifactPath(artifact)+"/file-content?"+q.Encode(), &f); err != nil {
		return f, err
	}
	if f.Path != path || !digestForm.MatchString(f.SHA256) || f.Body != nil && digest([]byte(*f.Body)) != f.SHA256 {
		err = a.caller.badResponse(a.Hosts.APIURL, "the file is another one, or its digest is wrong")
	}
	return f, err
}

// List returns a page of the workspace's artifacts, newest first.
func (a *Account) List(ctx context.Context, cursor string, limit int) (l contract.ArtifactList, err error) {
	if err = a.read(ctx, "/v1/artifacts?"+pageOf(cursor, limit).Encode(), &l); err != nil {
		return l, err
	}
	return l, a.checkPage(l.PageInfo, cursor, len(l.Data))
}

// pageOf is the query for a page of a list.
func pageOf(cursor string, limit int) url.Values {
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	return q
}

// Revisions returns a page of the revisions of an artifact: drafts, then the others, newest first. Older servers take no
// query, and list all at once.
func (a *Account) Revisions(
	ctx context.Context,
	artifact id.Artifact,
	cursor string,
	limit int,
) (l contract.RevisionList, err error) {
	path := artifactPath(artifact) + "/revisions"
	if cursor != "" || limit < limits.MaxPage {
		path += "?" + pageOf(cursor, limit).Encode()
	}
	if err = a.read(ctx, path, &l); err != nil {
		return l, err
	}
	if l.ArtifactID != artifact {
		return l, a.caller.badResponse(a.Hosts.APIURL, "the revisions are of another artifact")
	}
	return l, a.checkPage(l.PageInfo, cursor, len(l.Items))
}

// Delete deletes an artifact. It may be repeated.
func (a *Account) Delete(ctx context.Context, artifact id.Artifact) (d contract.DeletedArtifact, err error) {
	k := a.call(http.MethodDelete, artifactPath(artifact))
	k.about = aboutArtifact
	if err = a.caller.do(ctx, k, &d); err == nil && d.ArtifactID != artifact {
		err = a.caller.badResponse(a.Hosts.APIURL, "it does not say that this artifact was deleted")
	}
	return d, err
}

// Pin keeps an artifact from expiring, or lets it expire again.
func (m *Member) Pin(
	ctx context.Context,
	idem string,
	artifact id.Artifact,
	keep bool,
) (w contract.WebArtifact, err error) {
	verb := "/unpin"
	if keep {
		verb = "/pin"
	}
	k := m.call(http.MethodPost, "/v1/web/artifacts/"+string(artifact)+verb)
	k.idem, k.about = idem, aboutArtifact
	if err = m.caller.do(ctx, k, &w); err == nil && (w.ID != artifact || w.Pinned != keep) {
		err = m.caller.badResponse(m.Hosts.APIURL, "it does not say that this was done")
	}
	return w, err
}
