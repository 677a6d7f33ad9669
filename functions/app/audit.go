package app

import (
	"cmp"
	"net/http"
	"strings"

	"vitrine/functions/app/pages"
	"vitrine/shared/identity/account"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func (h *Host) audit(w http.ResponseWriter, r *http.Request, v browserSession) error {
	after := r.URL.Query().Get("after")
	list, err := h.Account.AuditLog(r.Context(), v.Actor, account.Page{Cursor: after})
	if err != nil {
		return err
	}
	p := pages.Audit{Layout: v.layout("/audit"), Kept: limits.EventLife, Pages: pagesOf("/audit", after, list.PageInfo)}
	for _, row := range list.Items {
		p.Items = append(p.Items, auditEntryOf(row, v))
	}
	return h.page(w, http.StatusOK, p)
}

// auditEntryOf is a line of the record in words.
func auditEntryOf(row contract.AuditRow, v browserSession) pages.AuditEntry {
	d := pages.AuditEntry{
		At:      row.Time.Time,
		By:      refOf(row.Actor),
		On:      refOf(row.Target),
		Request: row.RequestID,
	}
	d.What, d.Detail, _ = strings.Cut(row.ChangeSummary, ": ")
	if row.Actor == "member:"+string(v.Member.ID) {
		d.By = pages.Ref{Kind: "you"}
	}
	return d
}

// kinds are the types of actors and targets in words.
var kinds = map[string]string{
	"member": "a member", "api_key": "API key", "admin": "a manager",
	"workspace": "workspace", "upload_session": "upload", "artifact": "artifact", "revision": "revision", "access_link": "access link",
	"agent_auth_registration": "agent", "session": "sign-in", "oauth_client": "app", "device": "device",
}

// refOf is an actor or a target, which the record spells as type:id.
func refOf(of string) pages.Ref {
	kind, name, _ := strings.Cut(of, ":")
	t := pages.Ref{Kind: cmp.Or(kinds[kind], kind), ID: name}
	if kind == "artifact" {
		t.Path = artifactPath(id.Artifact(name))
	}
	return t
}
