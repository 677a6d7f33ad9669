// Package stripe manages customers, checkouts and subscriptions at Stripe. No other package imports Stripe's client.
package stripe

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	stripe "github.com/stripe/stripe-go/v85"
	portal "github.com/stripe/stripe-go/v85/billingportal/session"
	"github.com/stripe/stripe-go/v85/checkout/session"
	"github.com/stripe/stripe-go/v85/customer"
	"github.com/stripe/stripe-go/v85/invoice"
	"github.com/stripe/stripe-go/v85/subscription"

	"vitrine/shared/identity/billing"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// Config says how to reach an account at Stripe.
type Config struct {
	Key     string // secret or restricted API key
	Secret  string // signs webhooks
	Monthly string // ID of the monthly price
	Yearly  string // ID of the yearly price
	URL     string // of a stand-in for tests; empty: Stripe
	// Transport sends the requests; nil: http.DefaultTransport.
	Transport http.RoundTripper
}

// Client implements the ports of package billing.
type Client struct {
	config  Config
	backend stripe.Backend
}

var (
	_ billing.Cashier       = (*Client)(nil)
	_ billing.Subscriptions = (*Client)(nil)
	_ billing.Events        = (*Client)(nil)
)

// answer bounds a request to Stripe. Most answers take less than a second, a checkout two.
const answer = 8 * time.Second

// New returns a client.
func New(c Config) *Client {
	own := &stripe.BackendConfig{
		HTTPClient:        &http.Client{Timeout: answer, Transport: c.Transport},
		LeveledLogger:     &stripe.LeveledLogger{Level: stripe.LevelNull}, // the service logs failures itself
		MaxNetworkRetries: stripe.Int64(1),
		EnableTelemetry:   stripe.Bool(false),
	}
	if c.URL != "" {
		own.URL = &c.URL
	}
	return &Client{config: c, backend: stripe.GetBackendWithConfig(stripe.APIBackend, own)}
}

// workspaceName is the metadata key that names the workspace in a checkout and in a subscription.
const workspaceName = "workspace_id"

// Customer implements billing.Cashier.
func (c *Client) Customer(ctx context.Context, w id.Workspace) (billing.CustomerID, error) {
	params := &stripe.CustomerParams{Metadata: map[string]string{workspaceName: string(w)}}
	params.Context = ctx
	params.SetIdempotencyKey("customer of " + string(w))
	made, err := customer.Client{B: c.backend, Key: c.config.Key}.New(params)
	if err != nil {
		return "", refused(err)
	}
	return billing.CustomerID(made.ID), nil
}

// Checkout implements billing.Cashier.
func (c *Client) Checkout(ctx context.Context, asked billing.Checkout) (string, error) {
	price := c.config.Monthly
	if asked.Interval == billing.Yearly {
		price = c.config.Yearly
	}
	about := map[string]string{workspaceName: string(asked.Workspace)}
	params := &stripe.CheckoutSessionParams{
		Mode:              stripe.String(string(stripe.CheckoutSessionModeSubscription)),
		LineItems:         []*stripe.CheckoutSessionLineItemParams{{Price: &price, Quantity: stripe.Int64(1)}},
		SuccessURL:        &asked.Success,
		CancelURL:         &asked.Cancel,
		ClientReferenceID: stripe.String(string(asked.Workspace)),
		Metadata:          about,
		SubscriptionData:  &stripe.CheckoutSessionSubscriptionDataParams{Metadata: about},
		Customer:          stripe.String(string(asked.Customer)),
	}
	params.Context = ctx
	params.SetIdempotencyKey(asked.Key)
	made, err := session.Client{B: c.backend, Key: c.config.Key}.New(params)
	if err != nil {
		return "", refused(err)
	}
	return made.URL, nil
}

// Session implements billing.Cashier.
func (c *Client) Session(ctx context.Context, s billing.SessionID) (*billing.Session, error) {
	if !isID(string(s)) {
		return nil, nil
	}
	params := &stripe.CheckoutSessionParams{}
	params.Context = ctx
	found, err := session.Client{B: c.backend, Key: c.config.Key}.Get(string(s), params)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, refused(err)
	}
	out := &billing.Session{Workspace: id.Workspace(found.Metadata[workspaceName])}
	if found.Customer != nil {
		out.Customer = billing.CustomerID(found.Customer.ID)
	}
	return out, nil
}

// Portal implements billing.Cashier.
func (c *Client) Portal(ctx context.Context, customer billing.CustomerID, back string) (string, error) {
	params := &stripe.BillingPortalSessionParams{Customer: stripe.String(string(customer)), ReturnURL: &back}
	params.Context = ctx
	made, err := portal.Client{B: c.backend, Key: c.config.Key}.New(params)
	if err != nil {
		return "", refused(err)
	}
	return made.URL, nil
}

// Invoices implements billing.Cashier.
func (c *Client) Invoices(
	ctx context.Context, customer billing.CustomerID, limit int,
) ([]billing.Invoice, error) {
	params := &stripe.InvoiceListParams{Customer: stripe.String(string(customer))}
	params.Context, params.Single = ctx, true
	params.Limit = stripe.Int64(int64(limit))
	found := invoice.Client{B: c.backend, Key: c.config.Key}.List(params)
	var out []billing.Invoice
	for found.Next() {
		out = append(out, invoiceRow(found.Invoice()))
	}
	if err := found.Err(); err != nil && !missing(err) {
		return nil, refused(err)
	}
	return out, nil
}

func invoiceRow(i *stripe.Invoice) billing.Invoice {
	out := billing.Invoice{Number: i.Number, Invoice: contract.Invoice{
		ID:               i.ID,
		AmountDue:        i.AmountDue,
		Currency:         string(i.Currency),
		Status:           textOrNull(string(i.Status)),
		Description:      textOrNull(i.Description),
		HostedInvoiceURL: textOrNull(i.HostedInvoiceURL),
		InvoicePDF:       textOrNull(i.InvoicePDF),
	}}
	if i.Created != 0 {
		out.Created = contract.AtOrNull(time.Unix(i.Created, 0))
	}
	if out.Description == nil && i.Lines != nil && len(i.Lines.Data) > 0 {
		out.Description = textOrNull(i.Lines.Data[0].Description)
	}
	return out
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Subscription implements billing.Subscriptions.
func (c *Client) Subscription(ctx context.Context, s billing.SubscriptionID) (*billing.Subscription, error) {
	if !isID(string(s)) {
		return nil, nil
	}
	params := &stripe.SubscriptionParams{}
	params.Context = ctx
	found, err := subscription.Client{B: c.backend, Key: c.config.Key}.Get(string(s), params)
	if missing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, refused(err)
	}
	out := read(found)
	return &out, nil
}

// Of implements billing.Subscriptions.
func (c *Client) Of(ctx context.Context, customer billing.CustomerID) ([]billing.Subscription, error) {
	all, _, err := c.list(ctx, &stripe.SubscriptionListParams{Customer: stripe.String(string(customer))})
	return all, err
}

// Cancel implements billing.Subscriptions.
func (c *Client) Cancel(ctx context.Context, s billing.SubscriptionID) error {
	params := &stripe.SubscriptionCancelParams{}
	params.Context = ctx
	_, err := subscription.Client{B: c.backend, Key: c.config.Key}.Cancel(string(s), params)
	if err == nil || missing(err) {
		return nil
	}
	return refused(err)
}

// List implements billing.Subscriptions.
func (c *Client) List(ctx context.Context, after billing.SubscriptionID) ([]billing.Subscription, bool, error) {
	params := &stripe.SubscriptionListParams{}
	if after != "" {
		params.StartingAfter = stripe.String(string(after))
	}
	return c.list(ctx, params)
}

// most is the largest page that Stripe returns.
const most = 100

func (c *Client) list(
	ctx context.Context, params *stripe.SubscriptionListParams,
) (out []billing.Subscription, more bool, err error) {
	params.Context, params.Single = ctx, true
	params.Limit = stripe.Int64(most)
	params.Status = stripe.String("all") // ended ones too
	found := subscription.Client{B: c.backend, Key: c.config.Key}.List(params)
	for found.Next() {
		out = append(out, read(found.Subscription()))
	}
	if err := found.Err(); err != nil && !missing(err) {
		return nil, false, refused(err)
	}
	return out, found.Meta() != nil && found.Meta().HasMore, nil
}

// read converts a subscription. Since API version 2025-03-31 its period is that of its item.
func read(s *stripe.Subscription) billing.Subscription {
	out := billing.Subscription{
		ID:        billing.SubscriptionID(s.ID),
		Workspace: id.Workspace(s.Metadata[workspaceName]),
		Status:    billing.Status(s.Status),
		CreatedAt: time.Unix(s.Created, 0).UTC(),
	}
	if s.Customer != nil {
		out.Customer = billing.CustomerID(s.Customer.ID)
	}
	if s.Items == nil || len(s.Items.Data) == 0 {
		return out
	}
	item := s.Items.Data[0]
	if item.CurrentPeriodEnd != 0 {
		out.PeriodEnd = time.Unix(item.CurrentPeriodEnd, 0).UTC()
	}
	switch {
	case s.CancelAt != 0:
		out.EndsAt = time.Unix(s.CancelAt, 0).UTC()
	case s.CancelAtPeriodEnd:
		out.EndsAt = out.PeriodEnd
	}
	if item.Price == nil || item.Price.Recurring == nil || item.Price.Recurring.IntervalCount > 1 {
		return out
	}
	if i := billing.Interval(item.Price.Recurring.Interval); i == billing.Monthly || i == billing.Yearly {
		out.Interval = i
	}
	return out
}

// isID reports whether s has the form of a Stripe ID. Only such text may become part of a path or a key.
func isID(s string) bool {
	foreign := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_'
	}
	return s != "" && len(s) <= 255 && !strings.ContainsFunc(s, foreign)
}

// missing reports whether err says that Stripe has no such object.
func missing(err error) bool {
	said, ok := errors.AsType[*stripe.Error](err)
	return ok && said.Code == stripe.ErrorCodeResourceMissing
}

// refused classifies a failed request to Stripe. The caller can act only on an idempotency key that was used for
// another request or is in use. Any other refusal concerns the configuration of this service, so the caller hears only
// that the provider does not answer.
func refused(err error) error {
	said, ok := errors.AsType[*stripe.Error](err)
	switch {
	case ok && said.Code == stripe.ErrorCodeIdempotencyKeyInUse:
		return fault.New(fault.IdempotencyInFlight,
			"the same request is still running; repeat it with the same Idempotency-Key in a moment")
	case ok && said.Type == stripe.ErrorTypeIdempotency:
		return fault.New(fault.InvalidIdempotencyKey, "this Idempotency-Key was used for another request; use a new one")
	default:
		return fault.Wrap(fault.DatabaseUnavailable, err,
			"the payment provider does not answer; repeat the request in a moment")
	}
}
