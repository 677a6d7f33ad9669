package api

import (
	"context"
	"io"
	"net/http"

	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/billing"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
)

// billingRoutes are the routes for plans that members pay for or operators grant. Without a payment provider, all of
// them answer not_found after the checks of the caller.
func (h *Host) billingRoutes() []web.Route {
	off := []fault.Code{fault.NotFound}
	return []web.Route{
		web.Member(web.Operation{
			ID:               "billing.status.get",
			Method:           "GET",
			Path:             "/v1/web/billing",
			Summary:          "The plan of the workspace and its subscription",
			ConcurrentLimits: true,
			Errors:           off,
		}, h.billingStatus),
		web.Member(web.Operation{
			ID:      "billing.invoices.list",
			Method:  "GET",
			Path:    "/v1/web/billing/invoices",
			Summary: "The latest invoices of the workspace",
			Errors:  off,
		}, h.invoices),
		web.Member(web.Operation{
			ID:      "billing.checkout.create",
			Method:  "POST",
			Path:    "/v1/web/billing/checkout",
			Summary: "Open the page where the workspace subscribes",
			Scope:   credential.Admin,
			Command: web.Command{Operation: idempotency.CreateCheckout},
			Errors:  off,
		}, h.checkout),
		web.Member(web.Operation{
			ID:      "billing.checkout.return",
			Method:  "GET",
			Path:    "/v1/web/billing/return",
			Summary: "The plan of the workspace after a checkout",
			Errors:  []fault.Code{fault.NotFound, fault.InvalidRequest},
		}, h.checkoutReturn),
		web.Member(web.Operation{
			ID:      "billing.portal.create",
			Method:  "POST",
			Path:    "/v1/web/billing/portal",
			Summary: "Open the page where the subscription is managed",
			Scope:   credential.Admin,
			Errors:  off,
		}, h.portal),
		web.Public(web.Operation{
			ID:       "billing.webhook",
			Method:   "POST",
			Path:     "/v1/billing/webhook",
			Summary:  "Receive an event of the payment provider",
			Security: web.StripeSignature,
			Before:   h.readBillingEvent,
			Errors:   []fault.Code{fault.NotFound, fault.InvalidRequest, fault.DatabaseUnavailable},
		}, h.receiveBillingEvent),
		web.Operator(web.Operation{
			ID:      "billing.admin.setPlan",
			Method:  "POST",
			Path:    "/v1/web/admin/workspaces/{workspace_id}/plan",
			Summary: "Give a workspace a plan, whatever it pays",
			Command: web.Command{Operation: idempotency.SetPlan, Target: "workspace_id"},
		}, h.setPlan),
	}
}

// noBilling returns the refusal of a deployment without a payment provider.
func noBilling() error {
	return fault.New(fault.NotFound, "this deployment has no billing")
}

func (h *Host) billingStatus(ctx context.Context, request *web.Request, _ *struct{}) (contract.BillingStatus, error) {
	if h.Billing == nil {
		return contract.BillingStatus{}, noBilling()
	}
	return h.Billing.Status(ctx, request.Actor)
}

func (h *Host) invoices(ctx context.Context, request *web.Request, _ *struct{}) (contract.InvoiceList, error) {
	if h.Billing == nil {
		return contract.InvoiceList{}, noBilling()
	}
	found, err := h.Billing.Invoices(ctx, request.Actor)
	out := contract.InvoiceList{Invoices: make([]contract.Invoice, len(found))}
	for n, i := range found {
		out.Invoices[n] = i.Invoice
	}
	return out, err
}

type checkoutInput struct {
	Body contract.CreateCheckout
}

func (h *Host) checkout(ctx context.Context, request *web.Request, in *checkoutInput) (contract.PageURL, error) {
	if h.Billing == nil {
		return contract.PageURL{}, noBilling()
	}
	return h.Billing.Checkout(ctx, request.Actor, request.Command, billing.Interval(in.Body.Interval))
}

type checkoutReturnInput struct {
	Session string `query:"session_id" required:"true"`
}

func (h *Host) checkoutReturn(
	ctx context.Context, request *web.Request, in *checkoutReturnInput,
) (contract.BillingStatus, error) {
	if h.Billing == nil {
		return contract.BillingStatus{}, noBilling()
	}
	return h.Billing.Return(ctx, request.Actor, billing.SessionID(in.Session))
}

func (h *Host) portal(ctx context.Context, request *web.Request, _ *struct{}) (contract.PageURL, error) {
	if h.Billing == nil {
		return contract.PageURL{}, noBilling()
	}
	return h.Billing.Portal(ctx, request.Actor)
}

// maxEvent is larger than any event of a subscription.
const maxEvent = 1 << 20

type billingEventKey struct{}

// readBillingEvent reads an event byte for byte before huma decodes the body, because the signature covers the bytes.
func (h *Host) readBillingEvent(r *http.Request) (context.Context, error) {
	ctx := r.Context()
	if h.Billing == nil {
		return ctx, noBilling()
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxEvent+1))
	switch {
	case err != nil:
		return ctx, fault.Wrap(fault.InvalidRequest, err, "the body did not arrive as a whole; send the event again")
	case len(raw) > maxEvent:
		return ctx, fault.New(fault.InvalidRequest, "the body is larger than %d bytes", maxEvent)
	}
	return context.WithValue(ctx, billingEventKey{}, raw), nil
}

type billingEventInput struct {
	Signature string `header:"Stripe-Signature" required:"true"`
}

func (h *Host) receiveBillingEvent(ctx context.Context, in *billingEventInput) (contract.WebhookReceived, error) {
	raw, _ := ctx.Value(billingEventKey{}).([]byte)
	err := h.Billing.Receive(ctx, raw, in.Signature, web.RequestID(ctx))
	return contract.WebhookReceived{Received: err == nil}, web.AsUnavailable(err)
}

type setPlanInput struct {
	Workspace string `path:"workspace_id"`
	Body      contract.SetPlan
}

func (h *Host) setPlan(ctx context.Context, request *web.Request, in *setPlanInput) (contract.BillingStatus, error) {
	if h.Billing == nil {
		return contract.BillingStatus{}, noBilling()
	}
	return h.Billing.SetPlan(ctx, request.Actor, request.Command, request.Record, billing.Override{
		Workspace: id.Workspace(in.Workspace),
		Plan:      in.Body.Plan,
	})
}
