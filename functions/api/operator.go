package api

import (
	"context"
	"net/http"
	"net/url"

	"github.com/danielgtaylor/huma/v2"

	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/account"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/lockdown"
)

// operatorRoutes are the routes of the operators of the whole deployment.
func (h *Host) operatorRoutes() []web.Route {
	return []web.Route{
		web.Operator(web.Operation{
			ID:      "web.admin.lockdown.set",
			Method:  "POST",
			Path:    "/v1/web/admin/lockdowns",
			Summary: "Close a workspace or an artifact at once",
			Status:  http.StatusCreated,
			Command: web.Command{Operation: idempotency.SetLockdown},
		}, h.lock),
		web.Operator(web.Operation{
			ID:               "web.admin.lockdown.list",
			Method:           "GET",
			Path:             "/v1/web/admin/lockdowns",
			Summary:          "All lockdowns, lifted ones included, newest first",
			ConcurrentLimits: true,
			Errors:           []fault.Code{fault.InvalidCursor},
		}, h.lockdowns),
		web.Operator(web.Operation{
			ID:      "web.admin.lockdown.lift",
			Method:  "DELETE",
			Path:    "/v1/web/admin/lockdowns/{scope}/{target_id}",
			Summary: "Open what a lockdown closed",
			Command: web.Command{Operation: idempotency.LiftLockdown, Target: "target_id"},
		}, h.unlock),
		web.Operator(web.Operation{
			ID:               "web.admin.events.list",
			Method:           "GET",
			Path:             "/v1/web/admin/events",
			Summary:          "What was done in all workspaces, newest first",
			ConcurrentLimits: true,
			Errors:           []fault.Code{fault.InvalidCursor},
		}, h.record),
	}
}

type lockInput struct {
	Body contract.SetLockdown
}

func (h *Host) lock(ctx context.Context, request *web.Request, in *lockInput) (contract.Lockdown, error) {
	return h.Lockdowns.Set(ctx, request.Actor, request.Command, request.Record, in.Body)
}

func (h *Host) lockdowns(ctx context.Context, request *web.Request, in *listInput) (contract.LockdownList, error) {
	if err := in.refuseBlank(); err != nil {
		return contract.LockdownList{}, err
	}
	return h.Lockdowns.List(ctx, request.Actor, in.Cursor, in.Limit)
}

type lockdownInput struct {
	Scope  string `path:"scope"`
	Target string `path:"target_id"`
}

func (h *Host) unlock(ctx context.Context, request *web.Request, in *lockdownInput) (contract.Lockdown, error) {
	return h.Lockdowns.Lift(ctx, request.Actor, request.Command, request.Record, lockdown.Scope(in.Scope), in.Target)
}

// recordInput documents the filters. Resolve reads them again from the query, because only that distinguishes an empty
// filter from a missing one.
type recordInput struct {
	Cursor     string `query:"cursor" doc:"next_cursor of the page before; at most 500 characters"`
	Limit      int    `query:"limit" minimum:"1" maximum:"100" default:"50"`
	Workspace  string `query:"workspace_id" doc:"of one workspace only"`
	ActorType  string `query:"actor_type" doc:"api_key, member, admin, system or platform"`
	Action     string `query:"action"`
	TargetType string `query:"target_type"`
	RequestID  string `query:"request_id"`
	Focus      string `query:"focus" doc:"all, security or lifecycle"`

	page  listInput
	asked account.Query
}

// Resolve implements huma.Resolver.
func (i *recordInput) Resolve(c huma.Context) []error {
	u := c.URL()
	q := u.Query()
	i.asked = account.Query{
		Workspace:  sent(q, "workspace_id"),
		ActorType:  sent(q, "actor_type"),
		Action:     sent(q, "action"),
		TargetType: sent(q, "target_type"),
		RequestID:  sent(q, "request_id"),
		Focus:      sent(q, "focus"),
	}
	i.page = listInput{Cursor: i.Cursor, Limit: i.Limit}
	return i.page.Resolve(c)
}

// sent returns a parameter of the query, nil if it is missing.
func sent(q url.Values, name string) *string {
	if !q.Has(name) {
		return nil
	}
	value := q.Get(name)
	return &value
}

func (h *Host) record(ctx context.Context, request *web.Request, in *recordInput) (contract.OperatorEventList, error) {
	if err := in.page.refuseBlank(); err != nil {
		return contract.OperatorEventList{}, err
	}
	return h.Account.OperatorLog(ctx, request.Actor, in.asked, account.Page{Cursor: in.Cursor, Limit: in.Limit})
}
