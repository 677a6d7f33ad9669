package crowd

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// person is a member who signs in through the identity provider of the stack.
type person struct {
	email     string
	workspace id.Workspace
	agent     *wire.Agent // holds an access token
	made      time.Time
	keys      []*Key // besides the one that publishes
}

// client is the OAuth client that people sign in with, because it may make keys.
const client = "dashboard"

// maxSignIns is how often a sign-in is tried. The hosts give the identity provider a few seconds.
const maxSignIns = 5

// signInAgain signs a person in, and tries again while a busy machine answers too late.
func signInAgain(ctx context.Context, anyone *wire.Agent, email string) (p *person, err error) {
	for range maxSignIns {
		if p, err = signIn(ctx, anyone, email); err == nil {
			break
		}
	}
	return p, err
}

// signIn signs a person in by a device code that the person approves in a browser.
func signIn(ctx context.Context, anyone *wire.Agent, email string) (*person, error) {
	var device contract.DeviceAuthorization
	var token contract.Token
	var mine contract.WebWorkspace
	b, app := &browser{Agent: anyone, cookies: map[string]string{}}, anyone.At.AppURL
	there := b.browse(ctx, "GET", app+"/api/auth/sign-in?returnPathname=/dashboard", nil)
	there = b.browse(ctx, "GET", there+"&login_hint="+url.QueryEscape(email), nil)
	b.browse(ctx, "GET", there, nil)
	if b.err == nil {
		fields := url.Values{"client_id": {client}, "device_name": {"crowd"}}
		b.err = ask(ctx, anyone, &device, "POST", "/oauth2/device_authorization", fields)
	}
	b.browse(ctx, "POST", app+"/device/approve", url.Values{"code": {device.UserCode}})
	if b.err == nil {
		grant := url.Values{"grant_type": {contract.GrantDevice}, "client_id": {client}, "device_code": {device.DeviceCode}}
		b.err = ask(ctx, anyone, &token, "POST", "/oauth2/token", grant)
	}
	agent := with(anyone, token.AccessToken)
	if b.err == nil {
		b.err = ask(ctx, agent, &mine, "GET", "/v1/web/workspace", nil)
	}
	if b.err != nil {
		return nil, b.err
	}
	return &person{
		email:     email,
		workspace: mine.Workspace.ID,
		agent:     agent,
		made:      time.Now(),
	}, nil
}

// makeKey makes an API key of the person's workspace.
func (p *person) makeKey(ctx context.Context) (*Key, error) {
	var made contract.CreatedKey
	err := ask(ctx, p.agent, &made, "POST", "/v1/web/keys", contract.CreateKey{Name: "crowd"})
	return &Key{ID: made.APIKey.ID, agent: with(p.agent, made.Secret), made: time.Now()}, err
}

// claim takes over an ephemeral workspace.
func (p *person) claim(ctx context.Context, a *Account) error {
	return ask(ctx, p.agent, nil, "POST", "/v1/ephemeral/claim", contract.ClaimRequest{ClaimToken: a.claimToken})
}

// with returns a client with a credential.
func with(anyone *wire.Agent, bearer string) *wire.Agent {
	return &wire.Agent{HTTP: anyone.HTTP, At: anyone.At, Key: bearer}
}

// ask sends a request to the api host, as a form or as JSON, and decodes an answer that is no refusal.
func ask(ctx context.Context, g *wire.Agent, out any, method, path string, body any) error {
	headers := []string{"Idempotency-Key", wire.NewKey()}
	if form, ok := body.(url.Values); ok {
		body, headers = form.Encode(), []string{"Content-Type", "application/x-www-form-urlencoded"}
	}
	a, err := g.Do(ctx, method, g.At.APIURL+path, body, headers...)
	if err == nil && a.Status >= http.StatusBadRequest {
		err = &wire.Refused{Answer: a, Asked: method + " " + path}
	}
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(a.Body, out)
}

// browser goes through the pages of the app host and of the identity provider, one redirect at a time.
type browser struct {
	*wire.Agent
	cookies map[string]string
	err     error // the first; no page is asked for after it
}

// browse opens a page or sends a form, and returns where the answer leads.
func (b *browser) browse(ctx context.Context, method, target string, form url.Values) (there string) {
	if b.err != nil {
		return ""
	}
	var cookies []string
	for name, value := range b.cookies {
		cookies = append(cookies, name+"="+value)
	}
	headers := []string{"Sec-Fetch-Site", "same-origin", "Cookie", strings.Join(cookies, "; ")}
	var body any
	if form != nil {
		body = form.Encode()
		headers = append(headers, "Origin", b.At.AppURL, "Content-Type", "application/x-www-form-urlencoded")
	}
	a, err := b.Do(ctx, method, target, body, headers...)
	if err == nil && a.Status >= http.StatusBadRequest {
		err = fmt.Errorf("signing in: the page answers %d", a.Status)
	}
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		b.cookies[c.Name] = c.Value
	}
	b.err = err
	return a.Header.Get("Location")
}
