package main

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// agentRoutes are the rows of agents that register and of the authorization server.
func (b *bench) agentRoutes(people []*person) []row {
	post := func(status int, target string, body any) operation {
		return asking(b.anyone, status, "POST", target, body)
	}
	claim := func(r registered) operation {
		return post(200, r.ClaimURL, contract.StartClaim{ClaimToken: r.ClaimToken})
	}
	start := func(m *maker) operation { return claim(m.register()) }
	poll := func(m *maker) operation { // before the claim is completed
		r := m.register()
		m.first(claim(r))
		return post(400, tokenPath, url.Values{"grant_type": {contract.GrantClaim}, "claim_token": {r.ClaimToken}})
	}
	exchange := func(m *maker) operation { return post(200, tokenPath, m.register().jwtBearer()) }
	complete := func(m *maker) operation { // by a member who lets an agent in by its code
		r := m.register()
		start := contract.StartClaim{ClaimToken: r.ClaimToken}
		s := ask[contract.StartedClaim](m, b.anyone, http.StatusOK, "POST", r.ClaimURL, start)
		complete := contract.CompleteClaim{AttemptToken: s.AttemptToken, UserCode: s.UserCode}
		member := people[m.n%len(people)].Agent
		return asking(member, 200, "POST", "/v1/web/agent-auth/claim/complete", complete, command)
	}
	many := func(turns int, do func(m *maker) operation) stock { return repeating(turns, b.gated(manyClients, do)) }
	register, client := post(200, identityPath, anonymous), post(201, clientsPath, robot)
	device := post(200, "/oauth2/device_authorization", deviceFields)
	return []row{
		{name: "agent-register", title: "POST agent registration", stock: b.gated(limits.ProvisionQuota, same(register))},
		{name: "claim-start", title: "POST claim start", stock: many(limits.ClaimStarts, start)},
		{name: "claim-poll", title: "POST token, claim poll", stock: many(limits.PollBurst, poll)},
		{name: "jwt-bearer", title: "POST token, jwt-bearer", stock: many(limits.AgentTokens, exchange)},
		{name: "refresh", title: "POST token, refresh", work: b.refreshing(people)},
		{name: "device", title: "POST device authorization", stock: b.gated(gateMost, same(device))},
		{name: "client-register", title: "POST client registration", stock: b.gated(gateMost, same(client))},
		{name: "authorize", title: "GET authorize", stock: b.authorizations},
		{name: "token-revoke", title: "POST token revocation", stock: b.revocations},
		{name: "claim-complete", title: "POST claim completion, member", stock: b.gated(manyClients, complete)},
	}
}

const (
	identityPath = "/agent/identity"
	clientsPath  = "/oauth2/register"
)

var anonymous = contract.RegisterAgent{Type: contract.AnonymousType}

// repeating does so often what is prepared.
func repeating(turns int, prepare stock) stock {
	return func(ctx context.Context) ([]operation, error) {
		tasks, err := prepare(ctx)
		return slices.Repeat(tasks, turns), err
	}
}

// registered is an agent that has registered.
type registered struct{ contract.RegisteredAgent }

func (m *maker) register() registered {
	return ask[registered](m, m.anyone, http.StatusOK, "POST", identityPath, anonymous)
}

func (r registered) jwtBearer() url.Values {
	return url.Values{"grant_type": {contract.GrantJWTBearer}, "assertion": {r.IdentityAssertion}}
}

// refreshing lets each client go on with the newest refresh token of its own person.
func (b *bench) refreshing(people []*person) operation {
	return func(ctx context.Context, client int) error {
		p, m := people[client], &maker{bench: b, ctx: ctx}
		grant := url.Values{"grant_type": {contract.GrantRefresh}, "client_id": {ours}, "refresh_token": {p.refresh}}
		next := ask[contract.Token](m, b.anyone, http.StatusOK, "POST", tokenPath, grant)
		if m.err == nil {
			p.refresh, p.Key = next.RefreshToken, next.AccessToken
		}
		return m.err
	}
}

const redirect = "https://robot.example.com/callback"

// robot is a client that registers.
var robot = contract.RegisterClient{ClientName: "Robot", RedirectURIs: []string{redirect}}

// challenge is that of RFC 7636, appendix B.
const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"

// authorizations are what an app sends a browser away with.
func (b *bench) authorizations(ctx context.Context) ([]operation, error) {
	m := &maker{bench: b, ctx: ctx}
	c := ask[contract.RegisteredClient](m, m.anyone, http.StatusCreated, "POST", clientsPath, robot)
	target := m.anyone.At.APIURL + "/oauth2/authorize?" + url.Values{
		"response_type":         {"code"},
		"client_id":             {string(c.ClientID)},
		"redirect_uri":          {redirect},
		"scope":                 {"read"},
		"state":                 {"state"},
		"code_challenge":        {challenge},
		"code_challenge_method": {"S256"},
	}.Encode()
	away := asking(staying(b.anyone), http.StatusSeeOther, "GET", target, nil)
	return slices.Repeat([]operation{away}, b.atMost(gateMost)), m.err
}

// revocations are of access tokens of agents, which live.
func (b *bench) revocations(ctx context.Context) ([]operation, error) {
	if err := b.openGate(ctx); err != nil {
		return nil, err
	}
	perAgent, err := prepare(ctx, b, b.atMost(manyClients), func(m *maker) (all []operation) {
		r := m.register()
		for range limits.AgentTokens {
			t := ask[contract.Token](m, b.anyone, http.StatusOK, "POST", tokenPath, r.jwtBearer())
			form := url.Values{"token": {t.AccessToken}}
			all = append(all, asking(b.anyone, http.StatusOK, "POST", "/oauth2/revoke", form))
		}
		return all
	})
	return slices.Concat(perAgent...), err
}
