package identity

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func TestAMemberSeesAndChangesTheirWorkspace(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	who := p.NewMember(t)
	called := harness.CallAs[contract.AuthCallback](t, who, 200, "POST", "/v1/auth/web/callback", nil)
	if called.DefaultAPIKey != nil || called.Workspace.ID != who.Workspace || called.WorkspaceMember.ID != who.ID ||
		len(called.Scopes) != 3 {
		t.Errorf("%+v", called)
	}
	w := harness.CallAs[contract.WebWorkspace](t, who, 200, "GET", "/v1/web/workspace", nil)
	if w.DefaultKeyFirstRun || w.UsagePolicy.DailyNewArtifactsRemaining != nil ||
		w.WorkspaceMember.Email != "someone@id.test" || w.UsagePolicy.DailyNewArtifactAllowance != 100 {
		t.Errorf("%+v", w)
	}
	before := harness.CallAs[contract.Settings](t, who, 200, "GET", "/v1/web/settings", nil)
	if before.AutoDeletionDays != 3 || before.AutoDeletionBounds != (contract.AutoDeletionBounds{
		MinDays: 1,
		MaxDays: 7,
	}) || before.UsagePolicy.ArtifactsPerDay != 0 {
		t.Errorf("%+v", before)
	}
	changed := harness.CallAs[contract.Settings](t, who, 200, "PATCH", "/v1/web/settings", contract.UpdateSettings{
		WorkspaceName:    " Studio ",
		AutoDeletionDays: 5,
	}, harness.KeyHeader()...)
	got := harness.CallAs[contract.Settings](t, who, 200, "GET", "/v1/web/settings", nil)
	if got != changed || got.WorkspaceName != "Studio" || got.AutoDeletionDays != 5 {
		t.Errorf("%+v, then %+v", changed, got)
	}
	p.Update(t, "W#"+string(who.Workspace), "META", map[string]any{"plan": "pro"})
	if got := harness.CallAs[contract.Settings](
		t, who, 200, "GET", "/v1/web/settings", nil,
	); got.AutoDeletionBounds.MaxDays != 90 || got.AutoDeletionDays != 5 {
		t.Errorf("%+v", got)
	}
	harness.CallAs[contract.Settings](t, who, 200, "PATCH", "/v1/web/settings", contract.UpdateSettings{
		WorkspaceName:    "Studio",
		AutoDeletionDays: 90,
	}, harness.KeyHeader()...)
	record := harness.CallAs[contract.AuditList](t, who, 200, "GET", "/v1/web/audit?limit=1", nil)
	if len(record.Items) != 1 || !record.PageInfo.HasMore || !strings.Contains(record.Items[0].ChangeSummary, "90 days") {
		t.Fatalf("%+v", record)
	}
	record = harness.CallAs[contract.AuditList](
		t, who, 200, "GET", "/v1/web/audit?cursor="+*record.PageInfo.NextCursor, nil,
	)
	if len(record.Items) != 1 || record.PageInfo.HasMore || record.Items[0].Actor != "member:"+string(who.ID) ||
		record.Items[0].RequestID == "" {
		t.Errorf("%+v", record)
	}
}

func TestAKeyEndsAfterTheDaysThatItsMakerNames(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	cli := p.NewMember(t)
	for name, who := range map[string]*harness.Member{
		"cli":       cli,
		"dashboard": p.GrantTo(t, cli, oauth.Dashboard, p.Origins.API),
	} {
		asked := contract.CreateKey{Name: name, ExpiresInDays: 7}
		made := harness.CallAs[contract.CreatedKey](t, who, 201, "POST", "/v1/web/keys", asked, harness.KeyHeader()...)
		if ends := made.APIKey.ExpiresAt; ends == nil || ends.Sub(made.APIKey.CreatedAt.Time) != 7*limits.Day {
			t.Errorf("%s: %+v", name, made.APIKey)
		}
		for _, days := range []int{-1, limits.MaxKeyLifeDays + 1} {
			asked.ExpiresInDays = days
			a := harness.TryAs(t, who, "POST", "/v1/web/keys", asked, harness.KeyHeader()...)
			harness.WantRefused(t, a, 400, fault.InvalidRequest)
		}
	}
}

func TestKeysOfTheDashboardLiveOnAndThoseOfTheCLIEnd(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	cli := p.NewMember(t)
	dashboard := p.GrantTo(t, cli, oauth.Dashboard, p.Origins.API)
	made := harness.CallAs[contract.CreatedKey](
		t, cli, 201, "POST", "/v1/web/keys", contract.CreateKey{Name: "  vitrine CLI (host) "}, harness.KeyHeader()...,
	)
	if made.APIKey.ExpiresAt == nil || made.APIKey.ExpiresAt.Sub(made.APIKey.CreatedAt.Time) != limits.CLIKeyLife ||
		made.APIKey.Name != "vitrine CLI (host)" {
		t.Errorf("%+v", made.APIKey)
	}
	forGood := harness.CallAs[contract.CreatedKey](
		t, dashboard, 201, "POST", "/v1/web/keys", contract.CreateKey{Name: "server"}, harness.KeyHeader()...,
	)
	if forGood.APIKey.ExpiresAt != nil || strings.Join(forGood.APIKey.Scopes, " ") != "publish read" {
		t.Errorf("T36: %+v", forGood.APIKey)
	}
	agent := &wire.Agent{HTTP: cli.HTTP, At: cli.At, Key: made.Secret}
	shown := harness.PublishPage(t, agent, "by a member's key")
	ended := harness.CallAs[contract.RevokedKey](
		t, dashboard, 200, "POST", "/v1/web/keys/"+string(made.APIKey.ID)+"/revoke", nil, harness.KeyHeader()...,
	)
	harness.WantRefused(t, harness.Do(t, agent, "GET", agent.At.APIURL+"/v1/whoami", nil), 401, fault.NotAuthenticated)
	again := harness.CallAs[contract.RevokedKey](
		t, cli, 200, "POST", "/v1/web/keys/"+string(made.APIKey.ID)+"/revoke", nil, harness.KeyHeader()...,
	)
	if !again.RevokedAt.Equal(ended.RevokedAt.Time) || again.APIKey.RevokedAt == nil {
		t.Errorf("revoked at %s, then at %s", ended.RevokedAt, again.RevokedAt)
	}
	list := harness.CallAs[contract.WebKeyList](t, cli, 200, "GET", "/v1/web/keys", nil)
	if len(list.Items) != 2 || list.Items[0].ID != forGood.APIKey.ID || list.Items[0].Revoked || !list.Items[1].Revoked ||
		list.PageInfo.HasMore {
		t.Errorf("%+v", list)
	}
	rows := harness.CallAs[contract.WebArtifactList](t, cli, 200, "GET", "/v1/web/artifacts", nil)
	if len(rows.Items) != 1 || rows.Items[0].ID != shown.ArtifactID || rows.Items[0].Status != "Published" {
		t.Errorf("%+v", rows)
	}
	detail := harness.CallAs[contract.WebArtifact](t, cli, 200, "GET", "/v1/web/artifacts/"+string(shown.ArtifactID), nil)
	if detail.Viewer == nil || detail.Entrypoint != "index.html" {
		t.Errorf("%+v", detail)
	}
}

func TestArtifactsLiveAsLongAsTheWorkspaceChose(t *testing.T) {
	t.Parallel()
	now := &harness.Clock{Now: time.Now()}
	p := harness.NewBackendEnv(t, now.Use)
	who := p.NewMember(t)
	made := harness.CallAs[contract.CreatedKey](
		t, who, 201, "POST", "/v1/web/keys", contract.CreateKey{Name: "K"}, harness.KeyHeader()...,
	)
	agent := &wire.Agent{HTTP: who.HTTP, At: who.At, Key: made.Secret}
	lives := func() time.Duration {
		return harness.PublishPage(t, agent, "x").ExpiresAt.Sub(now.Now).Round(time.Minute)
	}
	if got := lives(); got != 3*limits.Day {
		t.Errorf("at first artifacts live %s", got)
	}
	harness.CallAs[contract.Settings](t, who, 200, "PATCH", "/v1/web/settings", contract.UpdateSettings{
		WorkspaceName:    "W",
		AutoDeletionDays: 6,
	}, harness.KeyHeader()...)
	if got := lives(); got != 6*limits.Day {
		t.Errorf("then they live %s", got)
	}
}

func TestTheMCPHostLearnsForWhomATokenActs(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	who := p.NewMember(t, credential.Read, credential.Admin)
	there := p.GrantTo(t, who, id.NewClient(), p.Origins.Delegated())
	got := harness.CallAs[contract.MCPWhoami](t, there, http.StatusOK, "GET", "/v1/mcp/whoami", nil)
	if got.WorkspaceMember != (contract.MCPMember{
		ID:    who.ID,
		Email: "someone@id.test",
	}) || got.Workspace.ID != who.Workspace || strings.Join(got.Scopes, " ") != "read admin" {
		t.Errorf("%+v", got)
	}
}

func TestAnEndOfAMembersAccessHoldsAtOnce(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	for name, end := range map[string]func(*harness.Member){
		"the grant is revoked": func(who *harness.Member) {
			p.Update(t, "CRED#"+string(who.Grant), "G", map[string]any{"rev_at": time.Now()})
		},
		"signed out everywhere": func(who *harness.Member) {
			p.Update(t, "W#"+string(who.Workspace), "MEM#"+string(who.ID), map[string]any{"out_at": time.Now()})
		},
		"T83: the epoch was raised": func(who *harness.Member) {
			p.Update(t, "W#"+string(who.Workspace), "META", map[string]any{"epoch": 1})
		},
		"the workspace was locked": func(who *harness.Member) {
			p.Update(t, "W#"+string(who.Workspace), "META", map[string]any{"lock": "lkd_1"})
		},
		"the member is gone": func(who *harness.Member) {
			p.Update(t, "W#"+string(who.Workspace), "MEM#"+string(who.ID), nil)
		},
	} {
		who := p.NewMember(t)
		harness.CallAs[contract.WebWorkspace](t, who, 200, "GET", "/v1/web/workspace", nil)
		end(who)
		a := harness.TryAs(t, who, "GET", "/v1/web/workspace", nil)
		if harness.WantRefused(t, a, 401, fault.NotAuthenticated); a.Header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: no challenge", name)
		}
	}
}
