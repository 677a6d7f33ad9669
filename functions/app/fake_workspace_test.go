package app

import (
	"cmp"
	"context"
	"strings"
	"time"

	"vitrine/shared/identity/billing"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

type keyring struct{ *house }

func (k keyring) Create(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record, name string, _ time.Duration,
) (credential.Created, error) {
	k.commands = append(k.commands, c)
	if err := k.called(ctx, "Create "+name); err != nil {
		return credential.Created{}, err
	}
	if name == "" {
		return credential.Created{}, fault.New(fault.InvalidRequest, "name must have 1 to 120 characters")
	}
	return credential.Created{Key: liveKey(name), Secret: "ap_pk_preview_0123456789ABCDEF_" + strings.Repeat("s", 71)}, nil
}

func (k keyring) List(
	ctx context.Context, _ credential.Actor, which credential.Which, p cursor.Page,
) ([]credential.Key, string, error) {
	if k.empty {
		return nil, "", nil
	}
	list := []credential.Key{liveKey(k.title)}
	if which == credential.EndedKeys {
		past := liveKey("Last year's server")
		past.ExpiresAt = noon.Add(-time.Hour)
		list = []credential.Key{endedKey(), past}
	}
	next, err := k.turn(p)
	return list, next, cmp.Or(err, k.failing(ctx))
}

func liveKey(name string) credential.Key {
	return credential.Key{
		ID:        keyID,
		Name:      name,
		Public:    "0123456789ABCDEF",
		Scopes:    []credential.Scope{credential.Publish, credential.Read},
		CreatedAt: noon,
	}
}

func endedKey() credential.Key {
	k := liveKey("Old laptop")
	k.ID, k.RevokedAt = endedKeyID, noon
	return k
}

func (k keyring) Key(ctx context.Context, _ credential.Actor, key id.Key) (credential.Key, error) {
	switch key {
	case keyID:
		return liveKey(k.title), k.failing(ctx)
	case endedKeyID:
		return endedKey(), k.failing(ctx)
	}
	return credential.Key{}, fault.New(fault.NotFound, "no such key")
}

func (k keyring) Revoke(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record, key id.Key,
) (credential.Key, error) {
	k.commands = append(k.commands, c)
	return credential.Key{}, k.called(ctx, "Revoke "+string(key))
}

type accounts struct{ numbers *limits.Limits }

func (a accounts) Workspace(by credential.Actor, m member.Member) contract.WebWorkspace {
	return contract.WebWorkspace{
		Workspace: by.Workspace.Summary(), WorkspaceMember: m.Summary(), UsagePolicy: workspace.UsagePolicy(a.numbers, by.Workspace.Tier(), nil),
	}
}

func (a accounts) Policy(_ context.Context, by credential.Actor) contract.UsagePolicy {
	return workspace.UsagePolicy(a.numbers, by.Workspace.Tier(), new(7))
}

type counter struct{ *house }

func (c counter) Actor(_ context.Context, w id.Workspace, subject string) error {
	c.calling.Lock()
	defer c.calling.Unlock()
	c.counted = append(c.counted, string(w)+" "+subject)
	return c.tooMany
}

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
