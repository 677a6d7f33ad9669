package app

import (
	"net/http"
	"net/url"
	"time"

	"vitrine/functions/app/pages"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/artifact"
)

// recent is how many artifacts the overview names.
const recent = 5

func (h *Host) dashboard(w http.ResponseWriter, r *http.Request, v browserSession) error {
	list, err := h.Artifacts.Web(r.Context(), v.Actor, artifact.Page{Limit: recent})
	if err != nil {
		return err
	}
	return h.page(w, http.StatusOK, pages.Overview{
		Layout: v.shell("/dashboard"),
		APIURL: h.Origins.API,
		Recent: artifactRows(list.Items),
		Limits: h.limits(v),
	})
}

func (h *Host) artifacts(w http.ResponseWriter, r *http.Request, v browserSession) error {
	after := r.URL.Query().Get("after")
	list, err := h.Artifacts.Web(r.Context(), v.Actor, artifact.Page{Cursor: after})
	if fault.CodeOf(err) == fault.InvalidCursor {
		redirect(w, "/artifacts") // it is a day old, or of somebody else: the list starts anew
		return nil
	}
	if err != nil {
		return err
	}
	return h.page(w, http.StatusOK, pages.Artifacts{
		Layout: v.shell("/artifacts"),
		APIURL: h.Origins.API,
		Items:  artifactRows(list.Items),
		Pages:  pagesOf("/artifacts", after, list.PageInfo),
	})
}

// pagesOf are the ways around a list whose page began after a cursor, if it is not empty.
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

func artifactRows(items []contract.WebArtifactRow) []pages.Artifact {
	rows := make([]pages.Artifact, len(items))
	for i, a := range items {
		rows[i] = artifactRow(a)
	}
	return rows
}

func artifactRow(a contract.WebArtifactRow) pages.Artifact {
	row := pages.Artifact{
		ID:          string(a.ID),
		Title:       a.Title,
		Status:      a.Status,
		Pinned:      a.Pinned,
		Locked:      a.Lockdown,
		PublishedAt: orZero(a.LastPublishedAt),
		ExpiresAt:   orZero(a.AutoDeleteAt),
	}
	if a.LastPublishedAt == nil && !row.Ended() {
		row.Status = "Draft" // the wire has no word for it
	}
	return row
}

func orZero(t *contract.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}
