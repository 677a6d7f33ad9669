package app

import (
	"context"
	"net/http"
	"strings"
	"time"

	"vitrine/functions/app/pages"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/identity/account"
	"vitrine/shared/identity/billing"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/policy"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/abuse"
	"vitrine/shared/publishing/lockdown"
	"vitrine/shared/publishing/lookup"
)

// Operators is what the operators of the deployment work with. All methods answer not_found to others.
type Operators struct {
	Lockdowns Lockdowns
	Inbox     Inbox
	Lookups   Lookups
	Log       OperatorLog
	Gate      Gate
	Plans     Plans          // nil: no plan is sold
	Limits    *limits.Limits // of workspaces, by tier
	Policy    []policy.Fact  // what the owner decided, and what holds without a decision
}

// Lockdowns locks and unlocks workspaces and artifacts.
type Lockdowns interface {
	// Set returns the lockdown in effect; invalid_request for a bad reason and for the operator's own workspace.
	Set(
		ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record, asked contract.SetLockdown,
	) (contract.Lockdown, error)
	// Lift answers not_found where none is in effect.
	Lift(
		ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record, s lockdown.Scope,
		target string,
	) (contract.Lockdown, error)
	// List returns one page, lifted lockdowns included, newest first.
	List(ctx context.Context, by credential.Actor, after string, limit int) (contract.LockdownList, error)
}

// Inbox keeps the reports of abuse.
type Inbox interface {
	// List returns one page of the reports about an artifact, or of all if it is empty, newest first.
	List(
		ctx context.Context, by credential.Actor, of id.Artifact, p cursor.Page,
	) (_ []abuse.Report, next string, _ error)
	Handle(ctx context.Context, by credential.Actor, a id.Artifact, place string) error
}

// Lookups says what something is without opening it, and opens it with an event in the record.
type Lookups interface {
	// Find answers invalid_request for a text that is neither an id nor an address of the deployment.
	Find(ctx context.Context, by credential.Actor, pasted string) (lookup.Finding, error)
	// Hot returns the artifacts that were read often in the last hour.
	Hot(ctx context.Context, by credential.Actor) ([]rate.Hot, error)
	// OldCopy returns when the data was last copied, if that is too long ago.
	OldCopy(ctx context.Context, by credential.Actor) (time.Time, error)
	// Open answers invalid_request for a missing reason and for what is locked.
	Open(ctx context.Context, by credential.Actor, a id.Artifact, reason string) (lookup.Opened, error)
}

// OperatorLog is the record of all workspaces.
type OperatorLog interface {
	OperatorLog(
		ctx context.Context, by credential.Actor, asked account.Query, p account.Page,
	) (contract.OperatorEventList, error)
}

// Gate limits how many ephemeral workspaces are created.
type Gate interface {
	Quota(ctx context.Context, by credential.Actor) (ephemeral.Usage, error)
	// SetQuota answers invalid_request for a bad number, and if from is not the quota any more.
	SetQuota(ctx context.Context, by credential.Actor, from, to int) error
}

// Plans gives workspaces plans, regardless of their subscriptions; not_found if there is no such workspace.
type Plans interface {
	Granted(ctx context.Context, by credential.Actor, w id.Workspace) (billing.Granted, error)
	// SetPlan answers invalid_request for a reason that is empty or too long.
	SetPlan(
		ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record, o billing.Override,
	) (contract.BillingStatus, error)
}

// The pages of operators.
const (
	adminPath        = "/admin"
	adminReports     = adminPath + "/reports"
	adminLockdowns   = adminPath + "/lockdowns"
	adminEvents      = adminPath + "/events"
	adminProvisioned = adminPath + "/provisioning"
	adminPolicy      = adminPath + "/policy"
	adminPlan        = adminPath + "/workspaces/{workspaceId}/plan" // only with billing
)

// operatorRoutes are the pages of the deployment's operators.
func (h *Host) operatorRoutes() []route {
	return append(h.planRoutes(), []route{
		{method: "GET", path: adminPath, handle: operators{page: h.triage}},
		{method: "POST", path: adminPath + "/lookup", handle: operators{form: h.lookUp}},
		{method: "POST", path: adminPath + "/content", handle: operators{form: h.openContent}},
		{method: "GET", path: adminReports, handle: operators{page: resetCursor(h.reports)}},
		{method: "POST", path: adminReports + "/handled", handle: operators{form: h.handleReport}},
		{method: "GET", path: adminLockdowns, handle: operators{page: resetCursor(h.lockdowns)}},
		{method: "POST", path: adminLockdowns, handle: operators{form: h.setLockdown}},
		{method: "POST", path: adminLockdowns + "/lift", handle: operators{form: h.liftLockdown}},
		{method: "GET", path: adminEvents, handle: operators{page: h.events}},
		{method: "GET", path: adminProvisioned, handle: operators{page: h.provisioning}},
		{method: "POST", path: adminProvisioned, handle: operators{form: h.setQuota}},
		{method: "GET", path: adminPolicy, handle: operators{page: h.policy}},
	}...)
}

// forOperators reports whether a path of the host is one of the operators' pages.
func forOperators(path string) bool {
	path, _, _ = strings.Cut(path, "?")
	return path == adminPath || strings.HasPrefix(path, adminPath+"/")
}

// operators are members who operate the deployment. Those who have not just signed in are asked to sign in again; to
// everybody else there is no such page.
type operators members

// serve answers operators. Everybody else gets the answer of a path that does not exist, headers included.
func (o operators) serve(h *Host) handler {
	return withTimeout(limits.IdentityAnswer, func(w http.ResponseWriter, r *http.Request) error {
		v, err := h.visitor(r, false)
		switch {
		case fault.CodeOf(err) == fault.NotAuthenticated:
			return notFound(w, r)
		case err != nil:
			return err
		case v.Actor.Operator.IsZero():
			return notFound(w, r)
		case v.Actor.Operates(h.Now()) != nil:
			return stale(r)
		}
		w.Header().Set("Referrer-Policy", "no-referrer")
		if o.form != nil {
			return members(o).submit(h, w, r, v)
		}
		return h.countedPage(w, r, v, o.page)
	})
}

// stale asks an operator to sign in again, by a page for the reason of signedInLately.
func stale(r *http.Request) error {
	back := adminPath
	if r.Method == http.MethodGet {
		back = r.URL.RequestURI()
	}
	return explained{fault.New(fault.NotAuthenticated, "the sign-in of the operator is old"), pages.Message{
		Heading: "Confirm that it is you",
		Text: "Operators act for 15 minutes after they have signed in. Nothing was done. Sign in once more, and the " +
			"provider asks you to prove who you are.",
		Links: []pages.Link{{Path: signInPath(back), Text: "Sign in again"}, {Path: "/dashboard", Text: "Your workspace"}},
	}}
}

// console returns the frame around operators' pages; here is the current section.
func (s browserSession) console(here string) pages.Console {
	return pages.Console{Email: s.Member.Email, Here: here}
}
