package stripe

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"time"
)

// object is a JSON object of the API.
type object map[string]any

// always are the members that objects of a kind have whatever happens.
//
//go:embed objects.json
var always []byte

// newObject returns an object of a kind, with these members beside those that it always has.
func newObject(kind, id string, made time.Time, members object) object {
	var kinds map[string]object
	if err := json.Unmarshal(always, &kinds); err != nil {
		panic(fmt.Sprintf("objects.json: %v", err))
	}
	out := kinds[kind]
	maps.Copy(out, object{"id": id, "object": kind, "created": made.Unix()})
	if kind != "subscription_item" {
		out["livemode"] = false
	}
	maps.Copy(out, members)
	return out
}

// list is a page of a list of the API.
func list(url string, more bool, rows ...any) object {
	return object{
		"object":   "list",
		"url":      url,
		"has_more": more,
		"data":     append([]any{}, rows...),
	}
}

func textOrNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func (s *Standin) sessionObject(c *session) object {
	paid, status := "unpaid", "open"
	if c.subscription != "" {
		paid, status = "paid", "complete"
	}
	return newObject("checkout.session", c.id, c.made, object{
		"url":                 s.url + "/pay/" + c.id,
		"customer":            textOrNull(c.customer),
		"subscription":        textOrNull(c.subscription),
		"metadata":            object{"workspace_id": c.asked["metadata[workspace_id]"]},
		"client_reference_id": textOrNull(c.asked["client_reference_id"]),
		"success_url":         textOrNull(c.asked["success_url"]),
		"cancel_url":          textOrNull(c.asked["cancel_url"]),
		"status":              status,
		"payment_status":      paid,
		"expires_at":          c.made.Add(sessionLife).Unix(),
	})
}

// sessionLife is how long a checkout can be paid, as Stripe has it by default.
const sessionLife = 24 * time.Hour

func (s *Standin) invoiceObject(i invoice) object {
	at := i.at.Unix()
	return newObject("invoice", i.id, i.at, object{
		"customer":           i.customer,
		"number":             "STANDIN-" + strings.TrimLeft(strings.TrimPrefix(i.id, "in_"), "0"),
		"hosted_invoice_url": s.url + "/invoice/" + i.id,
		"invoice_pdf":        s.url + "/invoice/" + i.id + "?pdf",
		"amount_due":         i.amount,
		"amount_paid":        i.amount,
		"subtotal":           i.amount,
		"total":              i.amount,
		"lines":              list("/v1/invoices/"+i.id+"/lines", false),
		"period_start":       at,
		"period_end":         at,
		"status_transitions": object{
			"finalized_at":            at,
			"marked_uncollectible_at": nil,
			"paid_at":                 at,
			"voided_at":               nil,
		},
	})
}

// object is a subscription as the API of 2025-03-31 and later shows it: the period is that of its item.
func (s *subscription) object() object {
	metadata := object{}
	if s.workspace != "" {
		metadata["workspace_id"] = s.workspace
	}
	var ends any
	if s.ends {
		ends = s.end.Unix()
	}
	item := newObject("subscription_item", "si_"+s.id, s.made, object{
		"subscription":         s.id,
		"current_period_start": s.begin().Unix(),
		"current_period_end":   s.end.Unix(),
		"price":                priceObject(s.price, s.made),
	})
	return newObject("subscription", s.id, s.made, object{
		"customer":             s.customer,
		"start_date":           s.made.Unix(),
		"billing_cycle_anchor": s.made.Unix(),
		"status":               s.status,
		"cancel_at":            ends,
		"cancel_at_period_end": s.ends,
		"metadata":             metadata,
		"items":                list("/v1/subscription_items", false, item),
	})
}

func priceObject(id string, made time.Time) object {
	interval := "month"
	if id == Yearly {
		interval = "year"
	}
	return newObject("price", id, made, object{
		"unit_amount": cents(id),
		"recurring": object{
			"interval":       interval,
			"interval_count": 1,
			"usage_type":     "licensed",
			"meter":          nil,
		},
	})
}

// cents is what a period costs.
func cents(price string) int {
	if price == Yearly {
		return 12000
	}
	return 1200
}
