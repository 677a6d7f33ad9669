package pages

import (
	"html/template"
	"time"
)

// Billing shows the plan of a workspace, what is paid for it, and what the larger one gives.
type Billing struct {
	Layout
	Pro       bool
	Given     bool      // an operator chose the plan, also against the subscription
	Standing  *Standing // of the subscription; nil: there is none
	Outcome   *Standing // of the checkout that the browser comes from; nil: it comes from none
	Manages   bool      // the member may buy and change it
	Customer  bool      // the workspace has paid before
	Offers    bool      // it can be upgraded
	Left      *int      // new artifacts that may be published today; nil: not known
	PerDay    int
	Free      Limits
	Larger    Limits
	OnceMonth string
	OnceYear  string
	Invoices  []Invoice
	Unread    bool // the invoices could not be read
}

// Standing describes a subscription, or the outcome of a checkout.
type Standing struct {
	Name    string // short
	Badge   string // class of the badge
	Text    string
	Paid    string    // how often it is paid; empty: not known
	When    string    // what happens at At
	At      time.Time // zero: no date
	Trouble bool
	Reload  bool // the page is worth loading again
}

// Invoice is a row of the list of invoices.
type Invoice struct {
	Number, Amount, Status, About string
	At                            time.Time // zero: not known
	URL                           string    // of the provider's page or file; empty: there is none
}

// Depart sends the browser to a page of the payment provider, because a redirect after a form is blocked by the
// form-action policy.
type Depart struct {
	Layout
	Heading, Text, Host string
	To                  template.URL
}

func (Billing) template() string { return "billing.html" }
func (Depart) template() string  { return "depart.html" }
