package client

import (
	"context"
	"math/rand/v2"
	"net/url"
	"regexp"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/secret"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

const (
	defaultInterval  = 5 * time.Second // RFC 8628, section 3.2
	slowDownStep     = 5 * time.Second // added by each slow_down, for all later polls (section 3.5)
	maxCodeLife      = time.Hour       // the longest life of a code
	maxReconnectWait = time.Minute     // between attempts to reach a server that does not respond
)

// Device is a sign-in that a person finishes on another device (RFC 8628).
type Device struct {
	URI      string // where the person types the code
	Complete string // URI with the code in it; "" if the server does not offer it
	UserCode string
	Life     time.Duration // of the code

	code     secret.Text
	interval time.Duration
	end      time.Time
}

var userCodeForm = regexp.MustCompile(`^[A-Z0-9]+(-[A-Z0-9]+)*$`)

// StartDevice begins a sign-in. name is the name of this machine, which the person sees.
func (a *Authority) StartDevice(ctx context.Context, name string) (d Device, err error) {
	var got *oauth2.DeviceAuthResponse
	err = a.caller.retry(ctx, func(ctx context.Context) error {
		return a.ask(ctx, tokenTime, func(ctx context.Context) (err error) {
			got, err = a.config().DeviceAuth(ctx, oauth2.SetAuthURLParam("device_name", name))
			return err
		})
	})
	if err != nil {
		return d, err
	}
	d = Device{
		URI:      got.VerificationURI,
		Complete: got.VerificationURIComplete,
		UserCode: got.UserCode,
		code:     secret.Text(got.DeviceCode),
		Life:     min(time.Until(got.Expiry).Round(time.Second), maxCodeLife),
		interval: time.Duration(min(max(got.Interval, 0), 60)) * time.Second,
	}
	if d.interval == 0 {
		d.interval = defaultInterval
	}
	d.end = time.Now().Add(a.caller.Patience.scale(d.Life))
	if got.DeviceCode == "" || len(d.UserCode) > 64 || !userCodeForm.MatchString(d.UserCode) || d.Life <= 0 {
		return d, a.caller.badResponse(a.meta.Issuer, "its code for this device is malformed")
	}
	if !a.isPage(d.URI) || (d.Complete != "" && !a.isPage(d.Complete)) {
		return d, a.caller.badResponse(a.meta.Issuer, "the page for its code is not an address that a browser should open")
	}
	return d, nil
}

// isPage reports whether a person may be sent to an address: http or https, as well protected as the server's own, and
// without user information, which can disguise the real host.
func (a *Authority) isPage(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil &&
		keepsTLS(address, a.meta.Issuer)
}

// Await polls until the person has answered or the code has expired. The last poll may end after the expiry, because
// the server decides whether it still counts.
func (a *Authority) Await(ctx context.Context, d Device) (Tokens, error) {
	interval, silence := d.interval, time.Duration(0)
	for {
		wait := max(interval, silence)
		if err := async.Sleep(ctx, a.caller.Patience.scale(wait+jitter(wait))); err != nil {
			return Tokens{}, err
		}
		last := !time.Now().Before(d.end)
		tokens, err := a.poll(ctx, d)
		f := failure.Of(err)
		switch {
		case err == nil:
			return tokens, nil
		case f.Code == fault.Code(fault.OAuthAuthorizationPending):
			silence = 0
		case f.Code == fault.Code(fault.OAuthSlowDown):
			interval, silence = max(interval+slowDownStep, f.RetryAfter), 0
		case f.Transient:
			silence = min(max(2*wait, f.RetryAfter), maxReconnectWait)
			a.caller.Note("%s; still waiting for you to sign in", f.Message)
		default:
			return Tokens{}, err
		}
		switch {
		case last && silence > 0:
			return Tokens{}, err
		case last:
			return Tokens{}, ended()
		}
	}
}

// jitter spreads the polls of many clients. It only adds time.
func jitter(wait time.Duration) time.Duration { return rand.N(wait/10 + 1) }

func ended() error {
	return failure.New(failure.Auth, fault.Code(fault.OAuthExpiredToken), "the code expired before anyone signed in").
		Advise("Nothing was stored. Run vitrine login --device-code again for a new code.")
}

// poll polls once. The library's own loop forgets a slow_down when the network fails, and cancels a running poll when
// the code expires. The only way to poll once with the library is a client credentials request with another grant type.
func (a *Authority) poll(ctx context.Context, d Device) (tokens Tokens, err error) {
	once := clientcredentials.Config{
		ClientID:       clientID,
		TokenURL:       a.meta.TokenEndpoint,
		AuthStyle:      oauth2.AuthStyleInParams,
		EndpointParams: url.Values{"grant_type": {contract.GrantDevice}, "device_code": {string(d.code)}},
	}
	err = a.ask(ctx, tokenTime, func(ctx context.Context) error {
		got, err := once.Token(ctx)
		if err == nil {
			tokens, err = a.checkTokens(got, nil)
		}
		return err
	})
	return tokens, err
}
