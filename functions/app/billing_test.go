package app

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/shared/identity/billing"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

func TestWithoutBillingThereIsNoPageOfIt(t *testing.T) {
	s := newHouse()
	host, _ := s.host()
	host.Billing = nil
	h := host.Handler()
	for method, paths := range map[string][]string{
		"GET":  {billingPath, billingPath + "?status=success&session_id=cs_1", billingPath + "/checkout"},
		"POST": {billingPath + "/checkout", billingPath + "/portal"},
	} {
		for _, path := range paths {
			for _, r := range []*http.Response{signedIn(h, method, path, nil), send(h, method, path, "")} {
				if body := text(t, r); r.StatusCode != 404 || !strings.Contains(body, "Nothing on show here") {
					t.Errorf("%s %s: %d\n%s", method, path, r.StatusCode, body)
				}
			}
		}
	}
	for _, path := range []string{"/dashboard", "/settings"} {
		if strings.Contains(text(t, signedIn(h, "GET", path, nil)), `href="/billing"`) {
			t.Errorf("%s leads to a page that is not there", path)
		}
	}
	if !strings.Contains(text(t, signedIn(s.handler(), "GET", "/dashboard", nil)), `<a href="/billing">Billing</a>`) {
		t.Error("where plans are sold nothing leads to their page")
	}
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
		s := newHouse()
		s.account = c.account
		body := text(t, signedIn(s.handler(), "GET", billingPath, nil))
		for _, want := range append(c.want, "What the plans include", "<td>100 MiB</td>", `aria-current="page">Billing`) {
			if !strings.Contains(body, want) {
				t.Errorf("%s: the page lacks %q:\n%s", name, want, body)
			}
		}
		for _, not := range c.not {
			if strings.Contains(body, not) {
				t.Errorf("%s: the page has %q", name, not)
			}
		}
	}
}

func TestInvoicesAreListed(t *testing.T) {
	s := newHouse()
	s.account = paying(billing.Active)
	body := text(t, signedIn(s.handler(), "GET", billingPath, nil))
	for _, want := range []string{
		"0A1B2C3D-0002", "12.00 USD", "900 JPY", ">paid<", s.title, `href="https://invoice.stripe.test/i/2" rel="noreferrer"`,
		"No number yet", "14 March 2026",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q:\n%s", want, body)
		}
	}
	s.noInvoices = fault.NewCode(fault.DatabaseUnavailable)
	r := signedIn(s.handler(), "GET", billingPath, nil)
	if body := text(t, r); r.StatusCode != 200 || !strings.Contains(body, "Stripe does not answer") ||
		!strings.Contains(body, "Pro plan") || !strings.Contains(body, "Nothing is lost") {
		t.Errorf("without the provider: %d\n%s", r.StatusCode, body)
	}
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
	s := newHouse()
	s.account = paying(billing.Canceled)
	h := s.handler()
	body := text(t, signedIn(h, "GET", billingPath, nil))
	month, year := onceOf(t, body), onceOf(t, body[strings.Index(body, `value="month"`):])
	if month == year {
		t.Error("both buttons are the same command, which would buy the first interval for ever")
	}
	for interval, once := range map[string]string{"month": month, "year": year} {
		for range 2 {
			r := signedIn(h, "POST", billingPath+"/checkout", url.Values{"interval": {interval}, "once": {once}})
			if body := text(t, r); r.StatusCode != 200 || r.Header.Get("Referrer-Policy") != "no-referrer" ||
				!strings.Contains(body, `content="0; url=`+s.payURL+`"`) || !strings.Contains(body, `href="`+s.payURL+`"`) ||
				!strings.Contains(body, "checkout.stripe.test") {
				t.Errorf("%s: %d %v\n%s", interval, r.StatusCode, r.Header, body)
			}
		}
	}
	if c := s.commands; len(c) != 4 || c[0] != c[1] || c[0].Key == c[2].Key ||
		c[0].Key.Operation != idempotency.CreateCheckout {
		t.Errorf("commands %+v", c)
	}
	r := signedIn(h, "POST", billingPath+"/portal", url.Values{})
	if body := text(t, r); r.StatusCode != 200 || !strings.Contains(body, `href="`+s.payURL+`"`) {
		t.Errorf("%d\n%s", r.StatusCode, body)
	}
	for _, bad := range []url.Values{
		{"interval": {"week"}, "once": {month}}, {"once": {month}}, {"interval": {"month"}, "once": {"short"}},
	} {
		if r := signedIn(h, "POST", billingPath+"/checkout", bad); r.StatusCode != 400 {
			t.Errorf("%v: %d", bad, r.StatusCode)
		}
	}
	s.payURL = "javascript:alert(1)"
	if r := signedIn(h, "POST", billingPath+"/portal", url.Values{}); r.StatusCode != 500 {
		t.Errorf("an address that runs code: %d", r.StatusCode)
	}
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
		s := newHouse()
		s.fail = fault.NewCode(code)
		for path, fields := range map[string]url.Values{
			billingPath + "/checkout": doors[billingPath+"/checkout"], billingPath + "/portal": {},
		} {
			r := signedIn(s.handler(), "POST", path, fields)
			body := text(t, r)
			if r.StatusCode != want.status || !strings.Contains(body, want.words) {
				t.Errorf("%s, %s: %d\n%s", code, path, r.StatusCode, body)
			}
			if code != fault.Internal && !strings.Contains(body, `href="/billing"`) {
				t.Errorf("%s, %s: nothing leads back", code, path)
			}
		}
	}
}

func TestOnlyManagersGetTheButtonsOfBilling(t *testing.T) {
	s := newHouse()
	s.scopes = s.scopes[:2]
	s.account = paying(billing.Unpaid)
	h := s.handler()
	body := text(t, signedIn(h, "GET", billingPath, nil))
	if strings.Contains(body, `action="/billing`) || !strings.Contains(body, "who may manage keys and settings") ||
		!strings.Contains(body, "Stripe gave up") {
		t.Errorf("%s", body)
	}
	for _, path := range []string{billingPath + "/checkout", billingPath + "/portal"} {
		if r := signedIn(h, "POST", path, doors[path]); r.StatusCode != 403 || len(s.commands) > 0 {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
}

func TestTheWayBackFromTheCheckout(t *testing.T) {
	const back = billingPath + "?status=success&session_id=cs_test_1"
	for name, failure := range map[string]error{"": nil, "a provider that is down": fault.NewCode(fault.DatabaseUnavailable)} {
		s := newHouse()
		s.fail = failure
		r := signedIn(s.handler(), "GET", back, nil, "Sec-Fetch-Site", "cross-site")
		if r.StatusCode != 303 || r.Header.Get("Location") != billingPath+"?status=success" ||
			!slices.Equal(s.calls, []string{"Return cs_test_1"}) {
			t.Errorf("%s: %d to %q, reached %v", name, r.StatusCode, r.Header.Get("Location"), s.calls)
		}
	}
	s := newHouse()
	h := s.handler()
	waits := text(t, signedIn(h, "GET", billingPath+"?status=success", nil))
	if !strings.Contains(waits, "Waiting for Stripe") || !strings.Contains(waits, `href="/billing?status=success">Load`) {
		t.Errorf("nothing says how to go on:\n%s", waits)
	}
	s.account = paying(billing.Active)
	if done := text(t, signedIn(h, "GET", billingPath+"?status=success", nil)); !strings.Contains(done, "has begun") {
		t.Errorf("%s", done)
	}
	s.account = billing.Account{}
	if left := text(t, signedIn(h, "GET", billingPath+"?status=cancelled", nil)); !strings.Contains(left, "Nothing was bought") {
		t.Errorf("%s", left)
	}
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
		s := newHouse()
		s.account = c.account
		body := text(t, signedIn(s.handler(), "GET", "/dashboard", nil))
		if told := strings.Contains(body, `id="due"`); told != (c.want != "") || !strings.Contains(body, c.want) {
			t.Errorf("%+v: told %t\n%s", c.account, told, body)
		}
	}
}

// TestASlowProviderDelaysPagesByALittle has the provider hang while the tables answer.
func TestASlowProviderDelaysPagesByALittle(t *testing.T) {
	for path, want := range map[string]time.Duration{
		billingPath:                         limits.BillingRead,
		billingPath + "?session_id=cs_test": limits.BillingRead,
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newHouse()
			s.account, s.slow = paying(billing.Active), true
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
		s := newHouse()
		s.slow = true
		start := time.Now()
		r := signedIn(s.handler(), "POST", billingPath+"/portal", url.Values{})
		if took := time.Since(start); r.StatusCode != 503 || took != limits.BillingAnswer ||
			!strings.Contains(text(t, r), "Nothing was charged") {
			t.Errorf("%d after %s", r.StatusCode, took)
		}
	})
}
