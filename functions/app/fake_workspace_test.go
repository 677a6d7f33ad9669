package app

import (
	"cmp"
	"context"
	"strings"
	"time"

	"vitrine/shared/identity/account"
	"vitrine/shared/identity/billing"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/export"
)

type fakeKeys struct {
	*fakeServices
	CreateFn func() error // nil: there is room for another key
}

func (f *fakeKeys) Create(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record, name string, _ time.Duration,
) (credential.Created, error) {
	err := f.commanded(ctx, c, "Create "+name)
	switch {
	case err != nil:
		return credential.Created{}, err
	case name == "":
		return credential.Created{}, fault.New(fault.InvalidRequest, "name must have 1 to 120 characters")
	case f.CreateFn != nil:
		return credential.Created{}, f.CreateFn()
	}
	return credential.Created{Key: liveKey(name), Secret: "ap_pk_preview_0123456789ABCDEF_" + strings.Repeat("s", 71)}, nil
}

func (f *fakeKeys) List(
	ctx context.Context, _ credential.Actor, which credential.Which, p cursor.Page,
) ([]credential.Key, string, error) {
	if f.empty {
		return nil, "", nil
	}
	list := []credential.Key{liveKey(f.title)}
	if which == credential.EndedKeys {
		past := liveKey("Last year's server")
		past.ExpiresAt = noon.Add(-time.Hour)
		list = []credential.Key{endedKey(), past}
	}
	next, err := f.turn(ctx, p.Cursor)
	return list, next, err
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

func (f *fakeKeys) Key(ctx context.Context, _ credential.Actor, key id.Key) (credential.Key, error) {
	switch key {
	case keyID:
		return liveKey(f.title), f.failing(ctx)
	case endedKeyID:
		return endedKey(), f.failing(ctx)
	}
	return credential.Key{}, fault.New(fault.NotFound, "no such key")
}

func (f *fakeKeys) Revoke(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record, key id.Key,
) (credential.Key, error) {
	return credential.Key{}, f.commanded(ctx, c, "Revoke "+string(key))
}

// fakeAccount keeps settings by the rules of the core.
type fakeAccount struct{ *fakeServices }

func (f fakeAccount) Workspace(by credential.Actor, m member.Member) contract.WebWorkspace {
	return contract.WebWorkspace{
		Workspace:       by.Workspace.Summary(),
		WorkspaceMember: m.Summary(),
		UsagePolicy:     workspace.UsagePolicy(&f.numbers, by.Workspace.Tier(), nil),
	}
}

func (f fakeAccount) Policy(_ context.Context, by credential.Actor) contract.UsagePolicy {
	return workspace.UsagePolicy(&f.numbers, by.Workspace.Tier(), new(7))
}

func (f fakeAccount) Settings(by credential.Actor) (contract.Settings, error) {
	return (&account.Service{}).Settings(by)
}

func (f fakeAccount) UpdateSettings(
	ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record, asked contract.UpdateSettings,
) (contract.Settings, error) {
	f.commands = append(f.commands, c)
	core := account.Service{Workspaces: settingsStore{fakeServices: f.fakeServices}, Now: func() time.Time { return noon }}
	return core.UpdateSettings(ctx, by, c, r, asked)
}

// settingsStore keeps settings for those who look again.
type settingsStore struct {
	account.Workspaces
	*fakeServices
}

func (s settingsStore) UpdateSettings(ctx context.Context, u account.SettingsUpdate) error {
	if err := s.changed(ctx, "UpdateSettings "+u.Name); err != nil {
		return err
	}
	s.actor.Workspace.Name, s.actor.Workspace.AutoDays = u.Name, u.AutoDays
	return nil
}

func (f fakeAccount) Story(ctx context.Context, _ credential.Actor, p account.Page) ([]event.Event, string, error) {
	if err := f.called(ctx, "Audit "+p.Cursor); err != nil {
		return nil, "", err
	}
	next, err := f.turn(ctx, p.Cursor)
	if f.empty {
		return nil, next, err
	}
	row := func(action event.Action, by event.Actor, kind, target, detail string) event.Event {
		return event.Event{
			At:        noon,
			Action:    action,
			Actor:     by,
			Target:    event.Target{Type: kind, ID: target},
			Detail:    detail,
			RequestID: "request-17",
		}
	}
	published := row(event.ArtifactPublished, event.ByKey(keyID), event.OnRevision, oldID, "Tides: high and low")
	published.Artifact, published.Number = artifactID, 3
	return []event.Event{
		row(event.ArtifactRenamed, event.ByMember(memberID), event.OnArtifact, artifactID, f.title),
		published,
		row(event.SettingsUpdated, event.ByMember("mem_01J8Z0T7Q1W2E3R4T5Y6V7X8ZA"), event.OnWorkspace, string(homeID),
			"name is now \"Harbour\""),
		row("something.newer", event.ByKey("key_01J8Z0T7Q1W2E3R4T5Y6V7X8ZB"), "something", "new", ""),
		row(event.DelegationCreated, event.BySystem(), event.OnDelegation, "d", "claude.example"),
		row(event.KeyCreated, event.ByMember(memberID), event.OnKey, keyID, f.title),
	}, next, err
}

type fakeLimiter struct {
	*fakeServices
	ActorFn func() error // nil: nobody comes too often
	counted []string
}

func (f *fakeLimiter) Actor(_ context.Context, w id.Workspace, subject string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counted = append(f.counted, string(w)+" "+subject)
	if f.ActorFn != nil {
		return f.ActorFn()
	}
	return nil
}

type fakeExports struct {
	*fakeServices
	newest *export.Export // nil: none was asked for
}

func (f *fakeExports) Request(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record,
) (export.Export, error) {
	return export.Export{Status: export.Pending}, f.commanded(ctx, c, "Export")
}

func (f *fakeExports) Find(ctx context.Context, _ credential.Actor) (*export.Export, error) {
	return f.newest, f.called(ctx, "Find export")
}

func (f *fakeExports) URL(by credential.Actor, of export.Export, volume int) (string, error) {
	if by.SignedInLately(noon) != nil {
		return "", nil
	}
	return "http://127.0.0.1:8703/x/" + of.FileName(volume), nil
}

type fakeBilling struct {
	*fakeServices
	ProviderFn func(context.Context) error // runs when the payment provider is asked; nil: it answers
	payURL     string                      // of its page
}

// ask is a request to the payment provider.
func (f *fakeBilling) ask(ctx context.Context) error {
	if f.ProviderFn == nil {
		return nil
	}
	return f.ProviderFn(ctx)
}

func (f *fakeBilling) Account(ctx context.Context, _ credential.Actor) (billing.Account, error) {
	a := f.billing
	a.Workspace = homeID
	return a, f.called(ctx, "Account")
}

func (f *fakeBilling) Invoices(ctx context.Context, _ credential.Actor) ([]billing.Invoice, error) {
	if err := cmp.Or(f.ask(ctx), f.called(ctx, "Invoices")); err != nil || f.billing.Customer == "" {
		return nil, err
	}
	at := contract.At(noon)
	return []billing.Invoice{
		{Number: "0A1B2C3D-0002", Invoice: contract.Invoice{
			ID:               "in_2",
			Created:          &at,
			AmountDue:        1200,
			Currency:         "usd",
			Status:           new("paid"),
			Description:      new(f.title),
			HostedInvoiceURL: new("https://invoice.stripe.test/i/2"),
			InvoicePDF:       new("https://invoice.stripe.test/i/2/pdf"),
		}},
		{Invoice: contract.Invoice{ID: "in_1", AmountDue: 900, Currency: "jpy"}},
	}, nil
}

func (f *fakeBilling) Checkout(
	ctx context.Context, by credential.Actor, c idempotency.Command, i billing.Interval,
) (contract.PageURL, error) {
	if err := by.Require(credential.Admin); err != nil {
		return contract.PageURL{}, err
	}
	return contract.PageURL{URL: f.payURL}, f.commanded(ctx, c, "Checkout "+string(i))
}

func (f *fakeBilling) Portal(ctx context.Context, by credential.Actor) (contract.PageURL, error) {
	err := cmp.Or(by.Require(credential.Admin), f.ask(ctx))
	if err == nil {
		err = f.changed(ctx, "Portal")
	}
	return contract.PageURL{URL: f.payURL}, err
}

func (f *fakeBilling) Return(
	ctx context.Context, _ credential.Actor, asked billing.SessionID,
) (contract.BillingStatus, error) {
	return contract.BillingStatus{}, cmp.Or(f.ask(ctx), f.called(ctx, "Return "+string(asked)))
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
