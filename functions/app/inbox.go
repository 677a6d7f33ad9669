package app

import (
	"context"
	"net/http"
	"strconv"

	"vitrine/functions/app/pages"
	"vitrine/shared/platform/cursor"
)

const inboxPath = "/feedback"

// maxDiscussed is up to how many artifacts with something to read are counted.
const maxDiscussed = 20

// discussed returns how many artifacts have something to read; empty: it cannot be told in time.
func (h *Host) discussed(r *http.Request, v browserSession) string {
	ctx, cancel := context.WithTimeout(r.Context(), countTime)
	defer cancel()
	rows, next, err := h.Feedback.Inbox(ctx, v.Actor, cursor.Page{Limit: maxDiscussed})
	switch {
	case err != nil:
		return ""
	case next != "":
		return strconv.Itoa(len(rows)) + " or more"
	}
	return strconv.Itoa(len(rows))
}

// inbox lists the artifacts of the workspace that have open threads or what waits for a member, the last change first.
func (h *Host) inbox(w http.ResponseWriter, r *http.Request, v browserSession) error {
	after := r.URL.Query().Get("after")
	rows, next, err := h.Feedback.Inbox(r.Context(), v.Actor, cursor.Page{Cursor: after})
	if err != nil {
		return err
	}
	p := pages.Inbox{Layout: v.layout(inboxPath), Pages: pagesOf(inboxPath, after, next)}
	for _, row := range rows {
		p.Items = append(p.Items, pages.Discussed{
			ID:      string(row.Artifact.ID),
			Title:   row.Artifact.Title,
			Open:    row.Open,
			Waiting: row.Held,
			At:      row.UpdatedAt,
		})
	}
	return h.page(w, http.StatusOK, p)
}
