package app

import (
	"net/http"
	"time"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/sharing"
)

func (h *Host) linkRoutes() []route {
	const (
		all    = oneArtifact + "/links"
		mint   = all + "/{linkId}/address"
		revoke = all + "/{linkId}/revoke"
		admin  = credential.Admin

		comments = all + "/{linkId}/comments"
	)
	return append(noReferrer(
		route{method: "POST", path: all, handle: changeArtifacts(admin, h.createLink)},
		route{method: "POST", path: mint, handle: changeArtifacts(admin, h.mintLink)},
	), []route{
		{method: "GET", path: "/access-links", handle: seeArtifacts(resetCursor(h.accessLinks))},
		question(revoke, oneArtifact, members{page: h.askRevokeLink, right: admin}),
		{method: "POST", path: revoke, handle: changeArtifacts(admin, h.revokeLink)},
		{method: "POST", path: comments, handle: changeArtifacts(admin, h.setComments)},
	}...)
}

// accessLinks lists the links of the workspace.
func (h *Host) accessLinks(w http.ResponseWriter, r *http.Request, v browserSession) error {
	after := r.URL.Query().Get("after")
	links, next, err := h.Links.Overview(r.Context(), v.Actor, cursor.Page{Cursor: after})
	if err != nil {
		return err
	}
	p := pages.AccessLinks{Layout: v.layout("/access-links"), Pages: pagesOf("/access-links", after, next)}
	for _, l := range links {
		row := h.linkRow(l.Link, l.Artifact)
		if row.Title = row.Artifact; l.Artifact != nil {
			row.Title = l.Artifact.Title
		} else if !row.Over() {
			row.State = pages.Ended
		}
		p.Items = append(p.Items, row)
	}
	return h.page(w, http.StatusOK, p)
}

// linkRow returns a link as pages show it; of is its artifact, nil if it is not known.
func (h *Host) linkRow(l link.Link, of *artifact.Artifact) pages.AccessLink {
	now := h.Now()
	row := pages.AccessLink{
		ID:        string(l.ID),
		Public:    string(l.Public),
		Artifact:  string(l.Artifact),
		Revision:  string(l.Revision),
		Share:     l.Kind == link.Share,
		State:     pages.Live,
		CreatedAt: l.CreatedAt,
		EndsAt:    l.ExpiresAt,
		RevokedAt: l.RevokedAt,
		Comments:  l.Comments,
	}
	if end := endOf(of); !end.IsZero() && (row.EndsAt.IsZero() || end.Before(row.EndsAt)) {
		row.EndsAt, row.With = end, true
	}
	// The first reason to hold is shown: a link that was revoked stays revoked when its artifact ends.
	past := !row.EndsAt.IsZero() && !now.Before(row.EndsAt)
	switch {
	case !l.RevokedAt.IsZero():
		row.State = pages.Revoked
	case past && !row.With:
		row.State = pages.Expired
	case past || of != nil && !of.Active(now):
		row.State = pages.Ended
	case of != nil && (of.Lock != "" || !of.LinksLockedAt.IsZero()):
		row.State = pages.Locked
	}
	return row
}

// endOf returns when an artifact ended, or will; zero if it will not, or is not known.
func endOf(a *artifact.Artifact) time.Time {
	switch {
	case a == nil:
		return time.Time{}
	case a.Status == artifact.Deleted:
		return a.DeletedAt
	case !a.Lasts():
		return a.ExpiresAt
	}
	return time.Time{}
}

// ends are the lifetimes of links that the form offers; 0: that of the artifact.
var ends = map[string]time.Duration{
	"":     0,
	"1h":   time.Hour,
	"24h":  limits.Day,
	"168h": 7 * limits.Day,
	"720h": 30 * limits.Day,
}

// wanted returns the link that a form asks for.
func (h *Host) wanted(form map[string]string) (sharing.Request, error) {
	life, known := ends[form["ends"]]
	if !known {
		return sharing.Request{}, fault.New(fault.InvalidRequest, "the form offers other ends")
	}
	asked := sharing.Request{Kind: link.Share}
	if shows := form["shows"]; shows != string(link.Share) {
		asked = sharing.Request{Kind: link.Revision, Revision: id.Revision(shows)}
	}
	if life > 0 {
		asked.ExpiresAt = new(h.Now().Add(life))
	}
	return asked, nil
}

func (h *Host) createLink(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	begun := h.Now()
	asked, err := h.wanted(form)
	if err != nil {
		return err
	}
	fields := []string{form["shows"], form["ends"]}
	command, err := commandOf(v, idempotency.CreateLink, r.PathValue("artifactId"), form["once"], fields)
	if err != nil {
		return err
	}
	made, err := h.Links.Create(r.Context(), v.Actor, sharing.Target{Command: command, RequestedID: pathArtifact(r)}, asked)
	if err != nil {
		return err
	}
	// Stored times have no more than milliseconds, so that a new link can seem a little older than begun.
	known := made.Kind == link.Share && made.CreatedAt.Before(begun.Truncate(time.Millisecond))
	return h.showAddress(w, r, v, made.ID, known)
}

// showAddress shows a link with its secret. known says that the link existed before the form was sent.
func (h *Host) showAddress(w http.ResponseWriter, r *http.Request, v browserSession, l id.Link, known bool) error {
	minted, err := h.Links.Address(r.Context(), v.Actor, l)
	if err == nil && minted.Artifact.ID != pathArtifact(r) {
		err = sharing.NotFound()
	}
	if absent(err) {
		return explained{err, pages.Message{
			Heading: "This link no longer opens anything",
			Text:    "It has ended or is turned off, or what it led to has ended.",
			Links:   []pages.Link{{Path: artifactPath(pathArtifact(r)), Text: "Back to the artifact"}},
		}}
	}
	if err != nil {
		return err
	}
	web.RedactSecret(r.Context(), minted.URL)
	return h.page(w, http.StatusOK, pages.Address{
		Layout:   v.layout("/artifacts"),
		Artifact: r.PathValue("artifactId"),
		Link:     h.linkRow(minted.Link, minted.Artifact),
		URL:      minted.URL,
		Known:    known,
	})
}

// find returns a link of the artifact in the path; not_found if there is none.
func (h *Host) find(r *http.Request, v browserSession) (pages.AccessLink, error) {
	l, err := h.Links.Find(r.Context(), v.Actor, id.Link(r.PathValue("linkId")))
	if err == nil && l.Link.Artifact != pathArtifact(r) {
		err = sharing.NotFound()
	}
	if err != nil {
		return pages.AccessLink{}, err
	}
	return h.linkRow(l.Link, nil), nil
}

func (h *Host) mintLink(w http.ResponseWriter, r *http.Request, v browserSession, _ web.Form) error {
	return h.showAddress(w, r, v, id.Link(r.PathValue("linkId")), false)
}

func (h *Host) askRevokeLink(w http.ResponseWriter, r *http.Request, v browserSession) error {
	row, err := h.find(r, v)
	if err != nil {
		return err
	}
	if row.Over() {
		return sharing.NotFound()
	}
	p := pages.Confirm{
		Layout:  v.layout("/artifacts"),
		Heading: "Revoke this link?",
		Subject: "Link to one revision",
		Detail:  row.Public,
		Button:  "Revoke it",
		Text:    "It ends at once, for whoever has it, and cannot be brought back. Other links of the artifact stay.",
		Action:  row.Path() + "/revoke",
		Back:    artifactPath(pathArtifact(r)),
	}
	if row.Share {
		p.Subject = "Share link"
	}
	return h.page(w, http.StatusOK, p)
}

func (h *Host) revokeLink(w http.ResponseWriter, r *http.Request, v browserSession, _ web.Form) error {
	_, err := h.Links.Revoke(r.Context(), v.Actor, id.Link(r.PathValue("linkId")))
	return returnTo(w, artifactPath(pathArtifact(r))+"#links", err)
}

// setComments lets people who have the share link write feedback, or not any more.
func (h *Host) setComments(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	on := form["comments"] == "on"
	if !on && form["comments"] != "off" {
		return fault.New(fault.InvalidRequest, "the form turns comments on or off")
	}
	asked := sharing.Request{Kind: link.Share, Comments: &on, Existing: id.Link(r.PathValue("linkId"))}
	fields := []string{string(asked.Existing), form["comments"]}
	command, err := commandOf(v, idempotency.CreateLink, r.PathValue("artifactId"), form["once"], fields)
	if err == nil {
		_, err = h.Links.Create(r.Context(), v.Actor, sharing.Target{Command: command, RequestedID: pathArtifact(r)}, asked)
	}
	return returnTo(w, artifactPath(pathArtifact(r))+"#links", err)
}
