package app

import (
	"fmt"
	"net/http"
	"strconv"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

func (h *Host) settingsRoutes() []route {
	const all = "/settings"
	update := members{form: h.updateSettings, back: all, right: credential.Admin}
	return []route{
		{method: "GET", path: all, handle: members{page: h.settings}},
		{method: "POST", path: all, handle: update},
		{method: "POST", path: all + "/sessions/{session}/end", handle: members{form: h.endSession, back: all}},
	}
}

func (h *Host) settings(w http.ResponseWriter, r *http.Request, v browserSession) error {
	return h.showSettings(w, r, v, http.StatusOK, pages.Change{})
}

// endSession ends one of the member's sessions. If that is the one of this browser, the redirect leads to the sign-in.
func (h *Host) endSession(w http.ResponseWriter, r *http.Request, v browserSession, _ web.Form) error {
	if err := h.Sessions.EndNamed(r.Context(), v.Authenticated, r.PathValue("session")); err != nil {
		return err
	}
	redirect(w, "/settings#sessions")
	return nil
}

// sessionRows returns the other browsers where the member is signed in.
func (h *Host) sessionRows(r *http.Request, v browserSession) (rows []pages.Session, err error) {
	all, err := h.Sessions.List(r.Context(), v.Authenticated)
	for _, s := range all {
		if s.Hash == v.Session.Hash {
			continue
		}
		rows = append(rows, pages.Session{
			Name:    s.Hash.Name(),
			Browser: s.Browser,
			Network: s.Network,
			Since:   s.CreatedAt,
			SeenAt:  s.SeenAt,
		})
	}
	return rows, err
}

// showSettings shows the workspace, with a form for members who may change it. asked has what was typed before.
func (h *Host) showSettings(
	w http.ResponseWriter, r *http.Request, v browserSession, status int, asked pages.Change,
) error {
	s, m := v.Session, v.Member
	p := pages.Settings{
		Layout:     v.layout("/settings"),
		ID:         string(v.Actor.Workspace.ID),
		Member:     string(m.ID),
		CreatedAt:  v.Actor.Workspace.CreatedAt,
		Scopes:     shortRights(v.Actor.Scopes),
		Limits:     h.limits(v),
		SignedInAt: s.CreatedAt,
		EndsAt:     s.CreatedAt.Add(limits.MaxSessionLife),
		Browser:    s.Browser,
		Network:    s.Network,
		SeenAt:     s.SeenAt,
	}
	err := async.All(
		func() (err error) { p.Others, err = h.sessionRows(r, v); return err },
		func() (err error) { p.Export, err = h.exportSection(r, v); return err },
	)
	if err != nil {
		return err
	}
	stored, err := h.Account.Settings(v.Actor)
	switch {
	case fault.CodeOf(err) == fault.Forbidden:
		return h.page(w, status, p)
	case err != nil:
		return err
	}
	if asked.Error == "" {
		asked.Name, asked.Lasting = stored.WorkspaceName, stored.AutoDeletionDays >= limits.ForeverDays
		if !asked.Lasting {
			asked.Days = strconv.Itoa(stored.AutoDeletionDays)
		}
	}
	asked.Once = once()
	asked.Least = stored.AutoDeletionBounds.MinDays
	asked.Most = stored.AutoDeletionBounds.MaxDays
	if asked.Most >= limits.ForeverDays {
		asked.Most = 0
	}
	p.Change = &asked
	return h.page(w, status, p)
}

func (h *Host) updateSettings(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	days, _ := strconv.Atoi(form["days"]) // a text that is not a number makes 0 days, which is refused
	lasting := form["forever"] != ""
	if lasting {
		days = limits.ForeverDays
	}
	asked := contract.UpdateSettings{WorkspaceName: form["name"], AutoDeletionDays: days}
	command, err := commandOf(v, idempotency.UpdateSettings, "", form["once"], asked)
	if err != nil {
		return err
	}
	_, err = h.Account.UpdateSettings(r.Context(), v.Actor, command, nil, asked)
	if fault.CodeOf(err) == fault.InvalidRequest {
		web.Failed(r.Context(), fault.InvalidRequest, err)
		return h.refuseSettings(w, r, v, pages.Change{Name: form["name"], Days: form["days"], Lasting: lasting}, days)
	}
	if err != nil {
		return err
	}
	redirect(w, "/settings")
	return nil
}

// refuseSettings says which of the two fields is wrong.
func (h *Host) refuseSettings(
	w http.ResponseWriter, r *http.Request, v browserSession, asked pages.Change, days int,
) error {
	stored, err := h.Account.Settings(v.Actor)
	if err != nil {
		return err
	}
	asked.Wrong = "name"
	asked.Error = fmt.Sprintf("Nothing was changed: give it a name of 1 to %d characters.", limits.WorkspaceNameRunes)
	if b := stored.AutoDeletionBounds; days < b.MinDays || days > b.MaxDays {
		asked.Wrong, asked.Error = "days", fmt.Sprintf("Nothing was changed: choose %d to %d days.", b.MinDays, b.MaxDays)
		if b.MaxDays >= limits.ForeverDays {
			asked.Error = "Nothing was changed: give a number of days, or choose that artifacts do not expire."
		}
	}
	return h.showSettings(w, r, v, http.StatusBadRequest, asked)
}
