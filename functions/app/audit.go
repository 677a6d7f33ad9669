package app

import (
	"cmp"
	"context"
	"net/http"

	"vitrine/functions/app/pages"
	"vitrine/shared/identity/account"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func (h *Host) auditRoutes() []route {
	show := members{page: resetCursor(h.audit), right: credential.Admin}
	return []route{{method: "GET", path: "/audit", handle: show}}
}

func (h *Host) audit(w http.ResponseWriter, r *http.Request, v browserSession) error {
	after := r.URL.Query().Get("after")
	p := pages.Audit{Layout: v.layout("/audit"), Kept: limits.EventLife}
	events, told, err := h.story(r.Context(), v, account.Page{Cursor: after}, &p.Pages)
	if err != nil {
		return err
	}
	p.Items = told.entries(events)
	return h.page(w, http.StatusOK, p)
}

// story reads one page of the record, and concurrently the names of the live API keys that may occur in it.
func (h *Host) story(
	ctx context.Context, v browserSession, p account.Page, turns *pages.Pages,
) (events []event.Event, told story, err error) {
	told = story{self: v.Member.ID, names: map[id.Key]string{}}
	err = async.All(func() error {
		list, next, err := h.Account.Story(ctx, v.Actor, p)
		events, *turns = list, pagesOf("/audit", p.Cursor, next)
		return err
	}, func() error {
		keys, _, err := h.Keys.List(ctx, v.Actor, credential.LiveKeys, cursor.Page{Limit: limits.MaxPage})
		for _, k := range keys {
			told.names[k.ID] = k.Name
		}
		return err
	})
	return events, told, err
}

// entries returns events as the audit log shows them.
func (s story) entries(events []event.Event) (out []pages.AuditEntry) {
	for _, e := range events {
		out = append(out, pages.AuditEntry{
			Parts:   s.sentence(e),
			At:      e.At,
			Target:  refOf(e.Target),
			Request: e.RequestID,
		})
	}
	return out
}

// kinds name the types of targets that are not called what the record calls them.
var kinds = map[string]string{
	event.OnKey: "API key", event.OnSession: "upload", event.OnLink: "access link", event.OnRegistration: "agent",
	event.OnDelegation: "provider of agents", event.OnBrowser: "session", event.OnClient: "app",
	event.OnExport: "export",
}

// refOf returns a target with its name, and the path of its page.
func refOf(t event.Target) pages.Ref {
	ref := pages.Ref{Kind: cmp.Or(kinds[t.Type], t.Type), ID: t.ID}
	if t.Type == event.OnArtifact {
		ref.Path = artifactPath(id.Artifact(t.ID))
	}
	return ref
}
