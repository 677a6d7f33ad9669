package app

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/identity/account"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/abuse"
	"vitrine/shared/publishing/lockdown"
)

// suggested are the reasons that operators choose from. They may write their own.
var suggested = []string{
	string(abuse.Phishing), string(abuse.Malware), string(abuse.Abuse), string(abuse.Illegal), "safe_browsing",
	"tos_violation", "law_enforcement", string(abuse.Other),
}

// reports shows the inbox, or the reports about one artifact.
func (h *Host) reports(w http.ResponseWriter, r *http.Request, v browserSession) error {
	q := r.URL.Query()
	of, after := id.Artifact(q.Get("artifact")), q.Get("after")
	list, next, err := h.Operators.Inbox.List(r.Context(), v.Actor, of, cursor.Page{Cursor: after})
	if err != nil {
		return err
	}
	return h.page(w, http.StatusOK, pages.Reports{
		Console:  v.console(adminReports),
		Artifact: string(of),
		Items:    reportRows(list),
		Pages:    filteredPages(adminReports, url.Values{"artifact": q["artifact"]}, after, next),
	})
}

func reportRows(list []abuse.Report) []pages.ReportRow {
	rows := make([]pages.ReportRow, len(list))
	for n, r := range list {
		rows[n] = pages.ReportRow{
			ID:        string(r.ID),
			Artifact:  string(r.Artifact),
			Place:     r.Place(),
			Workspace: string(r.Workspace),
			Reason:    string(r.Reason),
			Text:      r.Text,
			Email:     r.Email,
			Sender:    r.Reporter,
			At:        r.At,
			HandledAt: r.HandledAt,
		}
	}
	return rows
}

func (h *Host) handleReport(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	if err := h.Operators.Inbox.Handle(r.Context(), v.Actor, id.Artifact(form["artifact"]), form["place"]); err != nil {
		return err
	}
	redirect(w, adminReports)
	return nil
}

// lockdowns lists the locks around the form of a new one. Links of our own pages fill in the form. Links of other sites
// do not, because they would choose what a click locks.
func (h *Host) lockdowns(w http.ResponseWriter, r *http.Request, v browserSession) error {
	q := r.URL.Query()
	var asked contract.SetLockdown
	if site := r.Header.Get("Sec-Fetch-Site"); site != "cross-site" && site != "same-site" {
		asked = contract.SetLockdown{
			Scope:      q.Get("triage_scope"),
			TargetID:   q.Get("triage_target"),
			ReasonCode: q.Get("triage_reason"),
		}
	}
	return h.showLockdowns(w, r, v, asked, "")
}

// showLockdowns shows the list around a form. wrong says why the form was not carried out, empty if none was sent.
func (h *Host) showLockdowns(
	w http.ResponseWriter, r *http.Request, v browserSession, asked contract.SetLockdown, wrong string,
) error {
	after, status := r.URL.Query().Get("after"), http.StatusOK
	if wrong != "" {
		after, status = "", http.StatusBadRequest
	}
	list, err := h.Operators.Lockdowns.List(r.Context(), v.Actor, after, limits.DefaultPage)
	if err != nil {
		return err
	}
	return h.page(w, status, pages.Lockdowns{
		Console: v.console(adminLockdowns),
		Items:   lockRows(list.Items),
		Scope:   asked.Scope,
		Target:  asked.TargetID,
		Reason:  asked.ReasonCode,
		Reasons: suggested,
		Once:    once(),
		Error:   wrong,
		Pages:   pagesOf(adminLockdowns, after, nextOf(list.PageInfo)),
	})
}

func lockRows(list []contract.Lockdown) []pages.LockRow {
	rows := make([]pages.LockRow, len(list))
	for n, l := range list {
		rows[n] = lockRow(l)
	}
	return rows
}

func lockRow(l contract.Lockdown) pages.LockRow {
	return pages.LockRow{
		Scope:    l.Scope,
		Target:   l.TargetID,
		Reason:   l.ReasonCode,
		SetAt:    l.SetAt.Time,
		SetBy:    l.SetBy,
		LiftedAt: orZero(l.LiftedAt),
		Once:     once(),
	}
}

func (h *Host) setLockdown(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	asked := contract.SetLockdown{Scope: form["scope"], TargetID: form["target"], ReasonCode: form["reason"]}
	command, err := commandOf(v, idempotency.SetLockdown, "", form["once"], asked)
	if err != nil {
		return err
	}
	_, err = h.Operators.Lockdowns.Set(r.Context(), v.Actor, command, nil, asked)
	switch code := fault.CodeOf(err); {
	case code == fault.InvalidRequest, code == fault.NotFound:
		web.Failed(r.Context(), code, err)
		return h.showLockdowns(w, r, v, asked, "Nothing was locked: "+fault.Of(err).Message+".")
	case err != nil:
		return err
	}
	redirect(w, adminLockdowns)
	return nil
}

func (h *Host) liftLockdown(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	scope, target := lockdown.Scope(form["scope"]), form["target"]
	command, err := commandOf(v, idempotency.LiftLockdown, target, form["once"], form["scope"])
	if err != nil {
		return err
	}
	if _, err := h.Operators.Lockdowns.Lift(r.Context(), v.Actor, command, nil, scope, target); err != nil {
		if fault.CodeOf(err) != fault.NotFound {
			return err
		}
		web.Failed(r.Context(), fault.NotFound, err) // another operator was faster
	}
	redirect(w, adminLockdowns)
	return nil
}

// filterNames are the parameters of the filters.
var filterNames = []string{"focus", "workspace_id", "actor_type", "action", "target_type", "request_id"}

// events shows the record of all workspaces. The filters are in the query, so that operators can bookmark and share a
// view.
func (h *Host) events(w http.ResponseWriter, r *http.Request, v browserSession) error {
	q, filters := r.URL.Query(), url.Values{}
	sent := map[string]*string{}
	for _, name := range filterNames {
		if value := q.Get(name); value != "" {
			filters.Set(name, value)
			sent[name] = &value
		}
	}
	p := pages.Events{
		Console:     v.console(adminEvents),
		Filters:     filters,
		Actions:     account.Actions(),
		ActorTypes:  account.ActorTypes(),
		TargetTypes: account.TargetTypes(),
	}
	after := q.Get("after")
	list, err := h.Operators.Log.OperatorLog(r.Context(), v.Actor, account.Query{
		Workspace:  sent["workspace_id"],
		ActorType:  sent["actor_type"],
		Action:     sent["action"],
		TargetType: sent["target_type"],
		RequestID:  sent["request_id"],
		Focus:      sent["focus"],
	}, account.Page{Cursor: after, Limit: limits.DefaultPage})
	status := http.StatusOK
	switch code := fault.CodeOf(err); {
	case code == fault.InvalidCursor:
		redirect(w, adminEvents+"?"+filters.Encode())
		return nil
	case code == fault.InvalidRequest:
		web.Failed(r.Context(), code, err)
		status, p.Error = http.StatusBadRequest, "Nothing was read: "+fault.Of(err).Message+"."
	case err != nil:
		return err
	}
	p.Items = operatorEntries(list.Items)
	p.Pages = filteredPages(adminEvents, filters, after, nextOf(list.PageInfo))
	return h.page(w, status, p)
}

// provisioning shows how many ephemeral workspaces may be created, and the limits of each tier.
func (h *Host) provisioning(w http.ResponseWriter, r *http.Request, v browserSession) error {
	return h.showProvisioning(w, r, v, "")
}

func (h *Host) showProvisioning(w http.ResponseWriter, r *http.Request, v browserSession, wrong string) error {
	usage, err := h.Operators.Gate.Quota(r.Context(), v.Actor)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if wrong != "" {
		status = http.StatusBadRequest
	}
	return h.page(w, status, pages.Provisioning{
		Console:   v.console(adminProvisioned),
		PerMinute: usage.PerMinute,
		Until:     usage.ValidUntil,
		Made:      usage.Made,
		Tiers:     h.tiers(),
		Least:     ephemeral.LeastQuota,
		Most:      ephemeral.MostQuota,
		Error:     wrong,
	})
}

// policy shows what the owner of the deployment decided.
func (h *Host) policy(w http.ResponseWriter, _ *http.Request, v browserSession) error {
	page := pages.Policy{Console: v.console(adminPolicy)}
	for _, f := range h.Operators.Policy {
		fact := pages.PolicyFact{Member: f.Member, Values: strings.Split(f.Value, "\n"), Named: f.Named}
		page.Facts = append(page.Facts, fact)
		page.Decided = page.Decided || f.Named
	}
	return h.page(w, http.StatusOK, page)
}

// tiers returns the limits of workspaces, smallest tier first.
func (h *Host) tiers() []pages.Tier {
	var all []pages.Tier
	for _, tier := range []limits.Tier{limits.Ephemeral, limits.Free, limits.Pro} {
		all = append(all, pages.Tier{Name: string(tier), Limits: h.tier(tier)})
	}
	return all
}

func (h *Host) setQuota(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	from, err1 := strconv.Atoi(form["from"])
	to, err2 := strconv.Atoi(form["quota"])
	if err1 != nil || err2 != nil {
		return h.showProvisioning(w, r, v, fmt.Sprintf("Give it a number from %d to %d.",
			ephemeral.LeastQuota, ephemeral.MostQuota))
	}
	err := h.Operators.Gate.SetQuota(r.Context(), v.Actor, from, to)
	if fault.CodeOf(err) == fault.InvalidRequest {
		web.Failed(r.Context(), fault.InvalidRequest, err)
		return h.showProvisioning(w, r, v, "Nothing was changed: "+fault.Of(err).Message+".")
	}
	if err != nil {
		return err
	}
	redirect(w, adminProvisioned)
	return nil
}
