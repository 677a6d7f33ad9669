package app

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/account"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/lockdown"
	"vitrine/shared/publishing/lookup"
)

// recentTriage is the number of rows of each list on the first page.
const recentTriage = 10

// triage shows what is new: publications, reports and locks.
func (h *Host) triage(w http.ResponseWriter, r *http.Request, v browserSession) error {
	return h.showTriage(w, r, v, http.StatusOK, "")
}

// showTriage shows the first page. wrong says why a text could not be looked up.
func (h *Host) showTriage(w http.ResponseWriter, r *http.Request, v browserSession, status int, wrong string) error {
	p := pages.Triage{Console: v.console(adminPath), Error: wrong}
	ctx, published := r.Context(), string(event.ArtifactPublished)
	err := async.All(
		func() error {
			list, err := h.Operators.Log.OperatorLog(ctx, v.Actor, account.Query{Action: &published},
				account.Page{Limit: recentTriage})
			p.Published = operatorEntries(list.Items)
			return err
		},
		func() error {
			list, _, err := h.Operators.Inbox.List(ctx, v.Actor, "", cursor.Page{Limit: recentTriage})
			p.Reports = reportRows(list)
			return err
		},
		func() error {
			list, err := h.Operators.Lockdowns.List(ctx, v.Actor, "", recentTriage)
			p.Locks = lockRows(list.Items)
			return err
		},
		func() error {
			hot, err := h.Operators.Lookups.Hot(ctx, v.Actor)
			for _, one := range hot[:min(len(hot), recentTriage)] {
				p.Hot = append(p.Hot, pages.HotRow{Artifact: string(one.Artifact), At: one.At})
			}
			return err
		},
		func() (err error) {
			p.OldCopy, err = h.Operators.Lookups.OldCopy(ctx, v.Actor)
			return err
		},
	)
	if err != nil {
		return err
	}
	return h.page(w, status, p)
}

// lookUp says what a pasted text is. The text may hold secrets, so it goes into no address and no log line.
func (h *Host) lookUp(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	web.RedactSecret(r.Context(), form["target"])
	found, err := h.Operators.Lookups.Find(r.Context(), v.Actor, form["target"])
	if fault.CodeOf(err) == fault.InvalidRequest {
		web.Failed(r.Context(), fault.InvalidRequest, err)
		return h.showTriage(w, r, v, http.StatusBadRequest,
			"This is neither an id nor an address of this service nor one of e-mail. Paste it whole, as it was reported.")
	}
	if err != nil {
		return err
	}
	return h.page(w, http.StatusOK, h.finding(v, found))
}

// finding returns what operators see of something that was looked up.
func (h *Host) finding(v browserSession, f lookup.Finding) pages.Finding {
	p := pages.Finding{Console: v.console(""), Kind: things[f.Kind], ID: f.ID, Found: f.Found(), Once: once()}
	if a := f.Artifact; a != nil {
		row := h.artifactRow(a)
		p.Artifact = &pages.FoundArtifact{
			Artifact:  row,
			CreatedAt: a.CreatedAt,
			Files:     a.FileCount,
			Size:      a.Size,
			Opens:     a.Active(f.At) && a.Current != "" && len(f.Locks) == 0,
		}
		p.Artifact.Title = "" // the title is content, which operators see after they gave a reason
	}
	if l := f.Link; l != nil {
		p.Link = &pages.FoundLink{Kind: string(l.Kind), MadeAt: l.CreatedAt, EndsAt: l.ExpiresAt, RevokedAt: l.RevokedAt}
	}
	if k := f.Key; k != nil {
		p.Key = &pages.Key{
			ID:        string(k.ID),
			Scopes:    shortRights(k.Scopes),
			CreatedAt: k.CreatedAt,
			UsedAt:    k.LastUsedAt,
			ExpiresAt: k.ExpiresAt,
			RevokedAt: k.RevokedAt,
		}
	}
	if o := f.Workspace; o != nil {
		p.Workspace = &pages.FoundWorkspace{
			ID:          string(o.ID),
			Tier:        string(o.Tier()),
			CreatedAt:   o.CreatedAt,
			ClaimedInto: string(o.ClaimedInto),
			Yours:       o.ID == v.Actor.Workspace.ID,
		}
		if h.Operators.Plans != nil && o.Tier() != limits.Ephemeral && o.ClaimedInto == "" {
			p.Workspace.Plan = planPath(o.ID)
		}
	}
	for _, m := range f.Members {
		p.Members = append(p.Members, pages.FoundMember{ID: string(m.Member), Workspace: string(m.Workspace)})
	}
	for _, l := range f.Locks {
		p.Locks = append(p.Locks, lockRow(l.Detail()))
		switch l.Scope {
		case lockdown.Artifact:
			p.ArtifactLocked = true
		case lockdown.Workspace:
			p.WorkspaceLocked = true
		}
	}
	p.Reasons = suggested
	return p
}

// openContent shows an operator where to view an artifact, after the reason was recorded.
func (h *Host) openContent(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	a := id.Artifact(form["artifact"])
	opened, err := h.Operators.Lookups.Open(r.Context(), v.Actor, a, form["reason"])
	if fault.CodeOf(err) == fault.InvalidRequest {
		return explained{err, pages.Message{
			Heading: "It was not opened",
			Text:    "Nothing was shown and nothing recorded: " + fault.Of(err).Message + ".",
			Links:   backToTriage,
		}}
	}
	if err != nil {
		return err
	}
	web.RedactSecret(r.Context(), opened.URL)
	return h.page(w, http.StatusOK, pages.OpenedContent{
		Console:  v.console(""),
		Artifact: string(opened.Artifact),
		Revision: string(opened.Revision),
		URL:      opened.URL,
		Until:    opened.Until,
	})
}

var backToTriage = []pages.Link{{Path: adminPath, Text: "Back to the operators' pages"}}

// things name the types of actors and targets for operators.
var things = map[string]string{
	event.Member:         "member",
	event.Key:            "API key",
	event.Admin:          "manager",
	event.Platform:       "operator",
	event.System:         "service",
	event.OnWorkspace:    "workspace",
	event.OnArtifact:     "artifact",
	event.OnRevision:     "revision",
	event.OnLink:         "access link",
	event.OnSession:      "upload",
	event.OnRegistration: "agent",
	event.OnDelegation:   "provider of agents",
	event.OnBrowser:      "sign-in",
	event.OnClient:       "app",
	event.OnDevice:       "device",
	event.OnLockdown:     "lock",
	event.OnReport:       "report",
	event.OnQuota:        "quota",
	event.OnExport:       "export",
	event.OnDeployment:   "deployment",
}

// nameOf returns an actor or a target, which the record spells as type:id.
func nameOf(kind, of string) pages.Name {
	_, name, _ := strings.Cut(of, ":")
	return pages.Name{Kind: cmp.Or(things[kind], kind), ID: name}
}

// operatorEntries returns events as operators see them.
func operatorEntries(items []contract.OperatorEvent) []pages.OperatorEntry {
	rows := make([]pages.OperatorEntry, len(items))
	for n, e := range items {
		rows[n] = operatorEntry(e)
	}
	return rows
}

// actionsWithTitle are the actions whose summary ends with the title of an artifact.
var actionsWithTitle = []event.Action{
	event.SessionCreated, event.DraftCreated, event.ArtifactCreated, event.ArtifactPublished, event.ArtifactDeleted,
	event.ArtifactExpired, event.ArtifactRenamed, event.ArtifactPinned, event.ArtifactUnpinned,
}

func operatorEntry(e contract.OperatorEvent) pages.OperatorEntry {
	if slices.Contains(actionsWithTitle, event.Action(e.Action)) { // a title is content, as on the page of a look-up
		e.ChangeSummary, _, _ = strings.Cut(e.ChangeSummary, ": ")
	}
	row := pages.OperatorEntry{
		What:    e.ChangeSummary,
		Action:  e.Action,
		At:      e.Time.Time,
		By:      nameOf(e.ActorType, e.Actor),
		On:      nameOf(e.TargetType, e.Target),
		Request: e.RequestID,
	}
	_, row.Target, _ = strings.Cut(e.Target, ":")
	if e.WorkspaceID != nil {
		row.Workspace = string(*e.WorkspaceID)
	}
	if scope := lockdown.Scope(e.TargetType); scope == lockdown.Artifact || scope == lockdown.Workspace {
		row.Scope = string(scope)
	}
	return row
}
