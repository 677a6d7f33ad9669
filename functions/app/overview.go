package app

import (
	"net/http"
	"net/url"
	"time"

	"vitrine/functions/app/pages"
	"vitrine/shared/platform/contract"
	"vitrine/shared/publishing/artifact"
)

// recent is how many artifacts the overview names.
const recent = 5

func (h *Host) dashboard(w http.ResponseWriter, r *http.Request, v browserSession) error {
	list, _, err := h.Artifacts.ListAll(r.Context(), v.Actor, artifact.Page{Limit: recent})
	if err != nil {
		return err
	}
	return h.page(w, http.StatusOK, pages.Overview{
		Layout: v.layout("/dashboard"),
		APIURL: h.Origins.API,
		Recent: h.artifactRows(list),
		Limits: h.limits(v),
	})
}

func (h *Host) artifacts(w http.ResponseWriter, r *http.Request, v browserSession) error {
	after := r.URL.Query().Get("after")
	list, info, err := h.Artifacts.ListAll(r.Context(), v.Actor, artifact.Page{Cursor: after})
	if err != nil {
		return err
	}
	return h.page(w, http.StatusOK, pages.Artifacts{
		Layout: v.layout("/artifacts"),
		APIURL: h.Origins.API,
		Items:  h.artifactRows(list),
		Pages:  pagesOf("/artifacts", after, info),
	})
}

// pagesOf are the ways around a list. after is the cursor that the page began after, empty for the first page.
func pagesOf(list, after string, info contract.PageInfo) pages.Pages {
	var p pages.Pages
	if after != "" {
		p.First = list
	}
	if info.NextCursor != nil {
		p.Next = list + "?" + url.Values{"after": {*info.NextCursor}}.Encode()
	}
	return p
}

func (h *Host) limits(v browserSession) pages.Limits {
	p := h.Account.Workspace(v.Actor, v.Member).UsagePolicy
	return pages.Limits{
		PerDay:       p.DailyNewArtifactAllowance,
		Files:        p.FileCountCap,
		FileSize:     p.FileSizeCapBytes,
		ArtifactSize: p.ArtifactSizeCapBytes,
		DefaultLife:  v.Actor.Workspace.Life(v.Actor.Policy),
		LongestLife:  time.Duration(p.MaxTTLSeconds) * time.Second,
		PerMinute:    p.ActorRateLimitPerMinute,
	}
}

func (h *Host) artifactRows(list []artifact.Artifact) []pages.Artifact {
	rows := make([]pages.Artifact, len(list))
	for i := range list {
		rows[i] = h.artifactRow(&list[i])
	}
	return rows
}

// artifactRow is an artifact as lists show it, and the head of its page.
func (h *Host) artifactRow(a *artifact.Artifact) pages.Artifact {
	row := pages.Artifact{
		ID:          string(a.ID),
		Title:       a.Title,
		Status:      "Published",
		Pinned:      !a.PinnedAt.IsZero(),
		Locked:      !a.LinksLockedAt.IsZero(),
		PublishedAt: a.PublishedAt,
	}
	switch {
	case a.Status == artifact.Deleted:
		row.Status = "Deleted"
	case !a.Active(h.Now()):
		row.Status = "Expired"
	case a.PublishedAt.IsZero():
		row.Status = "Draft"
	}
	if a.Status != artifact.Deleted && !row.Pinned {
		row.ExpiresAt = a.ExpiresAt
	}
	return row
}
