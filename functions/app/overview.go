package app

import (
	"net/http"
	"net/url"
	"time"

	"vitrine/functions/app/pages"
	"vitrine/shared/artifact"
	"vitrine/shared/contract"
	"vitrine/shared/fault"
)

// recent is how many artifacts the overview names.
const recent = 5

func (h *Host) dashboard(w http.ResponseWriter, r *http.Request, v visit) error {
	list, err := h.Artifacts.Web(r.Context(), v.Actor, artifact.Page{Limit: recent})
	if err != nil {
		return err
	}
	return h.page(w, http.StatusOK, pages.Overview{
		Shell: v.shell("/dashboard"), APIURL: h.APIURL, Recent: artifactRows(list.Items), Limits: h.limits(v),
	})
}

func (h *Host) artifacts(w http.ResponseWriter, r *http.Request, v visit) error {
	after := r.URL.Query().Get("after")
	list, err := h.Artifacts.Web(r.Context(), v.Actor, artifact.Page{Cursor: after})
	if fault.CodeOf(err) == fault.InvalidCursor {
		redirect(w, "/artifacts") // it is a day old, or of somebody else: the list starts anew
		return nil
	}
	if err != nil {
		return err
	}
	p := pages.Artifacts{Shell: v.shell("/artifacts"), APIURL: h.APIURL, Items: artifactRows(list.Items), Later: after != ""}
	p.Next = older("/artifacts", list.PageInfo)
	return h.page(w, http.StatusOK, p)
}

// older is the path of the page that follows in a list; empty: none does.
func older(list string, info contract.PageInfo) string {
	if info.NextCursor == nil {
		return ""
	}
	return list + "?" + url.Values{"after": {*info.NextCursor}}.Encode()
}

func (h *Host) limits(v visit) pages.Limits {
	p := h.Accounts.Workspace(v.Actor, v.Member).UsagePolicy
	return pages.Limits{
		PerDay: p.DailyNewArtifactAllowance, Files: p.FileCountCap, FileSize: p.FileSizeCapBytes, ArtifactSize: p.ArtifactSizeCapBytes,
		DefaultLife: v.Actor.Workspace.Life(v.Actor.Policy), LongestLife: time.Duration(p.MaxTTLSeconds) * time.Second,
		PerMinute: p.ActorRateLimitPerMinute,
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
		ID: string(a.ID), Title: a.Title, Status: a.Status, Pinned: a.Pinned, Locked: a.Lockdown, PublishedAt: orZero(a.LastPublishedAt), ExpiresAt: orZero(a.AutoDeleteAt),
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
