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

// Store stores accounts. Its reads are strongly consistent.
type Store interface {
	// Account reads the account of a workspace. It returns a zero one for a workspace without an account, which need not
	// exist.
	Account(ctx context.Context, w id.Workspace) (Account, error)
	// Plan reads the plan that a workspace has. Errors: ErrNoWorkspace.
	Plan(ctx context.Context, w id.Workspace) (workspace.Plan, error)
	// Holder reads the workspace of a customer; empty: the customer has none.
	Holder(ctx context.Context, c CustomerID) (id.Workspace, error)
	// Update stores an account, the plan of its workspace, and the event, receipt and command of the change in one
	// transaction. Errors: *idempotency.AlreadyDone, ErrMoved, ErrNoWorkspace, ErrReceiptLost, database_unavailable.
	Update(ctx context.Context, u Update) error
}

// Errors of a Store.
var (
	// ErrMoved reports that the account changed since it was read. The caller reads it and asks the provider again.
	ErrMoved = errors.New("the billing account changed meanwhile")
	// ErrNoWorkspace reports that there is no such workspace.
	ErrNoWorkspace = errors.New("no such workspace")
	// ErrReceiptLost reports that another delivery of the event took over.
	ErrReceiptLost = errors.New("another delivery of the event took over")
)

// Update is everything that a change of an account writes.
type Update struct {
	Account Account // the new state, with the Version that was read
	Plan    workspace.Plan
	At      time.Time
	Event   *event.Event // nil: the plan stays
	Receipt *Receipt     // of the provider's event; nil: no event caused the change
	Command *Command     // of an operator; nil: no operator caused the change
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

// Ledger records which events of the provider have been processed.
type Ledger interface {
	// Claim takes an event for limits.BillingLease. done reports that it was processed before. Errors:
	// database_unavailable, also while another delivery holds the event.
	Claim(ctx context.Context, r Receipt) (done bool, err error)
	// Finish records an event without an effect as processed. Errors: ErrReceiptLost, database_unavailable.
	Finish(ctx context.Context, r Receipt) error
	// Release gives up a claim, so that the next delivery need not wait for the end of the lease.
	Release(ctx context.Context, r Receipt) error
}

// Cashier opens pages of the payment provider and reads the invoices of a customer.
type Cashier interface {
	// Customer makes the customer of a workspace. A repetition within a day returns the same customer. Errors: those of
	// Checkout.
	Customer(ctx context.Context, w id.Workspace) (CustomerID, error)
	// Checkout opens a checkout and returns the URL of its page. Errors: invalid_idempotency_key, idempotency_in_flight,
	// database_unavailable.
	Checkout(ctx context.Context, c Checkout) (string, error)
	// Session reads a checkout. It returns nil if there is none.
	Session(ctx context.Context, s SessionID) (*Session, error)
	// Portal opens the page where a customer manages subscriptions, and returns its URL.
	Portal(ctx context.Context, c CustomerID, back string) (string, error)
	// Invoices lists up to limit invoices of a customer, in the order of the provider.
	Invoices(ctx context.Context, c CustomerID, limit int) ([]Invoice, error)
}

// Invoice is an invoice. Its number is not in the wire form, because existing clients refuse unknown members.
type Invoice struct {
	contract.Invoice
	Number string // the number that the customer sees; empty: none yet
}

// Subscriptions reads and ends subscriptions at the provider.
type Subscriptions interface {
	// Subscription reads a subscription. It returns nil if there is none.
	Subscription(ctx context.Context, s SubscriptionID) (*Subscription, error)
	// Of reads the subscriptions of a customer, including ended ones.
	Of(ctx context.Context, c CustomerID) ([]Subscription, error)
	// Cancel ends a subscription at once. It does not fail for one that has ended.
	Cancel(ctx context.Context, s SubscriptionID) error
	// List reads a page of the subscriptions of all customers, including ended ones, after a subscription. more reports
	// whether others follow.
	List(ctx context.Context, after SubscriptionID) (page []Subscription, more bool, err error)
}

// Events reads events that the provider sends.
type Events interface {
	// Read verifies the signature of an event. Errors: invalid_request.
	Read(payload []byte, signature string) (Notice, error)
}

// Notice is the part of an event that the service uses. It asks the provider for everything else, because an event may
// be old.
type Notice struct {
	ID           EventID
	Subscription SubscriptionID // empty: the event is about something else
}

// Checkout describes a checkout to open.
type Checkout struct {
	Workspace id.Workspace
	Customer  CustomerID // the one who pays
	Interval  Interval
	Key       string // makes a repetition return the first page
	Success   string // where the page leads after payment; the provider replaces {CHECKOUT_SESSION_ID}
	Cancel    string
}

// Session is a checkout.
type Session struct {
	Workspace id.Workspace
	Customer  CustomerID // empty: the checkout was opened without one and is not complete
}
