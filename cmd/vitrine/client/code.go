package client

import (
	"context"
	"net/url"

	"golang.org/x/oauth2"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/secret"
	"vitrine/shared/platform/fault"
)

// Attempt is a sign-in through a browser of this machine (RFC 8252).
type Attempt struct {
	URL string // to open in the browser

	authority       *Authority
	config          *oauth2.Config
	state, verifier string
}

// Begin starts a sign-in that ends with a redirect to the given address with this state. The state must be unguessable.
// A fresh sign-in asks the person to sign in again, even in a browser that is already signed in.
func (a *Authority) Begin(redirect, state string, fresh bool) *Attempt {
	t := &Attempt{
		authority: a,
		config:    a.config(),
		state:     state,
		verifier:  oauth2.GenerateVerifier(),
	}
	t.config.RedirectURL = redirect
	options := []oauth2.AuthCodeOption{
		oauth2.S256ChallengeOption(t.verifier),
		oauth2.SetAuthURLParam("resource", a.resource),
	}
	if fresh {
		options = append(options, oauth2.SetAuthURLParam("prompt", "login"))
	}
	t.URL = t.config.AuthCodeURL(t.state, options...)
	return t
}

// Finish checks the parameters of the redirect and exchanges the code. It does not retry the exchange, because the
// server treats a repeated code as stolen.
func (a *Attempt) Finish(ctx context.Context, q url.Values) (tokens Tokens, err error) {
	code, err := a.code(q)
	if err != nil {
		return Tokens{}, err
	}
	err = a.authority.ask(ctx, tokenTime, func(ctx context.Context) error {
		got, err := a.config.Exchange(ctx, code, oauth2.VerifierOption(a.verifier))
		tokens, err = a.authority.checkTokens(got, err)
		return err
	})
	return tokens, err
}

// code returns the code of the redirect. It checks first that the redirect belongs to this sign-in, then that it comes
// from our server (RFC 9207), and only then reads the result. It does not quote a foreign redirect.
func (a *Attempt) code(q url.Values) (string, error) {
	if !secret.Same(q["state"], a.state) {
		return "", mismatch("the browser returned the response to another login")
	}
	if !secret.Same(q["iss"], a.authority.meta.Issuer) {
		return "", mismatch("the browser returned a response of another server than %s", origin(a.authority.meta.Issuer))
	}
	if e := q.Get("error"); e != "" {
		return "", a.authority.refusal(e, q.Get("error_description"))
	}
	if len(q["code"]) != 1 || q.Get("code") == "" {
		return "", mismatch("the browser returned no code")
	}
	return q.Get("code"), nil
}

func mismatch(format string, args ...any) error {
	return failure.New(failure.Auth, failure.Mismatch, format, args...).
		Advise("Nothing was stored. Close other sign-in pages and run vitrine login again.")
}

// refusal returns the failure for an error in the redirect.
func (a *Authority) refusal(code, description string) error {
	if !codeForm.MatchString(code) {
		return mismatch("the browser returned an unknown error")
	}
	status := 400
	if code == string(fault.OAuthServerError) || code == string(fault.OAuthTemporarilyUnavailable) {
		status = 503
	}
	f := failure.New(exitOf(code, status), fault.Code(code), "%s", firstOf(description, "the server refuses this sign-in"))
	f.RequestID = a.caller.RequestID
	return f.Advise("%s", signInHint(f))
}
