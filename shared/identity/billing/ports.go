package billing

import (
	"context"
	"errors"
	"time"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
)

// Store keeps the accounts.
type Store interface {
	// Account reads strongly what is stored of a workspace, which need not exist.
	Account(ctx context.Context, w id.Workspace) (Account, error)
	// Plan reads strongly the plan that a workspace has. Errors: ErrNoWorkspace.
	Plan(ctx context.Context, w id.Workspace) (workspace.Plan, error)
	// Holder reads strongly which workspace a customer belongs to; empty if none.
	Holder(ctx context.Context, c CustomerID) (id.Workspace, error)
	// Update stores an account, the plan of its workspace and what belongs to the change in one transaction. Errors:
	// *idempotency.AlreadyDone, ErrMoved, ErrNoWorkspace, ErrReceiptLost, database_unavailable.
	Update(ctx context.Context, u Update) error
}

// Errors of a Store.
var (
	// ErrMoved means that the account changed since it was read: read it and ask the provider again.
	ErrMoved = errors.New("the billing account changed meanwhile")
	// ErrNoWorkspace means that there is no such workspace.
	ErrNoWorkspace = errors.New("no such workspace")
	// ErrReceiptLost means that another delivery of the event took over.
	ErrReceiptLost = errors.New("another delivery of the event took over")
)

// Update is everything that a change of an account writes.
type Update struct {
	Account Account // as it is stored from now on, with the Version that was read
	Plan    workspace.Plan
	At      time.Time
	Event   *event.Event // nil: the plan stays
	Receipt *Receipt     // of the provider's event; nil: there is none
	Command *Command     // of an operator; nil: there is none
}

// Command is the command of an operator with its result.
type Command struct {
	idempotency.Command
	Result []byte
}

// Receipt is the claim of one delivery on an event.
type Receipt struct {
	Event EventID
	Owner string
	At    time.Time
}

// Ledger knows which events of the provider have been processed.
type Ledger interface {
	// Claim takes an event for limits.BillingLease. done reports that it was processed before. Errors:
	// database_unavailable, also while another delivery holds the event.
	Claim(ctx context.Context, r Receipt) (done bool, err error)
	// Finish records that an event has no effect. Errors: ErrReceiptLost, database_unavailable.
	Finish(ctx context.Context, r Receipt) error
	// Release gives an event up, so that the next delivery need not wait for the lease.
	Release(ctx context.Context, r Receipt) error
}

// Cashier opens pages of the payment provider and reads what a customer was charged.
type Cashier interface {
	// Customer makes the customer of a workspace. For a day a repetition returns the same one. Errors: as Checkout.
	Customer(ctx context.Context, w id.Workspace) (CustomerID, error)
	// Checkout opens a checkout and returns the URL of its page. Errors: invalid_idempotency_key, idempotency_in_flight,
	// database_unavailable.
	Checkout(ctx context.Context, c Checkout) (string, error)
	// Session reads a checkout, nil if there is none.
	Session(ctx context.Context, s SessionID) (*Session, error)
	// Portal opens the page where a customer manages subscriptions, and returns its URL.
	Portal(ctx context.Context, c CustomerID, back string) (string, error)
	// Invoices lists up to limit invoices of a customer, in the order of the provider.
	Invoices(ctx context.Context, c CustomerID, limit int) ([]Invoice, error)
}

// Invoice is an invoice. Its number is no part of the wire form, because clients refuse what they do not know.
type Invoice struct {
	contract.Invoice
	Number string // that the customer sees; empty: it has none yet
}

// Subscriptions reads subscriptions at the provider, and ends them.
type Subscriptions interface {
	// Subscription reads one, nil if there is none.
	Subscription(ctx context.Context, s SubscriptionID) (*Subscription, error)
	// Of reads those of a customer, ended ones included.
	Of(ctx context.Context, c CustomerID) ([]Subscription, error)
	// Cancel ends one at once. It does not fail for one that has ended.
	Cancel(ctx context.Context, s SubscriptionID) error
	// List reads a page of those of all customers, ended ones included, after one of them. more reports whether others
	// follow.
	List(ctx context.Context, after SubscriptionID) (page []Subscription, more bool, err error)
}

// Events reads what the provider sends.
type Events interface {
	// Read verifies the signature of an event. Errors: invalid_request.
	Read(payload []byte, signature string) (Notice, error)
}

// Notice is what counts of an event. The rest of it is asked for, because an event may be old.
type Notice struct {
	ID           EventID
	Subscription SubscriptionID // empty: the event is about something else
}

// Checkout is what a checkout is opened for.
type Checkout struct {
	Workspace id.Workspace
	Customer  CustomerID // that pays
	Interval  Interval
	Key       string // makes a repetition return the first page
	Success   string // where the page leads to; {CHECKOUT_SESSION_ID} stands for the session
	Cancel    string
}

// Session is a checkout.
type Session struct {
	Workspace id.Workspace
	Customer  CustomerID // empty: it was opened without one and is not complete
}
