package app

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/billing"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

// billingPath is also where the payment provider returns browsers to.
const billingPath = "/billing"

// billingRoutes are the pages about the plan, and none if the deployment sells no plans.
const (
	billingAnswer = 20 * time.Second // time limit of opening a page of the provider, which is tried twice
	// billingRead is for what a page shows besides its own; the rest of limits.IdentityAnswer is for the tables.
	billingRead = 2 * time.Second
)

func (h *Host) billingRoutes() []route {
	if h.Billing == nil {
		return nil
	}
	open := func(handle formHandler) members {
		return members{form: handle, back: billingPath, limit: billingAnswer}
	}
	return noReferrer(
		route{method: "GET", path: billingPath, handle: members{page: h.billing}},
		route{method: "POST", path: billingPath + "/checkout", handle: open(h.checkout)},
		route{method: "POST", path: billingPath + "/portal", handle: open(h.portal)},
	)
}

// billing shows the plan. When a browser returns from a checkout, it updates the plan and then redirects to an address
// without the session, so that reloading the page does not ask the provider again.
func (h *Host) billing(w http.ResponseWriter, r *http.Request, v browserSession) error {
	q := r.URL.Query()
	if paid := q.Get("session_id"); paid != "" {
		h.comeBack(r.Context(), v, billing.SessionID(paid))
		redirect(w, billingPath+"?status=success")
		return nil
	}
	p := pages.Billing{
		Layout:    v.layout(billingPath),
		Manages:   v.Actor.Require(credential.Admin) == nil,
		Free:      h.tier(limits.Free),
		Larger:    h.tier(limits.Pro),
		OnceMonth: once(),
		OnceYear:  once(),
	}
	var account billing.Account
	err := async.All(
		func() (err error) { account, err = h.Billing.Account(r.Context(), v.Actor); return err },
		func() error { p.Left = h.Account.Policy(r.Context(), v.Actor).DailyNewArtifactsRemaining; return nil },
		func() error { h.readInvoices(r.Context(), v, &p); return nil },
	)
	if err != nil {
		return err
	}
	p.Pro = account.Plan() == workspace.ProPlan
	p.Given = account.Override != ""
	p.Customer = account.Customer != ""
	p.Offers = !p.Given && !account.Subscribed() && !account.Revivable()
	p.PerDay = p.Free.PerDay
	if p.Pro {
		p.PerDay = p.Larger.PerDay
	}
	// An operator's plan outweighs the subscription, so that nothing about the latter needs attention.
	if p.Standing = standing(account); p.Given && p.Standing != nil {
		p.Standing.Text, p.Standing.Trouble = "The subscription at Stripe continues but has no effect.", false
	}
	p.Outcome = outcome(q.Get("status"), account)
	return h.page(w, http.StatusOK, p)
}

// comeBack updates the plan after a checkout. It ignores failures, because the event of the provider does the same.
func (h *Host) comeBack(ctx context.Context, v browserSession, paid billing.SessionID) {
	short, cancel := context.WithTimeout(ctx, billingRead)
	defer cancel()
	if _, err := h.Billing.Return(short, v.Actor, paid); err != nil {
		web.Failed(ctx, fault.CodeOf(err), err)
	}
}

// readInvoices adds the invoices. Without an answer of the provider the page says that they are missing.
func (h *Host) readInvoices(ctx context.Context, v browserSession, p *pages.Billing) {
	short, cancel := context.WithTimeout(ctx, billingRead)
	defer cancel()
	found, err := h.Billing.Invoices(short, v.Actor)
	if err != nil {
		web.Failed(ctx, fault.CodeOf(err), err)
		p.Unread = true
		return
	}
	for _, i := range found {
		p.Invoices = append(p.Invoices, invoiceRow(i))
	}
}

func invoiceRow(i billing.Invoice) pages.Invoice {
	row := pages.Invoice{Number: i.Number, Amount: money(i.AmountDue, i.Currency), At: orZero(i.Created)}
	for from, to := range map[*string]*string{i.Status: &row.Status, i.Description: &row.About} {
		if from != nil {
			*to = *from
		}
	}
	for _, address := range []*string{i.InvoicePDF, i.HostedInvoiceURL} { // the page comes last, because it is better than the file
		if address != nil {
			row.URL = *address
		}
	}
	return row
}

// minorDigits are the decimals of currencies that do not have two, as Stripe counts them.
var minorDigits = map[string]int{
	"BIF": 0, "CLP": 0, "DJF": 0, "GNF": 0, "JPY": 0, "KMF": 0, "KRW": 0, "MGA": 0, "PYG": 0, "RWF": 0, "VND": 0,
	"VUV": 0, "XAF": 0, "XOF": 0, "XPF": 0, "BHD": 3, "JOD": 3, "KWD": 3, "OMR": 3, "TND": 3,
}

// money formats an amount in the minor unit of its currency.
func money(minor int64, currency string) string {
	currency = strings.ToUpper(currency)
	digits, special := minorDigits[currency]
	if !special {
		digits = 2
	}
	sign := ""
	if minor < 0 {
		sign, minor = "-", -minor
	}
	text := fmt.Sprintf("%0*d", digits+1, minor)
	whole, part := text[:len(text)-digits], text[len(text)-digits:]
	if part != "" {
		part = "." + part
	}
	return strings.TrimSpace(sign + whole + part + " " + currency)
}

// tier returns the limits of a tier.
func (h *Host) tier(t limits.Tier) pages.Limits {
	l := h.Operators.Limits
	p := l.Tiers[t]
	return pages.Limits{
		PerDay:       p.NewArtifactsPerDay,
		Files:        p.FileCount,
		FileSize:     p.FileSize,
		ArtifactSize: p.ArtifactSize,
		DefaultLife:  finite(p.DefaultLife),
		LongestLife:  finite(p.MaxLife),
		PerMinute:    l.Actor.Limit,
		Pins:         p.LiveArtifacts,
		Revisions:    p.Revisions,
	}
}

// due returns the subscription if a member has to act on it. The overview does without it if it cannot be read.
func (h *Host) due(ctx context.Context, v browserSession) *pages.Standing {
	if h.Billing == nil {
		return nil
	}
	a, err := h.Billing.Account(ctx, v.Actor)
	if err != nil {
		web.Failed(ctx, fault.CodeOf(err), err)
		return nil
	}
	if s := standing(a); s != nil && s.Trouble && a.Override == "" {
		return s
	}
	return nil
}

// checkout opens the page where the workspace subscribes. A form opens one checkout, however often it is sent.
func (h *Host) checkout(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	interval := billing.Interval(form["interval"])
	if interval != billing.Monthly && interval != billing.Yearly {
		return fault.New(fault.InvalidRequest, "a subscription is paid monthly or yearly")
	}
	asked := contract.CreateCheckout{Interval: string(interval)}
	command, err := commandOf(v, idempotency.CreateCheckout, "", form["once"], asked)
	if err != nil {
		return err
	}
	page, err := h.Billing.Checkout(r.Context(), v.Actor, command, interval)
	if err != nil {
		return notOpened(err)
	}
	return h.depart(w, v, page.URL, "To the checkout", "You choose how to pay at Stripe, and come back here.")
}

// portal opens the page where the subscription is managed.
func (h *Host) portal(w http.ResponseWriter, r *http.Request, v browserSession, _ web.Form) error {
	page, err := h.Billing.Portal(r.Context(), v.Actor)
	if err != nil {
		return notOpened(err)
	}
	return h.depart(w, v, page.URL, "To your subscription", "At Stripe you change how you pay, see your invoices and cancel.")
}

// depart leads the browser to a page of the payment provider, whose address is for this browser alone.
func (h *Host) depart(w http.ResponseWriter, v browserSession, to, heading, text string) error {
	safe, err := leaving(to)
	if err != nil {
		return err
	}
	u, err := url.Parse(to)
	if err != nil {
		return err
	}
	return h.page(w, http.StatusOK, pages.Depart{
		Layout:  v.layout(""),
		Heading: heading,
		Text:    text,
		Host:    u.Host,
		To:      safe,
	})
}

// notOpened explains why no page of the payment provider was opened, and that nothing was charged.
func notOpened(err error) error {
	m := pages.Message{Links: []pages.Link{{Path: billingPath, Text: "Back to billing"}}}
	switch fault.CodeOf(web.AsUnavailable(err)) {
	case fault.DatabaseUnavailable:
		m.Heading = "Stripe does not answer"
		m.Text = "Nothing was charged and nothing changed. Try again in a minute; trying twice opens only one checkout."
	case fault.InvalidRequest:
		m.Heading = "There already is a subscription"
		m.Text = "Nothing was charged: this workspace has a subscription. Manage shows it."
	case fault.InvalidIdempotencyKey, fault.IdempotencyInFlight:
		m.Heading = "This form was sent before"
		m.Text = "Nothing was charged. Load the billing page again and use its button."
	case fault.NotFound:
		m.Heading = "There is nothing to manage"
		m.Text = "This workspace has never had a subscription."
	default:
		return err
	}
	return explained{web.AsUnavailable(err), m}
}
