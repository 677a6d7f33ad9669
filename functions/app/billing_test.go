package app

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/billing"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
)

func TestWithoutBillingThereIsNoPageOfIt(t *testing.T) {
	s := newServices()
	host, _ := s.host()
	host.Billing = nil
	h := host.Handler()
	for method, paths := range map[string][]string{
		"GET":  {billingPath, billingPath + "?status=success&session_id=cs_1", billingPath + "/checkout"},
		"POST": {billingPath + "/checkout", billingPath + "/portal"},
	} {
		for _, path := range paths {
			for _, r := range []*http.Response{signedIn(h, method, path, nil), send(h, method, path, "")} {
				wantAnswer(t, method+" "+path, r, 404, "Nothing on show here")
			}
		}
	}
	for _, path := range []string{"/dashboard", "/settings"} {
		expect.Lacks(t, path, text(t, signedIn(h, "GET", path, nil)), `href="/billing"`)
	}
	expect.Has(t, "where plans are sold", page(t, "/dashboard"), `<a href="/billing">Billing</a>`)
}

func TestThePlanIsShownInWords(t *testing.T) {
	for name, c := range map[string]struct {
		account   billing.Account
		want, not []string
	}{
		"nothing paid": {
			billing.Account{},
			[]string{"Free plan", "No subscription", "Upgrade, paid monthly", "Upgrade, paid yearly", "There are none."},
			[]string{">Manage<"},
		},
		"active": {
			paying(billing.Active),
			[]string{"Pro plan", "Active", "<dd>2000</dd>", "Renewed", "3 April 2026", "monthly", ">Manage<"},
			[]string{"Upgrade, paid"},
		},
		"trial":    {paying(billing.Trialing), []string{"Pro plan", "Trial ends"}, []string{"Upgrade, paid"}},
		"past due": {paying(billing.PastDue), []string{"Pro plan", "The last payment failed"}, []string{"Upgrade, paid"}},
		"unpaid": {
			paying(billing.Unpaid),
			[]string{"Free plan", "Stripe gave up", "What is there stays", ">Manage<"}, []string{"Upgrade, paid"},
		},
		"incomplete": {
			paying(billing.Incomplete), []string{"Free plan", "The first payment did not go through"},
			[]string{"Upgrade, paid"},
		},
		"lapsed": {paying(billing.IncompleteExpired), []string{"Free plan", "Lapsed", "Upgrade, paid monthly"}, nil},
		"paused": {paying(billing.Paused), []string{"Free plan", "is paused"}, []string{"Upgrade, paid"}},
		"ended":  {paying(billing.Canceled), []string{"Free plan", "has ended", "Upgrade, paid monthly", ">Manage<"}, nil},
		"new":    {paying("invented"), []string{"Free plan", "does not know"}, nil},
		"cancelled at the end of the period": {
			func() billing.Account { a := paying(billing.Active); a.EndsAt = a.PeriodEnd; return a }(),
			[]string{"Pro plan", "Cancelled", "<dt>Ends</dt>", "3 April 2026", "nothing is charged"},
			[]string{"Renewed", "Upgrade, paid"},
		},
		"given": {
			billing.Account{Override: "pro"},
			[]string{"Pro plan", "Given by an operator", "regardless of payment"}, []string{"Upgrade, paid"},
		},
		"given beside a subscription": {
			func() billing.Account { a := paying(billing.Unpaid); a.Override = "pro"; return a }(),
			[]string{"Pro plan", "Not paid", "has no effect", ">Manage<"}, []string{"Upgrade, paid", "limits of the Free plan"},
		},
	} {
		body := page(t, billingPath, func(s *fakeServices) { s.billing = c.account })
		expect.Has(t, name, body, append(c.want, "What the plans include", "<td>100 MiB</td>", `aria-current="page">Billing`)...)
		expect.Lacks(t, name, body, c.not...)
	}
}

func TestInvoicesAreListed(t *testing.T) {
	s := newServices()
	s.billing = paying(billing.Active)
	body := text(t, signedIn(s.handler(), "GET", billingPath, nil))
	expect.Has(t, "the page", body,
		"0A1B2C3D-0002", "12.00 USD", "900 JPY", ">paid<", s.title, `href="https://invoice.stripe.test/i/2" rel="noreferrer"`,
		"No number yet", "14 March 2026",
	)
	s.provider.ProviderFn = func(context.Context) error { return fault.NewCode(fault.DatabaseUnavailable) }
	r := signedIn(s.handler(), "GET", billingPath, nil)
	wantAnswer(t, "without the provider", r, 200, "Stripe does not answer", "Pro plan", "Nothing is lost")
}

func TestAmountsHaveTheDigitsOfTheirCurrency(t *testing.T) {
	for want, given := range map[string]struct {
		minor    int64
		currency string
	}{
		"12.00 USD": {1200, "usd"}, "0.05 EUR": {5, "eur"}, "1200 JPY": {1200, "jpy"}, "1.200 KWD": {1200, "kwd"},
		"-3.50 CHF": {-350, "chf"}, "0.00": {0, ""},
	} {
		if got := money(given.minor, given.currency); got != want {
			t.Errorf("%d %s is %q, want %q", given.minor, given.currency, got, want)
		}
	}
}

func TestThePagesOfTheProviderAreLeftForByAPage(t *testing.T) {
	s := newServices()
	s.billing = paying(billing.Canceled)
	h := s.handler()
	body := text(t, signedIn(h, "GET", billingPath, nil))
	month, year := onceOf(t, body), onceOf(t, body[strings.Index(body, `value="month"`):])
	if month == year {
		t.Error("both buttons are the same command, which would buy the first interval for ever")
	}
	for interval, once := range map[string]string{"month": month, "year": year} {
		for range 2 {
			r := signedIn(h, "POST", billingPath+"/checkout", url.Values{"interval": {interval}, "once": {once}})
			wantHeaders(t, interval, r, "Referrer-Policy", "no-referrer")
			wantAnswer(t, interval, r, 200, `content="0; url=`+s.provider.payURL+`"`, `href="`+s.provider.payURL+`"`,
				"checkout.stripe.test")
		}
	}
	if c := s.commands; len(c) != 4 || c[0] != c[1] || c[0].Key == c[2].Key ||
		c[0].Key.Operation != idempotency.CreateCheckout {
		t.Errorf("commands %+v", c)
	}
	r := signedIn(h, "POST", billingPath+"/portal", url.Values{})
	wantAnswer(t, "the answer", r, 200, `href="`+s.provider.payURL+`"`)
	for _, bad := range []url.Values{
		{"interval": {"week"}, "once": {month}}, {"once": {month}}, {"interval": {"month"}, "once": {"short"}},
	} {
		wantAnswer(t, bad.Encode(), signedIn(h, "POST", billingPath+"/checkout", bad), 400)
	}
	s.provider.payURL = "javascript:alert(1)"
	wantAnswer(t, "an address that runs code", signedIn(h, "POST", billingPath+"/portal", url.Values{}), 500)
}

func TestFailuresOfTheProviderAreToldInWords(t *testing.T) {
	for code, want := range map[fault.Code]struct {
		status int
		words  string
	}{
		fault.DatabaseUnavailable:   {503, "Stripe does not answer"},
		fault.InvalidRequest:        {400, "There already is a subscription"},
		fault.InvalidIdempotencyKey: {400, "This form was sent before"},
		fault.IdempotencyInFlight:   {409, "This form was sent before"},
		fault.NotFound:              {404, "There is nothing to manage"},
		fault.Internal:              {500, "Something broke"},
	} {
		s := newServices()
		s.fail = fault.NewCode(code)
		wantAnswer(t, string(code)+", the plan", signedIn(s.handler(), "GET", billingPath, nil), want.status)
		for path, fields := range map[string]url.Values{
			billingPath + "/checkout": forms[billingPath+"/checkout"].fields, billingPath + "/portal": {},
		} {
			r := signedIn(s.handler(), "POST", path, fields)
			body := wantAnswer(t, string(code)+", "+path, r, want.status, want.words)
			if code != fault.Internal && !strings.Contains(body, `href="/billing"`) {
				t.Errorf("%s, %s: nothing leads back", code, path)
			}
		}
	}
}

func TestOnlyManagersGetTheButtonsOfBilling(t *testing.T) {
	body := page(t, billingPath, reader, with(billing.Unpaid))
	expect.Lacks(t, "a reader's page", body, `action="/billing`)
	expect.Has(t, "a reader's page", body, "who may manage keys and settings", "Stripe gave up")
}

func TestTheWayBackFromTheCheckout(t *testing.T) {
	const back = billingPath + "?status=success&session_id=cs_test_1"
	for name, failure := range map[string]error{"": nil, "a provider that is down": fault.NewCode(fault.DatabaseUnavailable)} {
		s := newServices()
		s.fail = failure
		r := signedIn(s.handler(), "GET", back, nil, "Sec-Fetch-Site", "cross-site")
		wantRedirect(t, name, r, billingPath+"?status=success")
		wantCalls(t, name, s, "Return cs_test_1")
	}
	const done = billingPath + "?status=success"
	expect.Has(t, "too early", page(t, done), "Waiting for Stripe", `href="/billing?status=success">Load`)
	expect.Has(t, "in time", page(t, done, with(billing.Active)), "has begun")
	expect.Has(t, "cancelled", page(t, billingPath+"?status=cancelled"), "Nothing was bought")
}

func TestTheOverviewTellsOfAPaymentThatIsDue(t *testing.T) {
	for _, c := range []struct {
		account billing.Account
		want    string
	}{
		{paying(billing.PastDue), "Payment is late"},
		{paying(billing.Unpaid), "Not paid"},
		{paying(billing.Paused), "Paused"},
		{paying(billing.Active), ""},
		{billing.Account{}, ""},
		{func() billing.Account { a := paying(billing.Unpaid); a.Override = "pro"; return a }(), ""},
	} {
		body := page(t, "/dashboard", func(s *fakeServices) { s.billing = c.account })
		if told := strings.Contains(body, `id="due"`); told != (c.want != "") || !strings.Contains(body, c.want) {
			t.Errorf("%+v: told %t\n%s", c.account, told, body)
		}
	}
}

// hangs answers when the time is over.
func hangs(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestASlowProviderDelaysPagesByALittle has the provider hang while the tables answer.
func TestASlowProviderDelaysPagesByALittle(t *testing.T) {
	for path, want := range map[string]time.Duration{
		billingPath:                         billingRead,
		billingPath + "?session_id=cs_test": billingRead,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newServices()
			s.billing = paying(billing.Active)
			s.provider.ProviderFn = hangs
			start := time.Now()
			r := signedIn(s.handler(), "GET", path, nil)
			body := text(t, r)
			if took := time.Since(start); took != want || r.StatusCode >= 400 ||
				r.StatusCode == 200 && !strings.Contains(body, "invoices cannot be shown") {
				t.Errorf("%s: %d after %s\n%s", path, r.StatusCode, took, body)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		s := newServices()
		s.provider.ProviderFn = hangs
		start := time.Now()
		r := signedIn(s.handler(), "POST", billingPath+"/portal", url.Values{})
		if took := time.Since(start); took != billingAnswer {
			t.Errorf("an answer after %s", took)
		}
		wantAnswer(t, "the portal", r, 503, "Nothing was charged")
	})
}
