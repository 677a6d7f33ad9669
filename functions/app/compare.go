package app

import (
	"net/http"
	"net/url"
	"strings"

	"vitrine/functions/app/pages"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/comparison"
)

// comparePath returns the page that compares two revisions.
func comparePath(a id.Artifact, from, to id.Revision) string {
	return comparisonQuery{Artifact: a, From: from, To: to}.path()
}

// comparisonQuery is the query of the page.
type comparisonQuery struct {
	Artifact id.Artifact
	From, To id.Revision // empty: the defaults of comparison.Query
	View     string      // one of pages.ComparisonViews
	File     string      // empty: all
	After    string      // cursor before the page; empty: it is the first one
}

func readComparison(r *http.Request) comparisonQuery {
	q := r.URL.Query()
	out := comparisonQuery{
		Artifact: pathArtifact(r),
		From:     id.Revision(q.Get("from")),
		To:       id.Revision(q.Get("to")),
		File:     q.Get("path"),
		After:    q.Get("after"),
	}
	for _, v := range pages.ComparisonViews {
		if v.Code == q.Get("view") {
			out.View = v.Code
		}
	}
	return out
}

// path returns the address of the page.
func (q comparisonQuery) path() string {
	values := url.Values{}
	for name, value := range map[string]string{
		"from": string(q.From), "to": string(q.To), "view": q.View, "path": q.File, "after": q.After,
	} {
		if value != "" {
			values.Set(name, value)
		}
	}
	path := artifactPath(q.Artifact) + "/compare"
	if len(values) > 0 {
		path += "?" + values.Encode()
	}
	return path
}

func (h *Host) comparisonRoutes() []route {
	return noReferrer(route{method: "GET", path: oneArtifact + "/compare", handle: seeArtifacts(h.compare)})
}

// compare shows what changed between two revisions.
func (h *Host) compare(w http.ResponseWriter, r *http.Request, v browserSession) error {
	q := readComparison(r)
	a, err := h.Artifacts.Find(r.Context(), v.Actor, q.Artifact)
	switch kind := fault.KindOf(err); {
	case kind == fault.KindNotFound, kind == fault.KindGone:
		return explained{err, unseen}
	case err != nil:
		return err
	case a.Lock != "" || v.Actor.Workspace.Lock != "": // which Find does not refuse, so that members learn of it
		return explained{fault.New(fault.NotFound, "an operator closed the artifact"), shut(a.ID)}
	}
	revisions, err := h.revisionsOf(r.Context(), v, a)
	if err != nil {
		return err
	}
	var review comparison.Review
	var threads dealtWith
	err = async.All(func() (err error) {
		review, err = h.Comparisons.Review(r.Context(), v.Actor, a, comparison.Query{
			From:    q.From,
			To:      q.To,
			Path:    q.File,
			Cursor:  q.After,
			Known:   revisions,
			Content: q.View == "",
			Most:    limits.ComparedLook,
		})
		return err
	}, func() error {
		threads = h.dealtWith(r.Context(), v, a)
		return nil
	})
	switch kind := fault.KindOf(err); {
	case fault.CodeOf(err) == fault.InvalidCursor:
		q.After = ""
		redirect(w, q.path())
		return nil
	case kind == fault.KindNotFound, kind == fault.KindGone:
		return explained{err, incomparable(a.ID, fault.CodeOf(err))}
	case err != nil:
		return err
	}
	return h.showComparison(w, v, shownComparison{
		comparisonQuery: q,
		Review:          review,
		artifact:        a,
		revisions:       revisions,
		threads:         threads,
	})
}

// incomparable returns the message about revisions of the member's own artifact that cannot be compared.
func incomparable(a id.Artifact, code fault.Code) pages.Message {
	m := pages.Message{
		Heading: "Nothing to compare",
		Text:    "This artifact has no such published revision or file, or it has ended. Its page lists its revisions.",
		Links: []pages.Link{
			{Path: artifactPath(a) + "#revisions", Text: "Revisions of the artifact"},
			{Path: "/artifacts", Text: "Your artifacts"},
		},
	}
	if code == fault.RevisionRetained {
		m.Text = "The files of one of these revisions were removed. Compare newer ones."
	}
	return m
}

// shownComparison is a comparison with what its page needs.
type shownComparison struct {
	comparisonQuery
	comparison.Review
	artifact  *artifact.Artifact
	revisions []artifact.Revision
	threads   dealtWith
	at        map[string]int // where each file that differs stands among them
}

// showComparison shows a comparison. Its links name both revisions, which the query may have left to the defaults.
func (h *Host) showComparison(w http.ResponseWriter, v browserSession, c shownComparison) error {
	c.comparisonQuery.From, c.comparisonQuery.To = c.Review.From.ID, c.Review.To.ID
	before, err := h.fileURLs(v, c.artifact, c.Review.From.ID)
	if err != nil {
		return err
	}
	after, err := h.fileURLs(v, c.artifact, c.Review.To.ID)
	if err != nil {
		return err
	}
	s := comparisonSides{before, after}
	c.at = c.places()
	p := pages.Comparison{
		Layout:  v.layout("/artifacts"),
		ID:      string(c.artifact.ID),
		Title:   c.artifact.Title,
		From:    c.revision(c.Review.From),
		To:      c.revision(c.Review.To),
		View:    c.View,
		Views:   c.views(),
		Only:    c.File,
		Total:   len(c.Changes),
		Counted: counted(c.Counts()),
		Changes: c.changes(s),
		Files:   c.files(s),
	}
	for _, r := range c.revisions {
		if r.Status == artifact.Published {
			p.Revisions = append(p.Revisions, c.revision(r))
		}
	}
	c.lead(&p)
	c.threads.show(&p, c.artifact)
	for _, f := range p.Files {
		if f.Picture {
			w.Header().Set(policyHeader, policyPicturing(h.contentOrigin()))
		}
	}
	return h.page(w, http.StatusOK, p)
}

// fileURLs returns a function that builds the URLs of files of a revision, nil if there is no revision.
func (h *Host) fileURLs(v browserSession, a *artifact.Artifact, r id.Revision) (func(string) string, error) {
	if r == "" {
		return nil, nil
	}
	return h.Views.FileURLs(v.Actor, a, r)
}

func (c shownComparison) revision(r artifact.Revision) pages.Revision {
	newest := r.ID == c.artifact.Current
	return pages.Revision{
		ID:     string(r.ID),
		Number: r.Number,
		Newest: newest,
		Open:   viewerPath(c.artifact.ID, r.ID, newest),
		At:     r.PublishedAt,
	}
}

// lead adds the links to other pages of the comparison.
func (c shownComparison) lead(p *pages.Comparison) {
	q := c.comparisonQuery
	if c.File != "" {
		all := q
		all.File, all.After = "", ""
		p.All = all.path()
	}
	if c.After != "" {
		q.After = ""
		p.First = q.path()
	}
	if c.Next != "" {
		q.After = c.Next
		p.Next = q.path()
	}
}

// views returns the links to other views. They begin at the first page, because pages of different views end at
// different files.
func (c shownComparison) views() []pages.ViewLink {
	var out []pages.ViewLink
	q := c.comparisonQuery
	q.After = ""
	for _, v := range pages.ComparisonViews {
		q.View = v.Code
		out = append(out, pages.ViewLink{Name: v.Name, Path: q.path(), Here: v.Code == c.View})
	}
	return out
}

// alone returns the address of the page that shows one file.
func (c shownComparison) alone(path string) string {
	q := c.comparisonQuery
	q.File, q.After = path, ""
	return q.path()
}

// shownByImages reports whether browsers show a file as a picture.
func shownByImages(contentType string) bool { return strings.HasPrefix(contentType, "image/") }
