package app

import (
	"vitrine/scripts/testkit/browser"
	"vitrine/shared/identity/billing"
	"vitrine/shared/platform/fault"
)

var billingScenes = []scene{
	{name: "billing", path: "/billing"},
	{name: "billing-back", path: "/billing?status=success", set: func(s *house) { s.scopes = s.scopes[:2] }},
	{name: "billing-pro", path: "/billing", set: func(s *house) { s.account = paying(billing.Active) }},
	{name: "billing-late", path: "/billing", set: func(s *house) { long(s); s.account = paying(billing.PastDue) }},
	{
		name: "billing-unread",
		path: "/billing",
		set: func(s *house) {
			s.account, s.noInvoices = paying(billing.Unpaid), fault.NewCode(fault.DatabaseUnavailable)
			s.account.Override, s.operator = "pro", noon
		},
	},
	{
		name: "billing-leave",
		path: "/billing",
		set:  func(s *house) { s.payURL = s.appURL + "/test/cb?code=x" },
		act:  press(submit),
	},
	{
		name: "billing-down",
		path: "/billing",
		act: func(p *browser.Page) {
			browser.Eval[bool](&p.Document, `(document.querySelector("input[name=once]").value = "down-0123456789", true)`)
			press(submit)(p)
		},
	},
	{name: "overview-unpaid", path: "/dashboard", set: func(s *house) { s.account = paying(billing.Unpaid) }},
}
