package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// person is a member with a workspace and an artifact, who let a client in.
type person struct {
	shown          // whose agent has an access token
	refresh string // its refresh token
}

// people signs a person in for each client.
func (b *bench) people(ctx context.Context) ([]*person, error) {
	b.say("signing people in")
	return prepare(ctx, b, manyClients, func(m *maker) *person {
		return m.approve(m.enter(fmt.Sprintf("bench-%d@example.org", m.n)), onePage())
	})
}

// browser goes through the pages of the app host and of the identity provider, one redirect at a time. It keeps cookies
// that want TLS as well.
type browser struct {
	*wire.Agent
	app     string
	cookies map[string]string
}

// ask sends a request from a page of the app, a form if there is one.
func (b *browser) ask(ctx context.Context, status int, method, target string, form url.Values) (wire.Answer, error) {
	var cookies []string
	for name, value := range b.cookies {
		cookies = append(cookies, name+"="+value)
	}
	headers := []string{"Sec-Fetch-Site", "same-origin", "Cookie", strings.Join(cookies, "; ")}
	var body any
	if form != nil {
		body, headers = form, append(headers, "Origin", b.app)
	}
	a, err := call(ctx, b.Agent, status, method, target, body, headers...)
	for _, c := range (&http.Response{Header: a.Header}).Cookies() {
		b.cookies[c.Name] = c.Value
	}
	return a, err
}

// browse has a browser ask, and returns where it is sent and what it is shown.
func (m *maker) browse(w *browser, status int, method, target string, form url.Values) (there *url.URL, shown []byte) {
	there = new(url.URL)
	m.first(func(ctx context.Context, _ int) error {
		a, err := w.ask(ctx, status, method, target, form)
		if at, err := url.Parse(a.Header.Get("Location")); err == nil {
			there = at
		}
		shown = a.Body
		return err
	})
	return there, shown
}

// newBrowser is one that has been nowhere.
func (m *maker) newBrowser() *browser {
	return &browser{staying(m.anyone), m.anyone.At.AppURL, map[string]string{}}
}

// signIn is a browser that the app host sends to the identity provider, and the address there.
func (m *maker) signIn() (*browser, *url.URL) {
	w := m.newBrowser()
	there, _ := m.browse(w, http.StatusSeeOther, "GET", w.app+"/api/auth/sign-in?returnPathname=/dashboard", nil)
	return w, there
}

// enter takes a person through the identity provider.
func (m *maker) enter(email string) *browser {
	w, there := m.signIn()
	target := there.String() + "&login_hint=" + url.QueryEscape(email)
	back, _ := m.browse(m.newBrowser(), http.StatusSeeOther, "GET", target, nil) // which shows our cookies to the app only
	m.browse(w, http.StatusSeeOther, "GET", back.String(), nil)
	return w
}

// ours is the client that people sign in with: a login of the CLI makes a few keys only.
const ours = "dashboard"

var deviceFields = url.Values{"client_id": {ours}, "device_name": {"bench"}}

// approve gives the client the rights of the person who is signed in, and publishes files with a key of theirs.
func (m *maker) approve(w *browser, files []wire.File) *person {
	device := ask[contract.DeviceAuthorization](m, m.anyone, 200, "POST", "/oauth2/device_authorization", deviceFields)
	m.browse(w, http.StatusOK, "POST", w.app+"/device/approve", url.Values{"code": {device.UserCode}})
	grant := url.Values{"grant_type": {contract.GrantDevice}, "client_id": {ours}, "device_code": {device.DeviceCode}}
	token := ask[contract.Token](m, m.anyone, http.StatusOK, "POST", tokenPath, grant)
	p := &person{refresh: token.RefreshToken}
	p.shown.Agent = m.with(token.AccessToken)
	p.Published = m.show(m.with(m.createKey(p).Secret), files...).Published
	return p
}

// with is a client with a credential.
func (b *bench) with(bearer string) *wire.Agent {
	return &wire.Agent{HTTP: b.anyone.HTTP, At: b.anyone.At, Key: bearer}
}

const (
	keysPath  = "/v1/web/keys"
	tokenPath = "/oauth2/token"
)

func (m *maker) createKey(p *person) contract.CreatedKey {
	return ask[contract.CreatedKey](m, p.Agent, 201, "POST", keysPath, contract.CreateKey{Name: "bench"}, command)
}

// memberReads are the rows of members that may be repeated; the artifact of the member replaces {}.
var memberReads = []struct{ name, title, path string }{
	{"web-workspace", "GET workspace, member", "/v1/web/workspace"},
	{"web-list", "GET list, member", "/v1/web/artifacts"},
	{"web-keys", "GET keys, member", keysPath},
	{"web-artifact", "GET artifact, member", "/v1/web/artifacts/{}"},
	{"web-revisions", "GET revisions, member", "/v1/web/artifacts/{}/revisions"},
	{"web-artifact-links", "GET links of an artifact, member", "/v1/web/artifacts/{}/access-links"},
	{"web-links", "GET links, member", "/v1/web/access-links"},
	{"web-audit", "GET audit, member", "/v1/web/audit"},
	{"web-settings", "GET settings, member", "/v1/web/settings"},
	{"web-export", "GET export, member", "/v1/web/workspace/export"},
	{"web-callback", "POST callback, member", "/v1/auth/web/callback"},
}

// memberRoutes are the rows of members. What changes keys, links and settings has budgets alone.
func (b *bench) memberRoutes(people []*person) []row {
	var rows []row
	for _, r := range memberReads {
		method, _, _ := strings.Cut(r.title, " ")
		rows = append(rows, row{name: r.name, title: r.title, work: func(ctx context.Context, client int) error {
			p := people[client]
			_, err := call(ctx, p.Agent, 200, method, strings.Replace(r.path, "{}", string(p.ArtifactID), 1), nil)
			return err
		}})
	}
	of := func(m *maker) *person { return people[m.n%len(people)] }
	artifacts := func(ctx context.Context) ([]shown, error) {
		return prepare(ctx, b, len(people), func(m *maker) shown { return of(m).shown })
	}
	pin := b.commands(artifacts, 200, "POST", func(s shown, turn int) (string, any) {
		return s.web([]string{"/pin", "/unpin"}[turn%2]), nil
	})
	claim := func(m *maker) operation { // of a workspace with one artifact
		made := m.provision()
		m.show(made.Agent, onePage()...)
		body := contract.ClaimRequest{ClaimToken: made.ClaimToken}
		return asking(of(m).Agent, 200, "POST", "/v1/ephemeral/claim", body, command)
	}
	return append(rows,
		row{name: "pin", title: "POST pin and unpin in turn", stock: pin},
		row{name: "claim", title: "POST claim", stock: b.gated(gateMost, claim)},
	)
}
