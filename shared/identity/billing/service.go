package billing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/conflict"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

// Allowance counts what a workspace used of its daily allowance.
type Allowance interface {
	// ArtifactsToday counts the artifacts that a workspace first published on the UTC day of an instant.
	ArtifactsToday(ctx context.Context, w id.Workspace, day time.Time) (int, error)
}

// Service shows members their plan, opens the provider's pages for them, and follows their subscriptions.
type Service struct {
	Store         Store
	Ledger        Ledger
	Cashier       Cashier
	Subscriptions Subscriptions
	Events        Events
	Allowance     Allowance
	App           string // origin of the app host
	Limits        *limits.Limits
	Now           func() time.Time
}

// Account returns the stored account of the caller's workspace.
func (s *Service) Account(ctx context.Context, by credential.Actor) (Account, error) {
	return s.Store.Account(ctx, by.Workspace.ID)
}

// Status returns the plan of the caller's workspace.
func (s *Service) Status(ctx context.Context, by credential.Actor) (contract.BillingStatus, error) {
	a, err := s.Account(ctx, by)
	if err != nil {
		return contract.BillingStatus{}, err
	}
	return s.shown(ctx, a), nil
}

// shown returns the wire form of an account with what is left of the day. It omits the latter if the counter cannot be
// read.
func (s *Service) shown(ctx context.Context, a Account) contract.BillingStatus {
	var used *int
	if n, err := s.Allowance.ArtifactsToday(ctx, a.Workspace, s.Now()); err == nil {
		used = &n
	}
	return a.status(s.Limits, used)
}

// Invoices returns the latest invoices of the caller's workspace.
// maxInvoices is how many invoices a workspace is shown.
const maxInvoices = 12

func (s *Service) Invoices(ctx context.Context, by credential.Actor) ([]Invoice, error) {
	a, err := s.Account(ctx, by)
	if err != nil || a.Customer == "" {
		return nil, err
	}
	return s.Cashier.Invoices(ctx, a.Customer, maxInvoices)
}

// Checkout opens the page where the caller subscribes the workspace. It refuses a workspace whose subscription gives
// the larger plan, because the workspace would pay twice.
func (s *Service) Checkout(
	ctx context.Context, by credential.Actor, c idempotency.Command, i Interval,
) (contract.PageURL, error) {
	if err := by.Require(credential.Admin); err != nil {
		return contract.PageURL{}, err
	}
	a, err := s.payer(ctx, by.Workspace.ID)
	if err != nil {
		return contract.PageURL{}, err
	}
	url, err := s.Cashier.Checkout(ctx, Checkout{
		Workspace: a.Workspace,
		Customer:  a.Customer,
		Interval:  i,
		Key:       checkoutKey(a.Workspace, c),
		Success:   s.App + "/billing?status=success&session_id={CHECKOUT_SESSION_ID}",
		Cancel:    s.App + "/billing?status=cancelled",
	})
	return contract.PageURL{URL: url}, err
}

// payer returns the account of a workspace that may subscribe, with its customer. It stores the customer before a
// checkout opens, so that all checkouts of the workspace share one customer. A process that dies in between leaves a
// customer at the provider. The next checkout gets the same customer within a day; later the old one stays unused.
func (s *Service) payer(ctx context.Context, w id.Workspace) (Account, error) {
	return conflict.Retry(races, func() (Account, error) {
		a, err := s.Store.Account(ctx, w)
		switch {
		case err != nil:
			return a, err
		case a.Subscribed():
			return a, fault.New(fault.InvalidRequest,
				"this workspace has a subscription; change it on the page that billing.portal.create opens")
		case a.Customer != "":
			return a, nil
		}
		if a.Customer, err = s.Cashier.Customer(ctx, w); err != nil {
			return a, err
		}
		return a, s.Store.Update(ctx, Update{Account: a, Plan: a.Plan(), At: s.Now().UTC().Truncate(time.Millisecond)})
	})
}

// checkoutKey returns the provider's idempotency key of a command. It hashes everything that distinguishes the command,
// because all workspaces share the provider's keys.
func checkoutKey(w id.Workspace, c idempotency.Command) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(w), c.Key.Actor, string(c.Key.Operation), c.Key.Client}, "\n")))
	return hex.EncodeToString(sum[:])
}

// Portal opens the page where the caller manages the subscription.
func (s *Service) Portal(ctx context.Context, by credential.Actor) (contract.PageURL, error) {
	if err := by.Require(credential.Admin); err != nil {
		return contract.PageURL{}, err
	}
	a, err := s.Store.Account(ctx, by.Workspace.ID)
	if err != nil {
		return contract.PageURL{}, err
	}
	if a.Customer == "" {
		return contract.PageURL{}, fault.New(fault.NotFound, "this workspace has never been to the checkout")
	}
	url, err := s.Cashier.Portal(ctx, a.Customer, s.App+"/billing")
	return contract.PageURL{URL: url}, err
}

// Return updates the plan when the caller comes back from a checkout. A checkout of another workspace has no effect.
func (s *Service) Return(ctx context.Context, by credential.Actor, asked SessionID) (contract.BillingStatus, error) {
	if asked == "" {
		return contract.BillingStatus{}, fault.New(fault.InvalidRequest, "session_id is missing")
	}
	found, err := s.Cashier.Session(ctx, asked)
	if err != nil {
		return contract.BillingStatus{}, err
	}
	w := by.Workspace.ID
	if found == nil || found.Workspace != w || found.Customer == "" {
		return s.Status(ctx, by)
	}
	a, err := s.sync(ctx, change{
		workspace: w,
		customer:  found.Customer,
		requestID: by.RequestID,
	})
	if err != nil {
		return contract.BillingStatus{}, err
	}
	return s.shown(ctx, a), nil
}

// races bounds optimistic retries. Every lost attempt means that another change of the account succeeded.
var races = conflict.Policy{Lost: ErrMoved, Attempts: 4, Exhausted: func() error {
	return fault.New(fault.DatabaseUnavailable, "the billing account keeps changing; repeat the request in a moment")
}}

// change is the reason for which an account is brought in step with the provider.
type change struct {
	workspace id.Workspace
	customer  CustomerID
	receipt   *Receipt
	requestID string
}

// sync brings an account in step with the provider. It reads the account before it asks the provider. A commit on that
// version therefore uses an answer that is newer than every earlier change.
//
// A workspace that paid for two checkouts keeps the subscription that counts. sync cancels the others before the
// commit, because the provider repeats a failed event and the cancellation with it.
func (s *Service) sync(ctx context.Context, c change) (Account, error) {
	var ended []string // over all attempts, so that the event names what a lost attempt cancelled
	return conflict.Retry(races, func() (Account, error) {
		was, err := s.Store.Account(ctx, c.workspace)
		if err != nil {
			return was, err
		}
		found, err := s.candidates(ctx, was, c.customer)
		if err != nil {
			return was, err
		}
		if was.Customer == "" {
			was.Customer = c.customer
		}
		is := was.follow(found)
		for _, x := range found {
			if !is.doubled(x) {
				continue
			}
			if err := s.Subscriptions.Cancel(ctx, x.ID); err != nil {
				return was, err
			}
			ended = append(ended, string(x.ID))
		}
		now := s.Now().UTC().Truncate(time.Millisecond)
		u := Update{Account: is, Plan: is.Plan(), At: now, Receipt: c.receipt}
		if is.Plan() != was.Plan() || len(ended) > 0 {
			u.Event = planned(is, now, event.BySystem(), c.requestID)
		}
		if len(ended) > 0 {
			u.Event.Detail += "; cancelled as paid twice: " + strings.Join(ended, ", ")
		}
		return is, s.Store.Update(ctx, u)
	})
}

// candidates returns the subscriptions that may count for an account: those of its customer and those of c, unless they
// were made for another workspace.
func (s *Service) candidates(ctx context.Context, a Account, c CustomerID) ([]Subscription, error) {
	var all []Subscription
	customers := []CustomerID{c, a.Customer}
	for _, customer := range slices.Compact(customers) {
		if customer == "" {
			continue
		}
		found, err := s.Subscriptions.Of(ctx, customer)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return slices.DeleteFunc(all, func(x Subscription) bool { return x.Workspace != "" && x.Workspace != a.Workspace }), nil
}

// planned returns the event of a change of the plan.
func planned(a Account, at time.Time, by event.Actor, requestID string) *event.Event {
	why := "there is no subscription"
	switch {
	case a.Override != "":
		why = "an operator chose it"
	case a.Subscription != "":
		why = "the subscription is " + strings.ReplaceAll(string(a.Status), "_", " ")
	}
	return &event.Event{
		ID:        id.NewEvent(),
		Workspace: a.Workspace,
		At:        at,
		Action:    event.PlanUpdated,
		Actor:     by,
		Target:    event.Target{Type: event.OnWorkspace, ID: string(a.Workspace)},
		Detail:    string(a.Plan()) + ", because " + why,
		RequestID: requestID,
	}
}
