package main

import (
	"context"
	"net/http"
	"net/url"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// identityRoutes are the rows of agents that register and of the tokens of members.
func (b *bench) identityRoutes(people []*person) []row {
	return []row{
		{
			name:     "agent-register",
			title:    "POST agent registration",
			designed: "2 / 0 / 14",
			stock:    b.registrations,
		},
		{
			name:     "claim-start",
			title:    "POST claim start",
			designed: "2 / 2 / 1",
			stock:    b.claimStarts,
		},
		{
			name:     "claim-poll",
			title:    "POST token, claim poll",
			designed: "2 / 2 / 1",
			stock:    b.claimPolls,
		},
		{
			name:     "jwt-bearer",
			title:    "POST token, jwt-bearer",
			designed: "2 / 2 / 2",
			stock:    b.assertions,
		},
		{name: "refresh", title: "POST token, refresh", work: b.refreshing(people)},
	}
}

func (b *bench) register(ctx context.Context) (r contract.RegisteredAgent, err error) {
	a, err := b.anyone.Do(ctx, "POST", b.anyone.At.APIURL+"/agent/identity", contract.RegisterAgent{Type: contract.AnonymousType})
	return r, unpack(a, err, http.StatusOK, &r)
}

func (b *bench) registrations(ctx context.Context) ([]task, error) {
	tasks := make([]task, limits.ProvisionQuota)
	for n := range tasks {
		tasks[n] = func(ctx context.Context) error {
			_, err := b.register(ctx)
			return err
		}
	}
	return tasks, b.openGate(ctx)
}

// perAgent registers as many agents as may at a time, prepares them, and has each do something again and again.
func (b *bench) perAgent(ctx context.Context, turns int, prepare, do func(contract.RegisteredAgent) task) (tasks []task, err error) {
	if err := b.openGate(ctx); err != nil {
		return nil, err
	}
	agents, err := each(ctx, manyClients, func(ctx context.Context, _ int) (contract.RegisteredAgent, error) {
		r, err := b.register(ctx)
		if err == nil && prepare != nil {
			err = prepare(r)(ctx)
		}
		return r, err
	})
	for range turns {
		for _, r := range agents {
			tasks = append(tasks, do(r))
		}
	}
	return tasks, err
}

func (b *bench) starting(r contract.RegisteredAgent) task {
	return once(sending(b.anyone, r.ClaimURL, contract.StartClaim{ClaimToken: r.ClaimToken}))
}

func (b *bench) claimStarts(ctx context.Context) ([]task, error) {
	return b.perAgent(ctx, limits.ClaimStarts, nil, b.starting)
}

// claimPolls are those of agents whose claim is not completed.
func (b *bench) claimPolls(ctx context.Context) ([]task, error) {
	return b.perAgent(ctx, limits.PollBurst, b.starting, func(r contract.RegisteredAgent) task {
		return b.granting(http.StatusBadRequest, url.Values{"grant_type": {contract.GrantClaim}, "claim_token": {r.ClaimToken}})
	})
}

// assertions are exchanged as long as no token has to end for another.
func (b *bench) assertions(ctx context.Context) ([]task, error) {
	return b.perAgent(ctx, limits.AgentTokens, nil, func(r contract.RegisteredAgent) task {
		return b.granting(http.StatusOK, url.Values{"grant_type": {contract.GrantJWTBearer}, "assertion": {r.IdentityAssertion}})
	})
}

func (b *bench) granting(status int, form url.Values) task {
	return func(ctx context.Context) error {
		a, err := b.anyone.Do(ctx, "POST", b.anyone.At.APIURL+"/oauth2/token", form.Encode(), "Content-Type", formType)
		return expect(a, err, status)
	}
}

// refreshing lets each client go on with the newest refresh token of its own person.
func (b *bench) refreshing(people []*person) operation {
	return func(ctx context.Context, client int) error {
		p := people[client]
		var next contract.Token
		err := b.form(ctx, "/oauth2/token", url.Values{"grant_type": {contract.GrantRefresh}, "client_id": {ours}, "refresh_token": {p.refresh}}, &next)
		if err == nil {
			p.refresh, p.Key = next.RefreshToken, next.AccessToken
		}
		return err
	}
}

// memberRoutes are the rows of members.
func (b *bench) memberRoutes(people []*person) []row {
	reading := func(path string) operation {
		return func(ctx context.Context, client int) error {
			p := people[client]
			return asking(p.Agent, http.StatusOK, "GET", p.At.APIURL+path)(ctx, client)
		}
	}
	return []row{
		{name: "web-workspace", title: "GET workspace, member", work: reading("/v1/web/workspace")},
		{name: "web-list", title: "GET list, member", work: reading("/v1/web/artifacts")},
		{name: "web-keys", title: "GET keys, member", work: reading("/v1/web/keys")},
		{name: "web-key-create", title: "POST key, member", stock: b.keyCreations(people)},
		{name: "web-key-revoke", title: "POST key revoke, member", stock: b.keyRevocations(people)},
		{
			name:     "pin",
			title:    "POST pin and unpin in turn",
			designed: "3 / 4 / 12",
			stock:    b.pins(people),
		},
		{
			name:     "claim",
			title:    "POST claim",
			designed: "2 / 4 / 32",
			stock:    b.claims(people),
		},
	}
}

// commanding sends a command with a fresh key.
func commanding(g *wire.Agent, status int, method, target string, body any) task {
	return func(ctx context.Context) error {
		a, err := g.Do(ctx, method, target, body, "Idempotency-Key", wire.NewKey())
		return expect(a, err, status)
	}
}

func (b *bench) keyCreations(people []*person) func(context.Context) ([]task, error) {
	return func(context.Context) (tasks []task, err error) {
		for n := range b.stocked() {
			p := people[n%len(people)]
			tasks = append(tasks, commanding(p.Agent, http.StatusCreated, "POST", p.At.APIURL+"/v1/web/keys", contract.CreateKey{Name: "made"}))
		}
		return tasks, nil
	}
}

func (b *bench) keyRevocations(people []*person) func(context.Context) ([]task, error) {
	return func(ctx context.Context) ([]task, error) {
		return each(ctx, b.stocked(), func(ctx context.Context, n int) (task, error) {
			p := people[n%len(people)]
			var made contract.CreatedKey
			a, err := p.Do(ctx, "POST", p.At.APIURL+"/v1/web/keys", contract.CreateKey{Name: "to revoke"}, "Idempotency-Key", wire.NewKey())
			err = unpack(a, err, http.StatusCreated, &made)
			return commanding(p.Agent, http.StatusOK, "POST", p.At.APIURL+"/v1/web/keys/"+string(made.APIKey.ID)+"/revoke", nil), err
		})
	}
}

// pins has each person pin an artifact and let go of it, some of them at a time.
func (b *bench) pins(people []*person) func(context.Context) ([]task, error) {
	return func(context.Context) (tasks []task, err error) {
		for n := range b.stocked() {
			p, verb := people[n%len(people)], "/pin"
			if n/len(people)%2 == 1 {
				verb = "/unpin"
			}
			tasks = append(tasks, commanding(p.Agent, http.StatusOK, "POST", p.At.APIURL+"/v1/web/artifacts/"+string(p.artifact)+verb, nil))
		}
		return tasks, nil
	}
}

// claims are of workspaces with one artifact.
func (b *bench) claims(people []*person) func(context.Context) ([]task, error) {
	return func(ctx context.Context) ([]task, error) {
		if err := b.openGate(ctx); err != nil {
			return nil, err
		}
		return each(ctx, min(gateMost, b.stocked()), func(ctx context.Context, n int) (task, error) {
			p := people[n%len(people)]
			g, made, err := b.anyone.Provision(ctx)
			if err == nil {
				_, err = g.PublishFiles(ctx, "Report", "", site()[:1]...)
			}
			return commanding(p.Agent, http.StatusOK, "POST", p.At.APIURL+"/v1/ephemeral/claim", contract.ClaimRequest{ClaimToken: made.ClaimToken}), err
		})
	}
}
