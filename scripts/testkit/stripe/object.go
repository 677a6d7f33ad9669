package stripe

import (
	"strings"
	"time"
)

// object is a JSON object of the API.
type object map[string]any

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

// untaxed is what the stand-in says of taxes. Whether Stripe computes any is a setting of the account.
func untaxed() object {
	return object{
		"enabled":         false,
		"liability":       nil,
		"provider":        nil,
		"status":          nil,
		"disabled_reason": nil,
	}
}

// without leaves members out that an object of this kind does not have.
func (o object) without(names ...string) object {
	for _, name := range names {
		delete(o, name)
	}
	return o
}

// none are empty lists, which objects have a few of.
func none() []any { return []any{} }

func (s *Standin) sessionObject(c *session) object {
	paid, status := "unpaid", "open"
	if c.subscription != "" {
		paid, status = "paid", "complete"
	}
	return object{
		"id":                   c.id,
		"object":               "checkout.session",
		"mode":                 "subscription",
		"url":                  s.url + "/pay/" + c.id,
		"customer":             textOrNull(c.customer),
		"subscription":         textOrNull(c.subscription),
		"metadata":             object{"workspace_id": c.asked["metadata[workspace_id]"]},
		"client_reference_id":  textOrNull(c.asked["client_reference_id"]),
		"success_url":          textOrNull(c.asked["success_url"]),
		"cancel_url":           textOrNull(c.asked["cancel_url"]),
		"status":               status,
		"payment_status":       paid,
		"payment_method_types": []any{"card"},
		"created":              unix(c.made),
		"expires_at":           unix(c.made.Add(sessionLife)),
		"livemode":             false,
		"automatic_tax":        untaxed().without("disabled_reason"),
		"custom_fields":        none(),
		"custom_text": object{
			"after_submit":                nil,
			"shipping_address":            nil,
			"submit":                      nil,
			"terms_of_service_acceptance": nil,
		},
		"shipping_options": none(),
	}
}

// sessionLife is how long a checkout can be paid, as Stripe has it by default.
const sessionLife = 24 * time.Hour

func (s *Standin) invoiceObject(i invoice) object {
	lines := list("/v1/invoices/"+i.id+"/lines", false)
	at := unix(i.at)
	return object{
		"id":                               i.id,
		"object":                           "invoice",
		"created":                          at,
		"customer":                         i.customer,
		"currency":                         "usd",
		"status":                           "paid",
		"number":                           "STANDIN-" + strings.TrimLeft(strings.TrimPrefix(i.id, "in_"), "0"),
		"description":                      nil,
		"hosted_invoice_url":               s.url + "/invoice/" + i.id,
		"invoice_pdf":                      s.url + "/invoice/" + i.id + "?pdf",
		"amount_due":                       i.amount,
		"amount_paid":                      i.amount,
		"amount_remaining":                 0,
		"amount_overpaid":                  0,
		"amount_paid_off_stripe":           0,
		"amount_shipping":                  0,
		"subtotal":                         i.amount,
		"total":                            i.amount,
		"starting_balance":                 0,
		"post_payment_credit_notes_amount": 0,
		"pre_payment_credit_notes_amount":  0,
		"attempt_count":                    1,
		"attempted":                        true,
		"auto_advance":                     false,
		"automatic_tax":                    untaxed(),
		"collection_method":                "charge_automatically",
		"default_tax_rates":                none(),
		"discounts":                        none(),
		"issuer":                           object{"type": "self"},
		"lines":                            lines,
		"livemode":                         false,
		"payment_settings": object{
			"default_mandate":        nil,
			"payment_method_options": nil,
			"payment_method_types":   nil,
		},
		"period_start": at,
		"period_end":   at,
		"status_transitions": object{
			"finalized_at":            at,
			"marked_uncollectible_at": nil,
			"paid_at":                 at,
			"voided_at":               nil,
		},
	}
}

// object is a subscription as the API of 2025-03-31 and later shows it: the period is that of its item.
func (x *subscription) object() object {
	metadata := object{}
	if x.workspace != "" {
		metadata["workspace_id"] = x.workspace
	}
	var ends any
	if x.ends {
		ends = unix(x.end)
	}
	return object{
		"id":                   x.id,
		"object":               "subscription",
		"customer":             x.customer,
		"created":              unix(x.made),
		"start_date":           unix(x.made),
		"billing_cycle_anchor": unix(x.made),
		"billing_mode":         object{"type": "classic"},
		"billing_schedules":    none(),
		"status":               x.status,
		"cancel_at":            ends,
		"cancel_at_period_end": x.ends,
		"collection_method":    "charge_automatically",
		"currency":             "usd",
		"discounts":            none(),
		"automatic_tax":        untaxed().without("provider", "status"),
		"invoice_settings":     object{"account_tax_ids": nil, "issuer": object{"type": "self"}},
		"livemode":             false,
		"metadata":             metadata,
		"items":                list("/v1/subscription_items", false, x.item()),
	}
}

func (x *subscription) item() object {
	return object{
		"id":                   "si_" + x.id,
		"object":               "subscription_item",
		"subscription":         x.id,
		"created":              unix(x.made),
		"current_period_start": unix(x.begin()),
		"current_period_end":   unix(x.end),
		"discounts":            none(),
		"metadata":             object{},
		"quantity":             1,
		"tax_rates":            none(),
		"price":                priceObject(x.price, x.made),
	}
}

func priceObject(id string, made time.Time) object {
	interval := "month"
	if id == Yearly {
		interval = "year"
	}
	return object{
		"id":             id,
		"object":         "price",
		"active":         true,
		"billing_scheme": "per_unit",
		"created":        unix(made),
		"currency":       "usd",
		"livemode":       false,
		"metadata":       object{},
		"product":        "prod_standin",
		"type":           "recurring",
		"unit_amount":    cents(id),
		"recurring": object{
			"interval":       interval,
			"interval_count": 1,
			"usage_type":     "licensed",
			"meter":          nil,
		},
	}
}

// cents is what a period costs.
func cents(price string) int {
	if price == Yearly {
		return 12000
	}
	return 1200
}
