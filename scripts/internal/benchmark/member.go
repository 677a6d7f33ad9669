package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// documentRoutes are the rows of documents that describe the deployment.
func (b *bench) documentRoutes() []row {
	var rows []row
	for _, d := range []struct{ name, path string }{
		{"jwks", "/.well-known/jwks.json"},
		{"server-metadata", "/.well-known/oauth-authorization-server"},
		{"resource-metadata", "/.well-known/oauth-protected-resource"},
		{"guide", "/auth.md"},
	} {
		rows = append(rows, row{
			name:  d.name,
			title: "GET " + d.path,
			work:  asking(b.anyone, http.StatusOK, "GET", b.anyone.At.APIURL+d.path),
		})
	}
	return rows
}

// authorizationRoutes are the rows of the authorization server beside those of tokens.
func (b *bench) authorizationRoutes(people []*person) []row {
	return []row{
		{name: "device", title: "POST device authorization", stock: b.deviceAuthorizations},
		{name: "client-register", title: "POST client registration", stock: b.clientRegistrations},
		{name: "authorize", title: "GET authorize", stock: b.authorizations},
		{name: "token-revoke", title: "POST token revocation", stock: b.tokenRevocations},
		{name: "claim-complete", title: "POST claim completion, member", stock: b.completions(people)},
	}
}

// inForm posts a form whose answer has status 200.
func (b *bench) inForm(path string, fields url.Values) task {
	return func(ctx context.Context) error {
		a, err := b.anyone.Do(ctx, "POST", b.anyone.At.APIURL+path, fields.Encode(), "Content-Type", formType)
		return expect(a, err, http.StatusOK)
	}
}

func (b *bench) deviceAuthorizations(context.Context) (tasks []task, err error) {
	fields := url.Values{"client_id": {ours}, "device_name": {"bench"}}
	for range b.atMost(gateMost) {
		tasks = append(tasks, b.inForm("/oauth2/device_authorization", fields))
	}
	return tasks, nil
}

const redirect = "https://robot.example.com/callback"

func (b *bench) registerClient(ctx context.Context) (c contract.RegisteredClient, err error) {
	a, err := b.anyone.Do(ctx, "POST", b.anyone.At.APIURL+"/oauth2/register", contract.RegisterClient{
		ClientName:   "Robot",
		RedirectURIs: []string{redirect},
	})
	return c, unpack(a, err, http.StatusCreated, &c)
}

func (b *bench) clientRegistrations(context.Context) (tasks []task, err error) {
	for range b.atMost(gateMost) {
		tasks = append(tasks, func(ctx context.Context) error {
			_, err := b.registerClient(ctx)
			return err
		})
	}
	return tasks, nil
}

// authorization is where a client sends a browser to ask for scopes.
func (b *bench) authorization(c contract.RegisteredClient, scopes string) string {
	return b.anyone.At.APIURL + "/oauth2/authorize?" + url.Values{
		"response_type":         {"code"},
		"client_id":             {string(c.ClientID)},
		"redirect_uri":          {redirect},
		"scope":                 {scopes},
		"state":                 {"state"},
		"code_challenge":        {"E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"}, // RFC 7636, appendix B
		"code_challenge_method": {"S256"},
	}.Encode()
}

// authorizations are what an app sends a browser away with.
func (b *bench) authorizations(ctx context.Context) (tasks []task, err error) {
	c, err := b.registerClient(ctx)
	noRedirect := *b.anyone.HTTP
	noRedirect.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	away := &wire.Agent{HTTP: &noRedirect, At: b.anyone.At}
	target := b.authorization(c, "read")
	for range b.atMost(gateMost) {
		tasks = append(tasks, once(asking(away, http.StatusSeeOther, "GET", target)))
	}
	return tasks, err
}

// tokenRevocations are of access tokens of agents, which live.
func (b *bench) tokenRevocations(ctx context.Context) ([]task, error) {
	if err := b.openGate(ctx); err != nil {
		return nil, err
	}
	perAgent, err := each(ctx, b.atMost(manyClients), func(ctx context.Context, _ int) (tasks []task, err error) {
		r, err := b.register(ctx)
		for n := 0; err == nil && n < limits.AgentTokens; n++ {
			var t contract.Token
			fields := url.Values{"grant_type": {contract.GrantJWTBearer}, "assertion": {r.IdentityAssertion}}
			err = b.form(ctx, "/oauth2/token", fields, &t)
			tasks = append(tasks, b.inForm("/oauth2/revoke", url.Values{"token": {t.AccessToken}}))
		}
		return tasks, err
	})
	return joined(perAgent), err
}

func joined(lists [][]task) (all []task) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// completions are of members who let an agent in by its code.
func (b *bench) completions(people []*person) func(context.Context) ([]task, error) {
	return func(ctx context.Context) ([]task, error) {
		if err := b.openGate(ctx); err != nil {
			return nil, err
		}
		return each(ctx, b.atMost(manyClients), func(ctx context.Context, n int) (task, error) {
			r, err := b.register(ctx)
			if err != nil {
				return nil, err
			}
			var s contract.StartedClaim
			a, err := b.anyone.Do(ctx, "POST", r.ClaimURL, contract.StartClaim{ClaimToken: r.ClaimToken})
			err = unpack(a, err, http.StatusOK, &s)
			p := people[n%len(people)]
			target := p.At.APIURL + "/v1/web/agent-auth/claim/complete"
			return commanding(p.Agent, http.StatusOK, "POST", target, contract.CompleteClaim{
				AttemptToken: s.AttemptToken,
				UserCode:     s.UserCode,
			}), err
		})
	}
}

// webRoutes are the rows of what a member does with artifacts, links and settings.
func (b *bench) webRoutes(people []*person) []row {
	reading := func(path func(p *person) string) operation {
		return func(ctx context.Context, client int) error {
			p := people[client]
			return asking(p.Agent, http.StatusOK, "GET", p.At.APIURL+path(p))(ctx, client)
		}
	}
	at := func(path string) func(*person) string { return func(*person) string { return path } }
	below := func(path string) func(*person) string { return func(p *person) string { return p.path() + path } }
	return []row{
		{name: "web-callback", title: "POST callback, member", work: func(ctx context.Context, client int) error {
			p := people[client]
			return asking(p.Agent, http.StatusOK, "POST", p.At.APIURL+"/v1/auth/web/callback")(ctx, client)
		}},
		{name: "web-artifact", title: "GET artifact, member", work: reading(below(""))},
		{name: "web-revisions", title: "GET revisions, member", work: reading(below("/revisions"))},
		{name: "web-artifact-links", title: "GET links of an artifact, member", work: reading(below("/access-links"))},
		{name: "web-links", title: "GET links, member", work: reading(at("/v1/web/access-links"))},
		{name: "web-audit", title: "GET audit, member", work: reading(at("/v1/web/audit"))},
		{name: "web-settings", title: "GET settings, member", work: reading(at("/v1/web/settings"))},
		{name: "web-settings-update", title: "PATCH settings, member", stock: b.settingsUpdates(people)},
		{name: "web-export", title: "GET export, member", work: reading(at("/v1/web/workspace/export"))},
		{name: "web-link-create", title: "POST link, member", stock: b.memberLinks(people, "")},
		{name: "web-link-mint", title: "POST link mint, member", stock: b.memberLinks(people, "/mint")},
		{name: "web-link-revoke", title: "POST link revoke, member", stock: b.memberLinks(people, "/revoke")},
		{name: "web-link-lockdown", title: "POST link lockdown and lift in turn, member", stock: b.linkLocks(people)},
	}
}

// path is that of the person's artifact.
func (p *person) path() string { return "/v1/web/artifacts/" + string(p.artifact) }

func (b *bench) settingsUpdates(people []*person) func(context.Context) ([]task, error) {
	return func(context.Context) (tasks []task, err error) {
		for n := range b.stocked() {
			p := people[n%len(people)]
			target := p.At.APIURL + "/v1/web/settings"
			tasks = append(tasks, commanding(p.Agent, http.StatusOK, "PATCH", target, contract.UpdateSettings{
				WorkspaceName:    fmt.Sprint("Workspace ", n),
				AutoDeletionDays: 3,
			}))
		}
		return tasks, nil
	}
}

// memberLinks creates links to revisions, or does something with links that it has created.
func (b *bench) memberLinks(people []*person, verb string) func(context.Context) ([]task, error) {
	return func(ctx context.Context) ([]task, error) {
		return each(ctx, b.stocked(), func(ctx context.Context, n int) (task, error) {
			p := people[n%len(people)]
			create := contract.CreateLink{Type: "revision", RevisionID: p.revision}
			target := p.At.APIURL + p.path() + "/access-links"
			if verb == "" {
				return commanding(p.Agent, http.StatusCreated, "POST", target, create), nil
			}
			var made contract.CreatedLink
			a, err := p.Do(ctx, "POST", target, create, "Idempotency-Key", wire.NewKey())
			err = unpack(a, err, http.StatusCreated, &made)
			target = p.At.APIURL + "/v1/web/access-links/" + string(made.ID) + verb
			return commanding(p.Agent, http.StatusOK, "POST", target, nil), err
		})
	}
}

// linkLocks has each person lock the links of an artifact and lift that, some of them at a time.
func (b *bench) linkLocks(people []*person) func(context.Context) ([]task, error) {
	return func(context.Context) (tasks []task, err error) {
		for n := range b.stocked() {
			p, verb := people[n%len(people)], "/access-link-lockdown"
			if n/len(people)%2 == 1 {
				verb += "/lift"
			}
			tasks = append(tasks, commanding(p.Agent, http.StatusOK, "POST", p.At.APIURL+p.path()+verb, nil))
		}
		return tasks, nil
	}
}
