package identity

import (
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

// createKey makes a key as a member.
func createKey(t testing.TB, who *harness.Member, k contract.CreateKey) contract.CreatedKey {
	t.Helper()
	return harness.CallAs[contract.CreatedKey](t, who, 201, "POST", "/v1/web/keys", k, harness.KeyHeader()...)
}

// updateSettings changes the settings of a member's workspace.
func updateSettings(t testing.TB, who *harness.Member, name string, days int) contract.Settings {
	t.Helper()
	wanted := contract.UpdateSettings{WorkspaceName: name, AutoDeletionDays: days}
	return harness.CallAs[contract.Settings](t, who, 200, "PATCH", "/v1/web/settings", wanted, harness.KeyHeader()...)
}

func TestAMemberSeesAndChangesTheirWorkspace(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	who := p.NewMember(t)
	called := harness.CallAs[contract.AuthCallback](t, who, 200, "POST", "/v1/auth/web/callback", nil)
	if called.DefaultAPIKey != nil || called.Workspace.ID != who.Workspace || called.WorkspaceMember.ID != who.ID ||
		len(called.Scopes) != 3 {
		t.Errorf("%+v, want the member with three scopes and no key", called)
	}
	w := harness.CallAs[contract.WebWorkspace](t, who, 200, "GET", "/v1/web/workspace", nil)
	if w.DefaultKeyFirstRun || w.UsagePolicy.DailyNewArtifactsRemaining != nil ||
		w.WorkspaceMember.Email != "someone@id.test" || w.UsagePolicy.DailyNewArtifactAllowance != 100 {
		t.Errorf("%+v, want the workspace of a member after the first run", w)
	}
	there := p.GrantTo(t, who, id.NewClient(), p.Origins.Delegated())
	me := harness.CallAs[contract.MCPWhoami](t, there, 200, "GET", atMCP, nil)
	if me.WorkspaceMember != (contract.MCPMember{ID: who.ID, Email: "someone@id.test"}) ||
		me.Workspace.ID != who.Workspace || strings.Join(me.Scopes, " ") != "publish read admin" {
		t.Errorf("to the MCP host the member is %+v", me)
	}

	settings := func() contract.Settings {
		t.Helper()
		return harness.CallAs[contract.Settings](t, who, 200, "GET", "/v1/web/settings", nil)
	}
	bounds := contract.AutoDeletionBounds{MinDays: 1, MaxDays: 7}
	if s := settings(); s.AutoDeletionDays != 3 || s.AutoDeletionBounds != bounds || s.UsagePolicy.ArtifactsPerDay != 0 {
		t.Errorf("%+v, want 3 days of 1 to 7", s)
	}
	changed := updateSettings(t, who, " Studio ", 5)
	if got := settings(); got != changed || got.WorkspaceName != "Studio" || got.AutoDeletionDays != 5 {
		t.Errorf("%+v, then %+v: both want Studio and 5 days", changed, got)
	}
	agent := p.WithBearer(createKey(t, who, contract.CreateKey{Name: "K"}).Secret)
	life := harness.PublishPage(t, agent, "x").ExpiresAt.Sub(p.Options.Now())
	if life.Round(time.Minute) != 5*limits.Day {
		t.Errorf("an artifact lives %s", life)
	}
	p.Update(t, "W#"+string(who.Workspace), "META", map[string]any{"plan": "pro"})
	p.Clock.Advance(time.Second)
	updateSettings(t, who, "Studio", 90)

	const audit = "/v1/web/audit?limit=1"
	record := harness.CallAs[contract.AuditList](t, who, 200, "GET", audit, nil)
	if len(record.Items) != 1 || !record.PageInfo.HasMore || !strings.Contains(record.Items[0].ChangeSummary, "90 days") ||
		record.Items[0].Actor != "member:"+string(who.ID) || record.Items[0].RequestID == "" {
		t.Fatalf("%+v, want one of several, of the member, about 90 days", record)
	}
	cursor := "&cursor=" + *record.PageInfo.NextCursor
	older := harness.CallAs[contract.AuditList](t, who, 200, "GET", audit+cursor, nil)
	if len(older.Items) != 1 || older.Items[0].ID == record.Items[0].ID {
		t.Errorf("%+v, want the one before", older)
	}
	for _, of := range []string{audit + cursor, "/v1/web/artifacts?limit=1" + cursor} {
		stranger := p.NewMember(t)
		harness.WantRefused(t, harness.TryAs(t, stranger, "GET", of, nil), 400, fault.InvalidCursor)
	}
}

// TestKeysOfTheDashboardLiveOnAndThoseOfTheCLIEnd makes, uses, lists and revokes keys.
func TestKeysOfTheDashboardLiveOnAndThoseOfTheCLIEnd(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	cli := p.NewMember(t)
	dashboard := p.GrantTo(t, cli, oauth.Dashboard, p.Origins.API)
	made := createKey(t, cli, contract.CreateKey{Name: "  vitrine CLI (host) "})
	if ends := made.APIKey.ExpiresAt; ends == nil || ends.Sub(made.APIKey.CreatedAt.Time) != limits.CLIKeyLife ||
		made.APIKey.Name != "vitrine CLI (host)" {
		t.Errorf("%+v, want the trimmed name and the life of a CLI's key", made.APIKey)
	}
	forGood := createKey(t, dashboard, contract.CreateKey{Name: "server"})
	if forGood.APIKey.ExpiresAt != nil || strings.Join(forGood.APIKey.Scopes, " ") != "publish read" {
		t.Errorf("T36: %+v", forGood.APIKey)
	}
	week := createKey(t, dashboard, contract.CreateKey{Name: "week", ExpiresInDays: 7}).APIKey
	if week.ExpiresAt == nil || week.ExpiresAt.Sub(week.CreatedAt.Time) != 7*limits.Day {
		t.Errorf("%+v, want seven days", week)
	}
	for _, days := range []int{-1, limits.MaxKeyLifeDays + 1} {
		asked := contract.CreateKey{Name: "K", ExpiresInDays: days}
		a := harness.TryAs(t, cli, "POST", "/v1/web/keys", asked, harness.KeyHeader()...)
		harness.WantRefused(t, a, 400, fault.InvalidRequest)
	}

	agent := p.WithBearer(made.Secret)
	shown := harness.PublishPage(t, agent, "by a member's key")
	revoke := "/v1/web/keys/" + string(made.APIKey.ID) + "/revoke"
	key := harness.KeyHeader()
	ended := harness.CallAs[contract.RevokedKey](t, dashboard, 200, "POST", revoke, nil, key...)
	harness.WantRefused(t, harness.Do(t, agent, "GET", p.Origins.API+"/v1/whoami", nil), 401, fault.NotAuthenticated)
	again := harness.CallAs[contract.RevokedKey](t, cli, 200, "POST", revoke, nil, harness.KeyHeader()...)
	if !again.RevokedAt.Equal(ended.RevokedAt.Time) || again.APIKey.RevokedAt == nil {
		t.Errorf("revoked at %s, then at %s", ended.RevokedAt, again.RevokedAt)
	}
	other := strings.Replace(revoke, string(made.APIKey.ID), string(week.ID), 1) // T50: another target, another command
	if got := harness.CallAs[contract.RevokedKey](t, cli, 200, "POST", other, nil, key...); got.APIKey.ID != week.ID {
		t.Errorf("%s was asked, %s was revoked", week.ID, got.APIKey.ID)
	}
	list := harness.CallAs[contract.WebKeyList](t, cli, 200, "GET", "/v1/web/keys", nil)
	revoked := map[id.Key]bool{made.APIKey.ID: true, forGood.APIKey.ID: false, week.ID: true}
	for _, row := range list.Items {
		if row.Revoked != revoked[row.ID] {
			t.Errorf("%+v: revoked is wrong", row)
		}
	}
	if len(list.Items) != len(revoked) || list.PageInfo.HasMore {
		t.Errorf("%+v, want three keys on one page", list)
	}

	artifact := "/v1/web/artifacts/" + string(shown.ArtifactID)
	rows := harness.CallAs[contract.WebArtifactList](t, cli, 200, "GET", "/v1/web/artifacts", nil)
	detail := harness.CallAs[contract.WebArtifact](t, cli, 200, "GET", artifact, nil)
	if len(rows.Items) != 1 || rows.Items[0].ID != shown.ArtifactID || rows.Items[0].Status != "Published" ||
		detail.Viewer == nil || detail.Entrypoint != "index.html" {
		t.Errorf("%+v %+v, want the published artifact, with its viewer", rows, detail)
	}
	stranger := p.NewMember(t) // T48
	harness.WantRefused(t, harness.TryAs(t, stranger, "GET", artifact, nil), 404, fault.NotFound)
	harness.WantRefused(t, harness.TryAs(t, stranger, "POST", revoke, nil, harness.KeyHeader()...), 404, fault.NotFound)
}

// TestT49T50T51ACommandIsRepeatedByItsMemberWithItsRightsAlone repeats the creation of a key.
func TestT49T50T51ACommandIsRepeatedByItsMemberWithItsRightsAlone(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	who, idem := p.NewMember(t), wire.NewKey()
	made := harness.CreatedKey(t, harness.TryCreateKey(t, who, "mine", idem))
	if again := harness.CreatedKey(t, harness.TryCreateKey(t, who, "mine", idem)); again.Secret != made.Secret {
		t.Error("the repetition makes another key")
	}
	harness.WantRefused(t, harness.TryCreateKey(t, who, "another", idem), 400, fault.InvalidIdempotencyKey)
	other := p.AddMember(t, who.Workspace) // T49
	if theirs := harness.CreatedKey(t, harness.TryCreateKey(t, other, "mine", idem)); theirs.Secret == made.Secret {
		t.Error("another member gets the secret")
	}
	row := "MEM#" + string(who.ID)
	p.Update(t, "W#"+string(who.Workspace), row, map[string]any{"scopes": string(credential.Publish)})
	harness.WantRefused(t, harness.TryCreateKey(t, who, "mine", idem), 403, fault.Forbidden)
	p.Update(t, "CRED#"+string(who.Grant), "G", map[string]any{"rev_at": p.Options.Now()})
	harness.WantRefused(t, harness.TryCreateKey(t, who, "mine", idem), 401, fault.NotAuthenticated)
}
