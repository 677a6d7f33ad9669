package dynamo

import (
	"cmp"
	"context"

	"vitrine/shared/identity/billing"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Billing stores what workspaces pay, and which events of the payment provider have been processed.
type Billing struct{ *db }

var (
	_ billing.Store  = Billing{}
	_ billing.Ledger = Billing{}
)

func billingFields(f fields, a *billing.Account) {
	text(f, "customer", &a.Customer)
	text(f, "subscription", &a.Subscription)
	text(f, "status", &a.Status)
	f.time("period_end", &a.PeriodEnd)
	f.time("ends_at", &a.EndsAt)
	text(f, "interval", &a.Interval)
	text(f, "override", &a.Override)
	integer(f, "version", &a.Version)
	f.time("closed", &a.ClosedAt)
}

// Account implements billing.Store.
func (s Billing) Account(ctx context.Context, w id.Workspace) (billing.Account, error) {
	a := billing.Account{Workspace: w}
	i, err := s.get(ctx, billingKey(w))
	decode(i, &a, billingFields)
	return a, err
}

// Plan implements billing.Store.
func (s Billing) Plan(ctx context.Context, w id.Workspace) (workspace.Plan, error) {
	i, err := s.get(ctx, workspaceKey(w))
	found := readWorkspace(i, w)
	switch {
	case err != nil:
		return "", err
	case found == nil:
		return "", billing.ErrNoWorkspace
	}
	return cmp.Or(found.Plan, workspace.FreePlan), nil
}

// Holder implements billing.Store.
func (s Billing) Holder(ctx context.Context, c billing.CustomerID) (id.Workspace, error) {
	i, err := s.get(ctx, customerKey(c))
	return id.Workspace(i.getStr("ws")), err
}

// Update implements billing.Store. It writes the plan on the workspace too, where every request reads it.
func (s Billing) Update(ctx context.Context, u billing.Update) error {
	t, a := s.begin(), u.Account
	if c := u.Command; c != nil {
		t.finish(c.Command, c.Result, u.At)
	}
	t.setPlan(a.Workspace, u.Plan)
	condition, v := "attribute_not_exists(#pk)", values(nil)
	if a.Version > 0 {
		condition, v = "#version = :was", values{"was": a.Version}
	}
	a.Version++
	t.put(encode(billingKey(a.Workspace), &a, billingFields), condition, v, billingMoved)
	if a.Customer != "" {
		t.put(newItem(customerKey(a.Customer)).str("ws", string(a.Workspace)),
			"attribute_not_exists(#pk) OR #ws = :ws", values{"ws": string(a.Workspace)}, billingMoved)
	}
	if u.Event != nil {
		t.record(*u.Event)
	}
	if r := u.Receipt; r != nil {
		t.update(billingEventKey(r.Event), finishEvent, ownEvent, ownerOf(*r), receiptLost)
	}
	return s.commit(ctx, t)
}

// setPlan writes the plan of a workspace, even of a locked one.
func (t *transaction) setPlan(w id.Workspace, p workspace.Plan) {
	t.update(workspaceKey(w), "SET #plan = :plan", "attribute_exists(#pk)", values{"plan": string(p)},
		func(item) error { return billing.ErrNoWorkspace })
}

func billingMoved(item) error { return billing.ErrMoved }

func receiptLost(item) error { return billing.ErrReceiptLost }

// The states of an event. A delivery owns an event until it finishes it, or until its lease is over and another
// delivery takes it.
const (
	ownEvent    = "#owner = :owner"
	finishEvent = "SET #state = :done REMOVE #lease, #owner"
)

// billingMemory is how long a processed event is known.
const billingMemory = 30 * limits.Day

func ownerOf(r billing.Receipt) values { return values{"owner": r.Owner, "done": done} }

// Claim implements billing.Ledger.
func (s Billing) Claim(ctx context.Context, r billing.Receipt) (bool, error) {
	old, claimed, err := s.change(ctx, billingEventKey(r.Event), "SET #owner = :owner, #lease = :lease, #ttl = :ttl",
		"attribute_not_exists(#pk) OR #ttl < :seconds OR #lease < :now",
		values{
			"owner":   r.Owner,
			"lease":   r.At.Add(limits.BillingLease),
			"ttl":     r.At.Add(billingMemory).Unix(),
			"seconds": r.At.Unix(),
			"now":     r.At,
		})
	if err != nil || claimed {
		return false, err
	}
	if old.getStr("state") == done {
		return true, nil
	}
	return false, fault.New(fault.DatabaseUnavailable, "another delivery of this event is being processed")
}

// Finish implements billing.Ledger.
func (s Billing) Finish(ctx context.Context, r billing.Receipt) error {
	_, held, err := s.change(ctx, billingEventKey(r.Event), finishEvent, ownEvent, ownerOf(r))
	if err == nil && !held {
		err = billing.ErrReceiptLost
	}
	return err
}

// Release implements billing.Ledger.
func (s Billing) Release(ctx context.Context, r billing.Receipt) error {
	_, err := s.deleteIf(ctx, s.tables.Core, billingEventKey(r.Event), ownEvent, values{"owner": r.Owner})
	return err
}
