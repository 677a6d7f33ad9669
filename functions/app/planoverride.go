package app

import (
	"fmt"
	"net/http"
	"strings"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/billing"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

// planRoutes let operators give a workspace a plan.
func (h *Host) planRoutes() []route {
	if h.Operators.Plans == nil {
		return nil
	}
	return []route{
		{method: "GET", path: adminPlan, handle: operators{page: h.planOverride}},
		{method: "POST", path: adminPlan, handle: operators{form: h.overridePlan}},
	}
}

// planPath returns the page about the plan of a workspace.
func planPath(w id.Workspace) string {
	return strings.Replace(adminPlan, "{workspaceId}", string(w), 1)
}

func (h *Host) planOverride(w http.ResponseWriter, r *http.Request, v browserSession) error {
	return h.showPlanOverride(w, r, v, pages.PlanOverride{})
}

// showPlanOverride shows what a workspace has and pays. p has the form as it was sent.
func (h *Host) showPlanOverride(w http.ResponseWriter, r *http.Request, v browserSession, p pages.PlanOverride) error {
	of := id.Workspace(r.PathValue("workspaceId"))
	granted, err := h.Operators.Plans.Granted(r.Context(), v.Actor, of)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if p.Error != "" {
		status = http.StatusBadRequest
	} else {
		p.Chosen = string(granted.Override)
	}
	p.Console, p.Once = v.console(""), once()
	p.Path, p.Workspace = planPath(of), string(of)
	p.Plan, p.Override = string(granted.Has), string(granted.Override)
	if s := standing(granted.Account); s != nil {
		p.Subscription = s.Name
	}
	return h.page(w, status, p)
}

// plansByChoice are the choices of the form. The nil one follows the subscription again.
var plansByChoice = map[string]*string{
	"":                         nil,
	string(workspace.FreePlan): new(string(workspace.FreePlan)),
	string(workspace.ProPlan):  new(string(workspace.ProPlan)),
}

func (h *Host) overridePlan(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	plan, known := plansByChoice[form["plan"]]
	if !known {
		return fault.New(fault.InvalidRequest, "the plan is one of the form")
	}
	of, reason := r.PathValue("workspaceId"), form["reason"]
	command, err := commandOf(v, idempotency.SetPlan, of, form["once"], []string{form["plan"], reason})
	if err != nil {
		return err
	}
	_, err = h.Operators.Plans.SetPlan(r.Context(), v.Actor, command, nil, billing.Override{
		Workspace: id.Workspace(of),
		Plan:      plan,
		Reason:    &reason,
	})
	if fault.CodeOf(err) == fault.InvalidRequest {
		web.Failed(r.Context(), fault.InvalidRequest, err)
		return h.showPlanOverride(w, r, v, pages.PlanOverride{
			Chosen: form["plan"],
			Reason: reason,
			Error:  fmt.Sprintf("Nothing was changed: give a reason of 1 to %d characters.", limits.ReasonRunes),
		})
	}
	if err != nil {
		return err
	}
	redirect(w, planPath(id.Workspace(of)))
	return nil
}
