package contract

// BillingStatus answers billing.status.get, billing.checkout.return and billing.admin.setPlan. The last omits
// DailyNewArtifactsRemaining.
type BillingStatus struct {
	Plan                       string               `json:"plan" enum:"free,pro"`
	OperatorOverride           bool                 `json:"operator_override"`
	Subscription               *BillingSubscription `json:"subscription"`
	DailyNewArtifactAllowance  int                  `json:"daily_new_artifact_allowance" exclusiveMinimum:"0"`
	DailyNewArtifactsRemaining *int                 `json:"daily_new_artifacts_remaining,omitempty" minimum:"0"`
}

// BillingSubscription is the subscription of a workspace.
type BillingSubscription struct {
	Status           string  `json:"status" enum:"active,trialing,past_due,canceled,unpaid,incomplete,incomplete_expired,paused"`
	CurrentPeriodEnd *Time   `json:"current_period_end" format:"date-time"`
	PriceInterval    *string `json:"price_interval" doc:"month or year"`
}

// Invoice is one invoice. AmountDue is in the minor units of its currency.
type Invoice struct {
	ID               string  `json:"id"`
	Created          *Time   `json:"created" format:"date-time"`
	AmountDue        int64   `json:"amount_due"`
	Currency         string  `json:"currency"`
	Status           *string `json:"status"`
	Description      *string `json:"description"`
	HostedInvoiceURL *string `json:"hosted_invoice_url" format:"uri"`
	InvoicePDF       *string `json:"invoice_pdf" format:"uri"`
}

// InvoiceList answers billing.invoices.list, in the order of the payment provider.
type InvoiceList struct {
	Invoices []Invoice `json:"invoices" maxItems:"100"`
}

// CreateCheckout asks for the page where a workspace subscribes.
type CreateCheckout struct {
	Interval string `json:"interval" enum:"month,year"`
}

// PageURL answers billing.checkout.create and billing.portal.create.
type PageURL struct {
	URL string `json:"url" format:"uri"`
}

// SetPlan overrides the plan of a workspace, even against its subscription; null lets the subscription decide again.
type SetPlan struct {
	Plan *string `json:"plan" doc:"free, pro or null"`
}

// WebhookReceived answers billing.webhook.
type WebhookReceived struct {
	Received bool `json:"received"`
}
