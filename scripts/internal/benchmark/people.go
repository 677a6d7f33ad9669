package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// person is a member with a workspace, who let the CLI in.
type person struct {
	*wire.Agent             // with an access token
	refresh     string      // its refresh token
	key         *wire.Agent // with an API key of the workspace
	artifact    id.Artifact // that it published
	revision    id.Revision
}

// people signs a person in for each client.
func (b *bench) people(ctx context.Context) ([]*person, error) {
	b.say("signing people in")
	return each(ctx, manyClients, func(ctx context.Context, n int) (*person, error) {
		p, err := b.signIn(ctx, fmt.Sprintf("bench-%d@example.org", n))
		if err != nil {
			return nil, err
		}
		var made contract.CreatedKey
		a, err := p.Do(ctx, "POST", p.At.APIURL+"/v1/web/keys", contract.CreateKey{Name: "bench"}, "Idempotency-Key", wire.NewKey())
		if err := unpack(a, err, http.StatusCreated, &made); err != nil {
			return nil, err
		}
		p.key = &wire.Agent{HTTP: p.HTTP, At: p.At, Key: made.Secret}
		shown, err := p.key.PublishFiles(ctx, "Report", "", site()[:1]...)
		p.artifact, p.revision = shown.ArtifactID, shown.RevisionID
		return p, err
	})
}

// browser goes through the pages of the app host and of the identity provider, one redirect at a time. It keeps cookies
// that want TLS as well.
type browser struct {
	*wire.Agent
	app     string
	cookies map[string]string
}

func (w *browser) ask(ctx context.Context, method, target string, form url.Values) (wire.Answer, error) {
	var cookies []string
	for name, value := range w.cookies {
		cookies = append(cookies, name+"="+value)
	}
	headers := []string{"Sec-Fetch-Site", "same-origin", "Cookie", strings.Join(cookies, "; ")}
	var body any
	if form != nil {
		body, headers = form.Encode(), append(headers, "Content-Type", formType, "Origin", w.app)
	}
	a, err := w.Do(ctx, method, target, body, headers...)
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		w.cookies[c.Name] = c.Value
	}
	return a, err
}

const formType = "application/x-www-form-urlencoded"

// ours is the client that people sign in with: a login of the CLI makes a few keys only.
const ours = "dashboard"

// signIn takes a person through the identity provider and approves the client.
func (b *bench) signIn(ctx context.Context, email string) (*person, error) {
	w, err := b.enter(ctx, email)
	if err != nil {
		return nil, err
	}
	return b.approves(ctx, w)
}

// enter takes a person through the identity provider.
func (b *bench) enter(ctx context.Context, email string) (*browser, error) {
	plain := *b.anyone.HTTP
	plain.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	w := &browser{&wire.Agent{HTTP: &plain, At: b.anyone.At}, b.hosts.Origins.App, map[string]string{}}
	a, err := w.ask(ctx, "GET", w.app+"/api/auth/sign-in?returnPathname=/dashboard", nil)
	if err := expect(a, err, http.StatusSeeOther); err != nil {
		return nil, err
	}
	provider, err := w.Do(ctx, "GET", a.Header.Get("Location")+"&login_hint="+url.QueryEscape(email), nil)
	if err := expect(provider, err, http.StatusSeeOther); err != nil {
		return nil, err
	}
	a, err = w.ask(ctx, "GET", provider.Header.Get("Location"), nil)
	return w, expect(a, err, http.StatusSeeOther)
}

// approves gives the client the rights of the person who is signed in.
func (b *bench) approves(ctx context.Context, w *browser) (*person, error) {
	var device contract.DeviceAuthorization
	if err := b.form(ctx, "/oauth2/device_authorization", url.Values{"client_id": {ours}, "device_name": {"bench"}}, &device); err != nil {
		return nil, err
	}
	a, err := w.ask(ctx, "POST", w.app+"/device/approve", url.Values{"code": {device.UserCode}})
	if err := expect(a, err, http.StatusOK); err != nil {
		return nil, err
	}
	var token contract.Token
	err = b.form(ctx, "/oauth2/token", url.Values{"grant_type": {contract.GrantDevice}, "client_id": {ours}, "device_code": {device.DeviceCode}}, &token)
	return &person{Agent: &wire.Agent{HTTP: b.anyone.HTTP, At: b.anyone.At, Key: token.AccessToken}, refresh: token.RefreshToken}, err
}

// form sends a form to the api host and unpacks its answer.
func (b *bench) form(ctx context.Context, path string, fields url.Values, out any) error {
	a, err := b.anyone.Do(ctx, "POST", b.anyone.At.APIURL+path, fields.Encode(), "Content-Type", formType)
	return unpack(a, err, http.StatusOK, out)
}

func unpack(a wire.Answer, err error, status int, out any) error {
	return errors.Join(expect(a, err, status), json.Unmarshal(a.Body, out))
}
