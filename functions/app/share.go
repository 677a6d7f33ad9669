package app

import (
	"context"
	"net/http"
	"time"

	"vitrine/functions/app/pages"
	"vitrine/shared/artifact"
	"vitrine/shared/contract"
	"vitrine/shared/credential"
	"vitrine/shared/fault"
	"vitrine/shared/id"
	"vitrine/shared/idempotency"
	"vitrine/shared/limits"
	"vitrine/shared/link"
	"vitrine/shared/sharing"
	"vitrine/shared/web"
)

// accessLinks lists the links of the workspace. Artifacts that are not among the newest go without a title.
func (h *Host) accessLinks(w http.ResponseWriter, r *http.Request, v visit) error {
	var links contract.WebLinkList
	var list contract.WebArtifactList
	err := together(
		func() (err error) { links, err = h.Sharing.All(r.Context(), v.Actor); return err },
		func() (err error) {
			list, err = h.Artifacts.Web(r.Context(), v.Actor, artifact.Page{Limit: limits.PageMax})
			return err
		},
	)
	if err != nil {
		return err
	}
	rows := make(map[id.Artifact]*contract.WebArtifactRow, len(list.Items))
	for i := range list.Items {
		rows[list.Items[i].ID] = &list.Items[i]
	}
	p := pages.AccessLinks{Shell: v.shell("/access-links"), More: links.PageInfo.HasMore}
	for _, l := range links.Items {
		row := h.linkRow(l, rows[l.ArtifactID])
		row.Title = string(l.ArtifactID)
		if a := rows[l.ArtifactID]; a != nil {
			row.Title = a.Title
		}
		p.Items = append(p.Items, row)
	}
	return h.page(w, http.StatusOK, p)
}

// linkRow is a link as pages show it; of is its artifact, nil if it is not known.
func (h *Host) linkRow(l contract.WebLinkRow, of *contract.WebArtifactRow) pages.AccessLink {
	row := pages.AccessLink{
		ID: string(l.ID), Artifact: string(l.ArtifactID), Share: l.Type == string(link.Share), State: pages.Live, CreatedAt: l.CreatedAt.Time,
		EndsAt: orZero(l.ExpiresAt), RevokedAt: orZero(l.RevokedAt),
	}
	if public, err := l.ID.Public(); err == nil {
		row.Public = string(public)
	}
	if l.RevisionID != nil {
		row.Revision = string(*l.RevisionID)
	}
	switch {
	case l.Revoked:
		row.State = pages.Revoked
	case !row.EndsAt.IsZero() && !h.Now().Before(row.EndsAt):
		row.State = pages.Expired
	case of != nil && artifactRow(*of).Ended():
		row.State = pages.Ended
	case of != nil && of.Lockdown:
		row.State = pages.Locked
	}
	return row
}

// ends are the lives of links that the form offers; none: as long as the artifact's.
var ends = map[string]time.Duration{"": 0, "1h": time.Hour, "24h": limits.Day, "168h": 7 * limits.Day, "720h": 30 * limits.Day}

// wanted is the link that a form asks for.
func (h *Host) wanted(form map[string]string) (contract.CreateLink, error) {
	life, known := ends[form["ends"]]
	if !known {
		return contract.CreateLink{}, fault.New(fault.InvalidRequest, "the form offers other ends")
	}
	c := contract.CreateLink{Type: string(link.Share)}
	if shows := form["shows"]; shows != string(link.Share) {
		c = contract.CreateLink{Type: string(link.Revision), RevisionID: id.Revision(shows)}
	}
	if life > 0 {
		c.ExpiresAt = new(contract.At(h.Now().Add(life)))
	}
	return c, nil
}

func (h *Host) createLink(w http.ResponseWriter, r *http.Request, v visit) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	begun := h.Now()
	asked, err := h.wanted(form)
	if err != nil {
		return err
	}
	command, err := commandOf(v, idempotency.CreateLink, r.PathValue("artifactId"), form["once"], []string{form["shows"], form["ends"]})
	if err != nil {
		return err
	}
	made, err := h.Sharing.Create(r.Context(), v.Actor, sharing.Target{Command: command, Named: named(r)}, asked)
	if err != nil {
		return err
	}
	minted, err := h.Sharing.Mint(r.Context(), v.Actor, made.ID)
	if err != nil {
		return err
	}
	row := h.linkRow(contract.WebLinkRow{
		ID: made.ID, Type: made.Type, ArtifactID: made.ArtifactID, RevisionID: made.RevisionID, CreatedAt: made.CreatedAt, ExpiresAt: asked.ExpiresAt,
	}, nil)
	known := row.Share && made.CreatedAt.Before(begun.Truncate(time.Millisecond))
	return h.showAddress(w, r, v, pages.Address{Link: row, URL: minted.URL, Known: known})
}

// showAddress shows a link with its secret. Its address is good for a while, and never longer than the link.
func (h *Host) showAddress(w http.ResponseWriter, r *http.Request, v visit, p pages.Address) error {
	web.Hide(r.Context(), p.URL)
	p.Shell, p.Artifact, p.Until = v.shell("/artifacts"), r.PathValue("artifactId"), h.Now().Add(limits.LinkURLLife)
	if end := p.Link.EndsAt; !p.Known && !end.IsZero() && end.Before(p.Until) {
		p.Until = end
	}
	return h.page(w, http.StatusOK, p)
}

// find is a link of the artifact in the path; not_found if there is none.
func (h *Host) find(r *http.Request, v visit) (pages.AccessLink, error) {
	links, err := h.Sharing.Of(r.Context(), v.Actor, named(r))
	if err != nil {
		return pages.AccessLink{}, err
	}
	for _, l := range links.Items {
		if string(l.ID) == r.PathValue("linkId") {
			return h.linkRow(l, nil), nil
		}
	}
	return pages.AccessLink{}, sharing.NotFound()
}

func (h *Host) mintLink(w http.ResponseWriter, r *http.Request, v visit) error {
	if _, err := readForm(w, r); err != nil {
		return err
	}
	row, err := h.find(r, v)
	if err != nil {
		return err
	}
	minted, err := h.Sharing.Mint(r.Context(), v.Actor, id.Link(row.ID))
	if absent(err) {
		return explained{err, pages.Message{
			Heading: "This link opens nothing any more", Text: "It has ended, is locked, or what it led to has ended, so that it has no address.",
			Links: []pages.Link{{Path: artifactPath(named(r)), Text: "Back to the artifact"}},
		}}
	}
	if err != nil {
		return err
	}
	return h.showAddress(w, r, v, pages.Address{Link: row, URL: minted.URL})
}

func (h *Host) askRevokeLink(w http.ResponseWriter, r *http.Request, v visit) error {
	row, err := h.find(r, v)
	if err != nil {
		return err
	}
	if row.Over() {
		return sharing.NotFound()
	}
	p := pages.Confirm{
		Shell: v.shell("/artifacts"), Heading: "Revoke this link?", Subject: "Link to one revision", Detail: row.Public, Button: "Revoke it",
		Text:   "All its addresses end at once, for whoever has one, and it cannot be brought back. Other links of the artifact stay.",
		Action: row.Path() + "/revoke", Back: artifactPath(named(r)),
	}
	if row.Share {
		p.Subject = "Share link"
	}
	return h.page(w, http.StatusOK, p)
}

func (h *Host) revokeLink(w http.ResponseWriter, r *http.Request, v visit) error {
	if _, err := readForm(w, r); err != nil {
		return err
	}
	if _, err := h.Sharing.Revoke(r.Context(), v.Actor, id.Link(r.PathValue("linkId"))); err != nil && !absent(err) {
		return err
	}
	redirect(w, artifactPath(named(r))+"#links")
	return nil
}

func (h *Host) makeUnlisted(w http.ResponseWriter, r *http.Request, v visit) error {
	if _, err := readForm(w, r); err != nil {
		return err
	}
	done, err := h.Reach.SetVisibility(r.Context(), v.Actor, sharing.Target{Named: named(r)}, sharing.Unlisted)
	if err != nil {
		return err
	}
	row := h.linkRow(contract.WebLinkRow{ID: done.AccessLinkID, Type: string(link.Share), ArtifactID: done.ArtifactID}, nil)
	return h.showAddress(w, r, v, pages.Address{Link: row, URL: done.UnlistedURL})
}

func (h *Host) askMakePrivate(w http.ResponseWriter, r *http.Request, v visit) error {
	return h.ask(w, r, v, func(a contract.WebArtifact) pages.Confirm {
		return pages.Confirm{
			Heading: "Make it private?", Button: "Make it private", Action: artifactPath(a.ID) + "/private",
			Text: "Every link of this artifact ends at once and for good, those to one revision too. Only members see it then.",
		}
	})
}

func (h *Host) makePrivate(w http.ResponseWriter, r *http.Request, v visit) error {
	if _, err := readForm(w, r); err != nil {
		return err
	}
	if _, err := h.Reach.SetVisibility(r.Context(), v.Actor, sharing.Target{Named: named(r)}, sharing.Private); err != nil {
		return err
	}
	redirect(w, artifactPath(named(r))+"#links")
	return nil
}

func (h *Host) askLock(w http.ResponseWriter, r *http.Request, v visit) error {
	return h.ask(w, r, v, func(a contract.WebArtifact) pages.Confirm {
		return pages.Confirm{
			Heading: "Lock the links?", Button: "Lock them", Action: artifactPath(a.ID) + "/lockdown",
			Text: "No link opens this artifact from that moment on, and none can be made, until you unlock them. Nothing is lost: links that work now work again then.",
		}
	})
}

func (h *Host) askUnlock(w http.ResponseWriter, r *http.Request, v visit) error {
	return h.ask(w, r, v, func(a contract.WebArtifact) pages.Confirm {
		return pages.Confirm{
			Heading: "Unlock the links?", Button: "Unlock them", Action: artifactPath(a.ID) + "/lockdown/lift",
			Text: "The links of this artifact that are neither revoked nor expired open it again, for whoever has an address of one.",
		}
	})
}

func (h *Host) lock(w http.ResponseWriter, r *http.Request, v visit) error {
	return h.turn(w, r, v, idempotency.LockLinks, h.Reach.Lock)
}

func (h *Host) unlock(w http.ResponseWriter, r *http.Request, v visit) error {
	return h.turn(w, r, v, idempotency.UnlockLinks, h.Reach.Unlock)
}

func (h *Host) turn(
	w http.ResponseWriter, r *http.Request, v visit, operation idempotency.Operation,
	change func(context.Context, credential.Actor, sharing.Target) (contract.WebArtifact, error),
) error {
	form, err := readForm(w, r)
	if err != nil {
		return err
	}
	command, err := commandOf(v, operation, r.PathValue("artifactId"), form["once"], nil)
	if err != nil {
		return err
	}
	if _, err := change(r.Context(), v.Actor, sharing.Target{Command: command, Named: named(r)}); err != nil {
		return err
	}
	redirect(w, artifactPath(named(r))+"#links")
	return nil
}
