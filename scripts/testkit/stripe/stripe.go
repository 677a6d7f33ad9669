// Package stripe is a stand-in for Stripe on this machine: it keeps customers, checkouts, subscriptions and invoices in
// memory, shows the pages of checkout and portal, and signs events. It speaks as much of Stripe's API as the service
// asks. What it cannot show is how long Stripe takes, how it taxes, asks for 3-D Secure and repeats events.
package stripe

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// What the service has to be told of the account.
const (
	Key     = "sk_test_standin"
	Secret  = "whsec_standin"
	Monthly = "price_month"
	Yearly  = "price_year"
)

// Standin is the account. It is an http.Handler for API and pages.
type Standin struct {
	mux  *http.ServeMux
	mock *mock // validates what the service sends; nil: it is not validated

	mu        sync.Mutex
	url       string // of the stand-in itself
	now       time.Time
	serial    int
	broken    bool
	customers []string
	sessions  map[string]*session
	subs      map[string]*subscription
	invoices  []invoice // newest first
	repeated  map[string]repeated
	events    []Event
	made      []Event // all of them
	answers   []Answer
}

// Answer is what the stand-in answered to a request of the API.
type Answer struct {
	Route  string // method and pattern
	Status int
	Body   []byte
}

// session is a checkout.
type session struct {
	id, customer, subscription string
	made                       time.Time
	asked                      map[string]string // the form that opened it
}

// subscription is one subscription.
type subscription struct {
	id, customer, workspace string
	status, price           string
	made, end               time.Time
	ends                    bool // with its period
}

// invoice is one invoice.
type invoice struct {
	id, customer string
	at           time.Time
	amount       int
}

// Event is a signed event.
type Event struct {
	ID, Type, Subscription string
	Payload                []byte
}

// New returns an empty account whose clock shows an instant. At mockURL stripe-mock answers, which then validates
// every request; empty: none.
func New(now time.Time, mockURL string) *Standin {
	s := &Standin{
		mux:      http.NewServeMux(),
		now:      now.UTC().Truncate(time.Second),
		sessions: map[string]*session{},
		subs:     map[string]*subscription{},
		repeated: map[string]repeated{},
	}
	if mockURL != "" {
		s.mock = &mock{url: mockURL}
	}
	s.serveAPI()
	s.servePages()
	return s
}

// ServeHTTP implements http.Handler.
func (s *Standin) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// At tells the stand-in its own URL, which the pages have.
func (s *Standin) At(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.url = url
}

// Break makes the API answer 500 until it is called with false.
func (s *Standin) Break(broken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.broken = broken
}

// Refused returns the requests that stripe-mock refused, and how many it validated.
func (s *Standin) Refused() (refused []string, validated int) {
	if s.mock == nil {
		return nil, 0
	}
	s.mock.mu.Lock()
	defer s.mock.mu.Unlock()
	return slices.Clone(s.mock.refused), s.mock.validated
}

// name makes an id.
func (s *Standin) name(prefix string) string {
	s.serial++
	return prefix + "_" + fmt.Sprintf("%014d", s.serial)
}

// Pay completes a checkout as a customer does, and returns the subscription.
func (s *Standin) Pay(sessionID string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pay(sessionID)
}

func (s *Standin) pay(sessionID string) string {
	c := s.sessions[sessionID]
	if c == nil || c.subscription != "" {
		return ""
	}
	if c.customer == "" {
		c.customer = s.name("cus")
	}
	workspace := c.asked["subscription_data[metadata][workspace_id]"]
	sub := s.begin(c.customer, workspace, "active", c.asked["line_items[0][price]"])
	c.subscription = sub.id
	s.charge(sub)
	s.tell("customer.subscription.created", sub)
	return sub.id
}

// begin makes a subscription.
func (s *Standin) begin(customer, workspace, status, price string) *subscription {
	x := &subscription{
		id:        s.name("sub"),
		customer:  customer,
		workspace: workspace,
		status:    status,
		price:     price,
		made:      s.now,
	}
	x.end = x.period(s.now)
	s.subs[x.id] = x
	return x
}

// period returns the end of a period that begins at an instant.
func (s *subscription) period(at time.Time) time.Time {
	if s.price == Yearly {
		return at.AddDate(1, 0, 0)
	}
	return at.AddDate(0, 1, 0)
}

// begin returns the beginning of the period.
func (s *subscription) begin() time.Time {
	if s.price == Yearly {
		return s.end.AddDate(-1, 0, 0)
	}
	return s.end.AddDate(0, -1, 0)
}

func (s *Standin) charge(x *subscription) {
	s.invoices = slices.Insert(s.invoices, 0, invoice{
		id:       s.name("in"),
		customer: x.customer,
		at:       s.now,
		amount:   cents(x.price),
	})
}

// Subscribe makes a subscription without a checkout, as a person does in Stripe's dashboard.
func (s *Standin) Subscribe(customer, workspace, status string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.begin(customer, workspace, status, Monthly)
	s.tell("customer.subscription.created", x)
	return x.id
}

// Status returns the status of a subscription.
func (s *Standin) Status(sub string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.subs[sub].status
}

// Customer returns the customer of a subscription.
func (s *Standin) Customer(sub string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.subs[sub].customer
}

// Become gives a subscription another status.
func (s *Standin) Become(sub, status string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.subs[sub]
	x.status = status
	s.tell(changed(status), x)
}

// changed is the type of the event of a new status.
func changed(status string) string {
	switch status {
	case "canceled", "incomplete_expired":
		return "customer.subscription.deleted"
	case "paused":
		return "customer.subscription.paused"
	default:
		return "customer.subscription.updated"
	}
}

// Cancel lets a subscription end with its period, as the portal does.
func (s *Standin) Cancel(sub string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cancel(sub)
}

func (s *Standin) cancel(sub string) {
	x := s.subs[sub]
	x.ends = true
	s.tell("customer.subscription.updated", x)
}

// Advance moves the clock. Periods that are over then are renewed, or end with their subscription.
func (s *Standin) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
	for _, x := range s.subs {
		if x.status != "active" {
			continue
		}
		if x.ends && !x.end.After(s.now) {
			x.status = "canceled"
			s.tell("customer.subscription.deleted", x)
			continue
		}
		for !x.end.After(s.now) {
			x.end = x.period(x.end)
			s.charge(x)
			s.tell("customer.subscription.updated", x)
		}
	}
}

// dollars is an amount as pages show it.
func dollars(cents int) string { return "$" + strconv.Itoa(cents/100) }
