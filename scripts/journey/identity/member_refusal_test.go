package identity

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// memberRoute is a route of members with a request that it takes.
type memberRoute struct {
	method, path string
	scope        credential.Scope // that it asks for; empty: none
	body         any
	keyed        bool // asks for an Idempotency-Key
	unlimited    bool
	lists        bool // takes cursor and limit
}

var memberRoutes = []memberRoute{
	{method: "POST", path: "/v1/auth/web/callback", unlimited: true},
	{method: "GET", path: "/v1/web/workspace"},
	{method: "GET", path: "/v1/web/settings", scope: credential.Admin},
	{
		method: "PATCH",
		path:   "/v1/web/settings",
		scope:  credential.Admin,
		keyed:  true,
		body:   contract.UpdateSettings{WorkspaceName: "W", AutoDeletionDays: 3},
	},
	{method: "GET", path: "/v1/web/workspace/export", scope: credential.Admin},
	{
		method: "POST",
		path:   "/v1/web/workspace/export",
		scope:  credential.Admin,
		keyed:  true,
	},
	{
		method: "GET",
		path:   "/v1/web/audit",
		scope:  credential.Admin,
		lists:  true,
	},
	{
		method: "GET",
		path:   "/v1/web/artifacts",
		scope:  credential.Read,
		lists:  true,
	},
	{method: "GET", path: "/v1/web/artifacts/art_1", scope: credential.Read},
	{method: "GET", path: "/v1/web/keys", scope: credential.Admin},
	{
		method: "POST",
		path:   "/v1/web/keys",
		scope:  credential.Admin,
		keyed:  true,
		body:   contract.CreateKey{Name: "K"},
	},
	{
		method: "POST",
		path:   "/v1/web/keys/key_1/revoke",
		scope:  credential.Admin,
		keyed:  true,
	},
	{
		method: "POST",
		path:   "/v1/web/artifacts/art_1/pin",
		scope:  credential.Read,
		keyed:  true,
	},
	{
		method: "POST",
		path:   "/v1/web/artifacts/art_1/unpin",
		scope:  credential.Read,
		keyed:  true,
	},
	{method: "GET", path: "/v1/web/artifacts/art_1/revisions", scope: credential.Read},
	{method: "GET", path: "/v1/web/access-links", scope: credential.Read},
	{method: "GET", path: "/v1/web/artifacts/art_1/access-links", scope: credential.Read},
	{
		method: "POST",
		path:   "/v1/web/artifacts/art_1/access-links",
		scope:  credential.Admin,
		keyed:  true,
		body:   contract.CreateLink{Type: "share"},
	},
	{method: "POST", path: "/v1/web/access-links/al_1/mint", scope: credential.Admin},
	{
		method: "POST",
		path:   "/v1/web/workspace/deletion",
		scope:  credential.Admin,
		body:   contract.RequestDeletion{Confirm: "W"},
	},
	{method: "DELETE", path: "/v1/web/workspace/deletion", scope: credential.Admin},
	{method: "POST", path: "/v1/web/access-links/al_1/revoke", scope: credential.Admin},
	{
		method: "POST",
		path:   "/v1/web/artifacts/art_1/access-link-lockdown",
		scope:  credential.Admin,
		keyed:  true,
	},
	{
		method: "POST",
		path:   "/v1/web/artifacts/art_1/access-link-lockdown/lift",
		scope:  credential.Admin,
		keyed:  true,
	},
	{
		method: "POST",
		path:   "/v1/web/agent-auth/claim/complete",
		body:   contract.CompleteClaim{AttemptToken: "x", UserCode: "123456"},
	},
}

func (r memberRoute) name() string { return r.method + " " + r.path }

// ask makes the request, with a fresh Idempotency-Key where one is due.
func (r memberRoute) ask(t testing.TB, who *harness.Member) wire.Answer {
	t.Helper()
	var headers []string
	if r.keyed {
		headers = harness.KeyHeader()
	}
	return harness.TryAs(t, who, r.method, r.path, r.body, headers...)
}

func TestRoutesOfMembersTakeNoOtherCredential(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	who, agent := p.NewMember(t), p.NewAgent(t)
	strangers := map[string]*harness.Member{
		"nobody": who.WithToken(""), "T70: an ephemeral key": who.WithToken(agent.Key),
		"T05: a token for another host": p.GrantTo(t, who, oauth.CLI, "https://mcp.test"),
		"T05: a registered client":      p.GrantTo(t, who, id.NewClient(), p.Origins.API),
	}
	for _, kind := range []credential.Kind{
		credential.RefreshToken, credential.ClaimToken, credential.DeviceCode, credential.AuthorizationCode,
		credential.ClaimAttempt,
	} {
		strangers["T06: "+string(kind)] = who.WithToken(harness.Relabel(t, who.Key, "ap_at_", "ap_"+string(kind)+"_"))
	}
	before := p.Snapshot(t)
	for _, r := range memberRoutes {
		for name, stranger := range strangers {
			a := r.ask(t, stranger)
			if a.Status != http.StatusUnauthorized || a.Code() != fault.NotAuthenticated ||
				a.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s as %s: %d %s", r.name(), name, a.Status, a.Code())
			}
		}
		twice := "Authorization: Bearer " + who.Key
		harness.WantRefused(t, p.SendRaw(t, "api", r.name(), "", twice, twice), 400, fault.InvalidAuth)
	}
	harness.WantRefused(t, harness.TryAs(t, who, "GET", "/v1/mcp/whoami", nil), 401, fault.NotAuthenticated)
	p.WantUnchanged(t, before)
}

func TestT03RoutesOfKeysTakeNoAccessToken(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	who := p.NewMember(t)
	there, live := p.GrantTo(t, who, id.NewClient(), p.Origins.Delegated()), p.NewAgent(t).Key
	for name, bearer := range map[string]*harness.Member{
		"a token of the MCP host": there, "T06: a token of the api host": who,
		"a live key, called an access token":        who.WithToken(harness.Relabel(t, live, "ap_pk_", "ap_at_")),
		"T06: a live key, called a refresh token":   who.WithToken(harness.Relabel(t, live, "ap_pk_", "ap_rt_")),
		"T06: a live key, called a claim token":     who.WithToken(harness.Relabel(t, live, "ap_pk_", "ap_ct_")),
		"T06: a live key, called a device code":     who.WithToken(harness.Relabel(t, live, "ap_pk_", "ap_dc_")),
		"T07: a live key, said to be in production": who.WithToken(harness.Relabel(t, live, "_preview_", "_production_")),
	} {
		for _, target := range []string{
			"GET " + p.Origins.API + "/v1/whoami", "GET " + p.Origins.API + "/v1/artifacts",
			"POST " + p.Origins.Upload + "/v1/upload-sessions",
		} {
			method, url, _ := strings.Cut(target, " ")
			a := harness.Do(t, bearer.Agent, method, url, nil, harness.KeyHeader()...)
			if a.Status != http.StatusUnauthorized || a.Code() != fault.NotAuthenticated ||
				a.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s with %s: %d %s", target, name, a.Status, a.Code())
			}
		}
	}
}

func TestRoutesOfMembersRefuseInTheOrderOfTheContract(t *testing.T) {
	t.Parallel()
	now := &harness.Clock{Now: time.Now()}
	p := harness.NewBackendEnv(t, now.Use, func(o *stack.Options) { o.Limits.Actor.Limit = 1 })
	who := p.NewMember(t)
	for _, r := range memberRoutes {
		t.Run(r.name(), func(t *testing.T) {
			if r.keyed {
				poor := p.AddMember(t, who.Workspace, credential.Publish)
				harness.WantRefused(t, harness.TryAs(t, poor, r.method, r.path, "{"), 400, fault.InvalidIdempotencyKey)
				harness.WantRefused(
					t,
					harness.TryAs(t, poor, r.method, r.path, "{", "Idempotency-Key", strings.Repeat("x", 201)),
					400,
					fault.InvalidIdempotencyKey,
				)
			}
			if r.scope != "" {
				harness.WantRefused(t, r.ask(t, p.AddMember(t, who.Workspace, credential.Publish)), 403, fault.Forbidden)
			}
			if r.unlimited {
				return
			}
			busy := p.AddMember(t, who.Workspace)
			harness.TryAs(t, busy, "GET", "/v1/web/workspace", nil)
			harness.WantRefused(t, r.ask(t, busy), 429, fault.RateLimitedActor)
			if r.lists {
				harness.WantRefused(t, harness.TryAs(t, busy, r.method, r.path+"?limit=0", nil), 429, fault.RateLimitedActor)
			}
		})
	}
}

func TestAWorkspaceIsLimitedWhoeverItsMembersAre(t *testing.T) {
	t.Parallel()
	now := &harness.Clock{Now: time.Now()}
	p := harness.NewBackendEnv(t, now.Use, func(o *stack.Options) { o.Limits.Workspace.Limit = 1 })
	for _, r := range memberRoutes {
		who := p.NewMember(t)
		if harness.TryAs(t, p.AddMember(t, who.Workspace), "GET", "/v1/web/workspace", nil); !r.unlimited {
			harness.WantRefused(t, r.ask(t, who), 429, fault.RateLimitedWorkspace)
		}
	}
}

func TestRoutesOfMembersRefuseWhatTheyCannotRead(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	who := p.NewMember(t)
	before := p.Snapshot(t)
	for _, r := range memberRoutes {
		if r.body != nil {
			for _, body := range []string{"", "{", "[]", "{}", `{"name":7}`, `{"a":1,"a":2}`} {
				harness.WantRefused(
					t, harness.TryAs(t, who, r.method, r.path, body, harness.KeyHeader()...), 400, fault.InvalidRequest,
				)
			}
		}
		if r.lists {
			for _, query := range []string{"limit=0", "limit=101", "limit=x", "limit="} {
				harness.WantRefused(t, harness.TryAs(t, who, r.method, r.path+"?"+query, nil), 400, fault.InvalidRequest)
			}
			for _, query := range []string{"cursor=", "cursor=x", "cursor=" + strings.Repeat("x", 501)} {
				harness.WantRefused(t, harness.TryAs(t, who, r.method, r.path+"?"+query, nil), 400, fault.InvalidCursor)
			}
		}
	}
	p.WantUnchanged(t, before)
}

func TestT48WhatBelongsToOthersIsNotThereForMembers(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	who, other := p.NewMember(t), p.NewMember(t)
	theirs := harness.CallAs[contract.CreatedKey](
		t, other, 201, "POST", "/v1/web/keys", contract.CreateKey{Name: "theirs"}, harness.KeyHeader()...,
	)
	shown := harness.PublishPage(t, &wire.Agent{HTTP: other.HTTP, At: other.At, Key: theirs.Secret}, "theirs")
	for kind, both := range map[string][2]wire.Answer{
		"key": {
			harness.TryAs(t, who, "POST", "/v1/web/keys/"+string(theirs.APIKey.ID)+"/revoke", nil, harness.KeyHeader()...),
			harness.TryAs(
				t, who, "POST", "/v1/web/keys/"+string(id.NewKey(id.NewPublic()))+"/revoke", nil, harness.KeyHeader()...,
			),
		},
		"artifact": {
			harness.TryAs(
				t, who, "GET", "/v1/web/artifacts/"+string(shown.ArtifactID), nil,
			), harness.TryAs(t, who, "GET", "/v1/web/artifacts/"+string(id.NewArtifact()), nil),
		},
	} {
		harness.WantRefused(t, both[0], 404, fault.NotFound)
		harness.WantRefused(t, both[1], 404, fault.NotFound)
		if both[0].Message() != both[1].Message() {
			t.Errorf("a %s of others: %q, one that never was: %q", kind, both[0].Message(), both[1].Message())
		}
	}
	for _, path := range []string{"/v1/web/artifacts", "/v1/web/keys"} {
		if list := harness.CallAs[struct{ Items []any }](t, who, 200, "GET", path, nil); len(list.Items) != 0 {
			t.Errorf("%s shows %v", path, list.Items)
		}
	}
	first := harness.CallAs[contract.WebArtifactList](t, other, 200, "GET", "/v1/web/audit?limit=1", nil)
	harness.WantRefused(
		t, harness.TryAs(t, who, "GET", "/v1/web/audit?cursor="+*first.PageInfo.NextCursor, nil), 400, fault.InvalidCursor,
	)
	harness.WantRefused(
		t,
		harness.TryAs(t, other, "GET", "/v1/web/artifacts?cursor="+*first.PageInfo.NextCursor, nil),
		400,
		fault.InvalidCursor,
	)
}

func TestRoutesOfMembersSayWhenTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	who := p.NewMember(t)
	for _, r := range memberRoutes {
		p.Faults.On("BatchGetItem").Before(chaos.Fail(harness.ErrDown))
		harness.WantRefused(t, r.ask(t, who), 503, fault.DatabaseUnavailable)
	}
	for path, call := range map[string]string{"/v1/web/keys": "Query", "/v1/web/audit": "Query"} {
		p.Faults.On(call).Before(chaos.Fail(harness.ErrDown))
		harness.WantRefused(t, harness.TryAs(t, who, "GET", path, nil), 503, fault.DatabaseUnavailable)
	}
	p.Faults.On("TransactWriteItems").Before(chaos.Fail(harness.ErrDown))
	harness.WantRefused(t, harness.TryCreateKey(t, who, "K", wire.NewKey()), 503, fault.DatabaseUnavailable)
}

func TestAMemberLetsNoAgentInThatDidNotAsk(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	who := p.NewMember(t)
	unknown := func(kind credential.Kind) string {
		return credential.Mint(kind, credential.Preview, id.NoWorkspace, "").Reveal()
	}
	const path = "/v1/web/agent-auth/claim/complete"
	for _, c := range []contract.CompleteClaim{
		{AttemptToken: "x", UserCode: "123456"}, {AttemptToken: unknown(credential.ClaimAttempt), UserCode: "123456"},
		{ClaimToken: unknown(credential.ClaimToken), UserCode: "123456"},
		{UserCode: "123456"},
		{AttemptToken: unknown(credential.ClaimAttempt), UserCode: "12345a"},
	} {
		harness.WantRefused(t, harness.TryAs(t, who, "POST", path, c), 400, fault.InvalidRequest)
	}
	c := contract.CompleteClaim{AttemptToken: unknown(credential.ClaimAttempt), UserCode: "123456"}
	harness.WantRefused(
		t, harness.TryAs(t, p.NewMember(t, credential.Read, credential.Admin), "POST", path, c), 403, fault.Forbidden,
	)
}
