package journey

import (
	"encoding/binary"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// person is a member of a workspace whose credential is an access token.
type person struct {
	*wire.Agent
	member    id.Member
	workspace id.Workspace
	grant     id.Public
}

// everything is what members may do as a rule.
var everything = []credential.Scope{credential.Publish, credential.Read, credential.Admin}

// person writes a workspace with a member for whom the CLI acts.
func (p *probe) person(t testing.TB, scopes ...credential.Scope) *person {
	t.Helper()
	now := p.options.Now()
	w := id.NewWorkspace()
	p.put(t, stored{}, map[string]any{
		"pk": "W#" + string(w), "sk": "META", "name": "Someone's Workspace", "plan": "free", "created": now, "claimed_at": now,
	})
	return p.colleague(t, w, scopes...)
}

// colleague writes another member of a workspace.
func (p *probe) colleague(t testing.TB, w id.Workspace, scopes ...credential.Scope) *person {
	t.Helper()
	if scopes == nil {
		scopes = everything
	}
	now := p.options.Now()
	who := &person{member: id.NewMember(), workspace: w}
	p.put(t, stored{}, map[string]any{
		"pk": "W#" + string(w), "sk": "MEM#" + string(who.member), "iss": "https://id.test", "sub": string(who.member), "email": "someone@id.test",
		"scopes": words(scopes), "created": now, "seen": now,
	})
	return p.lets(t, who, oauth.CLI, p.Origins.API)
}

// lets gives a client a grant of the member for a host; what it returns acts with its access token.
func (p *probe) lets(t testing.TB, who *person, client id.Client, audience string) *person {
	t.Helper()
	now := p.options.Now()
	token := credential.Mint(credential.AccessToken, credential.Preview, who.workspace, "")
	h := token.Hash(p.peppers(t))
	issued := binary.BigEndian.AppendUint64([]byte{h.Pepper}, uint64(now.Add(limits.AccessTokenLife).UnixMilli()))
	p.put(t, stored{}, map[string]any{
		"pk": "CRED#" + string(token.Public), "sk": "G", "client": string(client), "name": "client", "mem": string(who.member),
		"ws": string(who.workspace), "aud": audience, "scopes": "read publish", "created": now, "exp": now.Add(limits.MaxRefreshLife),
		"tokens": append(issued, h.MAC...),
	})
	return &person{
		Agent:     &wire.Agent{HTTP: p.anyone.HTTP, At: p.anyone.At, Key: token.Reveal()},
		member:    who.member,
		workspace: who.workspace,
		grant:     token.Public,
	}
}

// asks sends a request to the api host and unpacks its answer, which has to have this status.
func asks[T any](t testing.TB, who *person, status int, method, path string, body any, headers ...string) (out T) {
	t.Helper()
	a := do(t, who.Agent, method, who.At.APIURL+path, body, headers...)
	if a.Status != status {
		t.Fatalf("%s %s answers %d %s", method, path, a.Status, a.Body)
	}
	succeed(t, json.Unmarshal(a.Body, &out))
	return out
}

// tries sends a request to the api host.
func tries(t testing.TB, who *person, method, path string, body any, headers ...string) wire.Answer {
	t.Helper()
	return do(t, who.Agent, method, who.At.APIURL+path, body, headers...)
}

// keyed is the header of a repeatable command, with a fresh key.
func keyed() []string { return []string{"Idempotency-Key", wire.NewKey()} }

func TestAMemberSeesAndChangesTheirWorkspace(t *testing.T) {
	t.Parallel()
	p := pry(t)
	who := p.person(t)
	called := asks[contract.AuthCallback](t, who, 200, "POST", "/v1/auth/web/callback", nil)
	if called.DefaultAPIKey != nil || called.Workspace.ID != who.workspace || called.WorkspaceMember.ID != who.member || len(called.Scopes) != 3 {
		t.Errorf("%+v", called)
	}
	w := asks[contract.WebWorkspace](t, who, 200, "GET", "/v1/web/workspace", nil)
	if w.DefaultKeyFirstRun || w.UsagePolicy.DailyNewArtifactsRemaining != nil || w.WorkspaceMember.Email != "someone@id.test" || w.UsagePolicy.DailyNewArtifactAllowance != 100 {
		t.Errorf("%+v", w)
	}
	before := asks[contract.Settings](t, who, 200, "GET", "/v1/web/settings", nil)
	if before.AutoDeletionDays != 3 || before.AutoDeletionBounds != (contract.AutoDeletionBounds{MinDays: 1, MaxDays: 7}) || before.UsagePolicy.ArtifactsPerDay != 0 {
		t.Errorf("%+v", before)
	}
	changed := asks[contract.Settings](t, who, 200, "PATCH", "/v1/web/settings", contract.UpdateSettings{WorkspaceName: " Studio ", AutoDeletionDays: 5}, keyed()...)
	if got := asks[contract.Settings](t, who, 200, "GET", "/v1/web/settings", nil); got != changed || got.WorkspaceName != "Studio" || got.AutoDeletionDays != 5 {
		t.Errorf("%+v, then %+v", changed, got)
	}
	p.change(t, "W#"+string(who.workspace), "META", map[string]any{"plan": "pro"})
	if got := asks[contract.Settings](t, who, 200, "GET", "/v1/web/settings", nil); got.AutoDeletionBounds.MaxDays != 90 || got.AutoDeletionDays != 5 {
		t.Errorf("%+v", got)
	}
	asks[contract.Settings](t, who, 200, "PATCH", "/v1/web/settings", contract.UpdateSettings{WorkspaceName: "Studio", AutoDeletionDays: 90}, keyed()...)
	record := asks[contract.AuditList](t, who, 200, "GET", "/v1/web/audit?limit=1", nil)
	if len(record.Items) != 1 || !record.PageInfo.HasMore || !strings.Contains(record.Items[0].ChangeSummary, "90 days") {
		t.Fatalf("%+v", record)
	}
	record = asks[contract.AuditList](t, who, 200, "GET", "/v1/web/audit?cursor="+*record.PageInfo.NextCursor, nil)
	if len(record.Items) != 1 || record.PageInfo.HasMore || record.Items[0].Actor != "member:"+string(who.member) || record.Items[0].RequestID == "" {
		t.Errorf("%+v", record)
	}
}

func TestKeysOfTheDashboardLiveOnAndThoseOfTheCLIEnd(t *testing.T) {
	t.Parallel()
	p := pry(t)
	cli := p.person(t)
	dashboard := p.lets(t, cli, oauth.Dashboard, p.Origins.API)
	made := asks[contract.CreatedKey](t, cli, 201, "POST", "/v1/web/keys", contract.CreateKey{Name: "  vitrine CLI (host) "}, keyed()...)
	if made.APIKey.ExpiresAt == nil || made.APIKey.ExpiresAt.Sub(made.APIKey.CreatedAt.Time) != limits.CLIKeyLife || made.APIKey.Name != "vitrine CLI (host)" {
		t.Errorf("%+v", made.APIKey)
	}
	forGood := asks[contract.CreatedKey](t, dashboard, 201, "POST", "/v1/web/keys", contract.CreateKey{Name: "server"}, keyed()...)
	if forGood.APIKey.ExpiresAt != nil || strings.Join(forGood.APIKey.Scopes, " ") != "publish read" {
		t.Errorf("T36: %+v", forGood.APIKey)
	}
	agent := &wire.Agent{HTTP: cli.HTTP, At: cli.At, Key: made.Secret}
	shown := published(t, agent, "by a member's key")
	ended := asks[contract.RevokedKey](t, dashboard, 200, "POST", "/v1/web/keys/"+string(made.APIKey.ID)+"/revoke", nil, keyed()...)
	refused(t, do(t, agent, "GET", agent.At.APIURL+"/v1/whoami", nil), 401, fault.NotAuthenticated)
	again := asks[contract.RevokedKey](t, cli, 200, "POST", "/v1/web/keys/"+string(made.APIKey.ID)+"/revoke", nil, keyed()...)
	if !again.RevokedAt.Equal(ended.RevokedAt.Time) || again.APIKey.RevokedAt == nil {
		t.Errorf("revoked at %s, then at %s", ended.RevokedAt, again.RevokedAt)
	}
	list := asks[contract.WebKeyList](t, cli, 200, "GET", "/v1/web/keys", nil)
	if len(list.Items) != 2 || list.Items[0].ID != forGood.APIKey.ID || list.Items[0].Revoked || !list.Items[1].Revoked || list.PageInfo.HasMore {
		t.Errorf("%+v", list)
	}
	rows := asks[contract.WebArtifactList](t, cli, 200, "GET", "/v1/web/artifacts", nil)
	if len(rows.Items) != 1 || rows.Items[0].ID != shown.ArtifactID || rows.Items[0].Status != "Published" {
		t.Errorf("%+v", rows)
	}
	detail := asks[contract.WebArtifact](t, cli, 200, "GET", "/v1/web/artifacts/"+string(shown.ArtifactID), nil)
	if detail.Viewer == nil || detail.Entrypoint != "index.html" {
		t.Errorf("%+v", detail)
	}
}

func TestArtifactsLiveAsLongAsTheWorkspaceChose(t *testing.T) {
	t.Parallel()
	now := &clock{now: time.Now()}
	p := pry(t, now.rule)
	who := p.person(t)
	made := asks[contract.CreatedKey](t, who, 201, "POST", "/v1/web/keys", contract.CreateKey{Name: "K"}, keyed()...)
	agent := &wire.Agent{HTTP: who.HTTP, At: who.At, Key: made.Secret}
	lives := func() time.Duration { return published(t, agent, "x").ExpiresAt.Sub(now.now).Round(time.Minute) }
	if got := lives(); got != 3*limits.Day {
		t.Errorf("at first artifacts live %s", got)
	}
	asks[contract.Settings](t, who, 200, "PATCH", "/v1/web/settings", contract.UpdateSettings{WorkspaceName: "W", AutoDeletionDays: 6}, keyed()...)
	if got := lives(); got != 6*limits.Day {
		t.Errorf("then they live %s", got)
	}
}

func TestTheMCPHostLearnsForWhomATokenActs(t *testing.T) {
	t.Parallel()
	p := pry(t)
	who := p.person(t, credential.Read, credential.Admin)
	there := p.lets(t, who, id.NewClient(), p.Origins.Delegated())
	got := asks[contract.MCPWhoami](t, there, http.StatusOK, "GET", "/v1/mcp/whoami", nil)
	if got.WorkspaceMember != (contract.MCPMember{ID: who.member, Email: "someone@id.test"}) || got.Workspace.ID != who.workspace || strings.Join(got.Scopes, " ") != "read admin" {
		t.Errorf("%+v", got)
	}
}

func TestAnEndOfAMembersAccessHoldsAtOnce(t *testing.T) {
	t.Parallel()
	p := pry(t)
	for name, end := range map[string]func(*person){
		"the grant is revoked": func(who *person) {
			p.change(t, "CRED#"+string(who.grant), "G", map[string]any{"rev_at": time.Now()})
		},
		"signed out everywhere": func(who *person) {
			p.change(t, "W#"+string(who.workspace), "MEM#"+string(who.member), map[string]any{"out_at": time.Now()})
		},
		"T83: the epoch was raised": func(who *person) {
			p.change(t, "W#"+string(who.workspace), "META", map[string]any{"epoch": 1})
		},
		"the workspace was locked": func(who *person) {
			p.change(t, "W#"+string(who.workspace), "META", map[string]any{"lock": "lkd_1"})
		},
		"the member is gone": func(who *person) { p.change(t, "W#"+string(who.workspace), "MEM#"+string(who.member), nil) },
	} {
		who := p.person(t)
		asks[contract.WebWorkspace](t, who, 200, "GET", "/v1/web/workspace", nil)
		end(who)
		a := tries(t, who, "GET", "/v1/web/workspace", nil)
		if refused(t, a, 401, fault.NotAuthenticated); a.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: no challenge", name)
		}
	}
}
