package app

import (
	"cmp"
	"context"
	"strings"
	"time"

	"vitrine/shared/identity/billing"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
)

// seller answers in place of what sells plans.
type seller struct{ *house }

func (s seller) Account(ctx context.Context, _ credential.Actor) (billing.Account, error) {
	a := s.account
	a.Workspace = homeID
	return a, s.called(ctx, "Account")
}

func (s seller) Invoices(ctx context.Context, _ credential.Actor) ([]billing.Invoice, error) {
	if s.noInvoices != nil {
		return nil, s.noInvoices
	}
	if err := s.asked(ctx); err != nil {
		return nil, err
	}
	if s.account.Customer == "" {
		return nil, s.called(ctx, "Invoices")
	}
	at := contract.At(noon)
	return []billing.Invoice{
		{Number: "0A1B2C3D-0002", Invoice: contract.Invoice{
			ID:               "in_2",
			Created:          &at,
			AmountDue:        1200,
			Currency:         "usd",
			Status:           new("paid"),
			Description:      new(s.title),
			HostedInvoiceURL: new("https://invoice.stripe.test/i/2"),
			InvoicePDF:       new("https://invoice.stripe.test/i/2/pdf"),
		}},
		{Invoice: contract.Invoice{ID: "in_1", AmountDue: 900, Currency: "jpy"}},
	}, s.called(ctx, "Invoices")
}

func (s seller) Checkout(
	ctx context.Context, by credential.Actor, c idempotency.Command, i billing.Interval,
) (contract.PageURL, error) {
	if err := by.Require(credential.Admin); err != nil {
		return contract.PageURL{}, err
	}
	s.commands = append(s.commands, c)
	if strings.HasPrefix(c.Key.Client, "down-") {
		return contract.PageURL{}, fault.NewCode(fault.DatabaseUnavailable)
	}
	return contract.PageURL{URL: s.payURL}, s.called(ctx, "Checkout "+string(i))
}

func (s seller) Portal(ctx context.Context, by credential.Actor) (contract.PageURL, error) {
	if err := by.Require(credential.Admin); err != nil {
		return contract.PageURL{}, err
	}
	return contract.PageURL{URL: s.payURL}, cmp.Or(s.asked(ctx), s.called(ctx, "Portal"))
}

func (s seller) Return(
	ctx context.Context, _ credential.Actor, asked billing.SessionID,
) (contract.BillingStatus, error) {
	return contract.BillingStatus{}, cmp.Or(s.asked(ctx), s.called(ctx, "Return "+string(asked)))
}

// asked is a request to the provider, which may hang.
func (s seller) asked(ctx context.Context) error {
	if !s.slow {
		return nil
	}
	<-ctx.Done()
	return ctx.Err()
}

// paying is an account with a subscription.
func paying(status billing.Status) billing.Account {
	return billing.Account{
		Customer:     "cus_1",
		Subscription: "sub_1",
		Status:       status,
		Interval:     billing.Monthly,
		PeriodEnd:    noon.Add(20 * 24 * time.Hour),
	}
}
