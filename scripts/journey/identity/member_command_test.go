package identity

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

func TestALostAnswerToACreationIsAskedForAgain(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	who := p.NewMember(t)
	idem := wire.NewKey()
	p.Faults.On("TransactWriteItems").Times(3).After(chaos.Timeout)
	harness.WantRefused(t, harness.TryCreateKey(t, who, "lost", idem), 503, fault.DatabaseUnavailable)
	made := harness.CreatedKey(t, harness.TryCreateKey(t, who, "lost", idem))
	agent := &wire.Agent{HTTP: who.HTTP, At: who.At, Key: made.Secret}
	a := harness.Do(t, agent, "GET", who.At.APIURL+"/v1/whoami", nil)
	if a.Status != http.StatusOK || p.CountItems(t, p.Tables.Core, "K#") != 1 {
		t.Error(a.Status, a.Code())
	}
}

func TestT49TheKeyOfACommandIsItsMembersOwn(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	who := p.NewMember(t)
	idem := wire.NewKey()
	seen := map[string]bool{}
	for _, other := range []*harness.Member{who, p.AddMember(t, who.Workspace), p.NewMember(t)} {
		made := harness.CreatedKey(t, harness.TryCreateKey(t, other, "mine", idem))
		if seen[made.Secret] || made.APIKey.WorkspaceID != other.Workspace {
			t.Errorf("%+v is somebody else's", made.APIKey)
		}
		seen[made.Secret] = true
	}
	again := harness.CreatedKey(
		t, harness.TryCreateKey(t, p.GrantTo(t, who, oauth.Dashboard, p.Origins.API), "mine", idem),
	)
	if !seen[again.Secret] {
		t.Error("the same member is another one through another client")
	}
}

func TestT50TheKeyOfACommandIsForOneBody(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	who := p.NewMember(t)
	idem := wire.NewKey()
	one, two := harness.CreatedKey(t, harness.TryCreateKey(t, who, "one", idem)), harness.CreatedKey(
		t, harness.TryCreateKey(t, who, "two", wire.NewKey()),
	)
	harness.WantRefused(t, harness.TryCreateKey(t, who, "another", idem), 400, fault.InvalidIdempotencyKey)
	settings := contract.UpdateSettings{WorkspaceName: "W", AutoDeletionDays: 3}
	first := harness.CallAs[contract.Settings](t, who, 200, "PATCH", "/v1/web/settings", settings, "Idempotency-Key", idem)
	harness.CallAs[contract.Settings](t, who, 200, "PATCH", "/v1/web/settings", contract.UpdateSettings{
		WorkspaceName:    "V",
		AutoDeletionDays: 4,
	}, harness.KeyHeader()...)
	again := harness.CallAs[contract.Settings](t, who, 200, "PATCH", "/v1/web/settings", settings, "Idempotency-Key", idem)
	if again != first {
		t.Errorf("%+v, then %+v", first, again)
	}
	settings.AutoDeletionDays = 5
	harness.WantRefused(
		t,
		harness.TryAs(t, who, "PATCH", "/v1/web/settings", settings, "Idempotency-Key", idem),
		400,
		fault.InvalidIdempotencyKey,
	)
	for _, made := range []contract.CreatedKey{one, two} { // one key of the client for two targets
		path := "/v1/web/keys/" + string(made.APIKey.ID) + "/revoke"
		ended := harness.CallAs[contract.RevokedKey](t, who, 200, "POST", path, nil, "Idempotency-Key", idem)
		if ended.APIKey.ID != made.APIKey.ID {
			t.Errorf("%s was asked, %s was revoked", made.APIKey.ID, ended.APIKey.ID)
		}
	}
}

func TestT51ARepetitionNeedsTheRightsOfTheFirstTime(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	who := p.NewMember(t)
	idem := wire.NewKey()
	made := harness.CreatedKey(t, harness.TryCreateKey(t, who, "mine", idem))
	told := func(a wire.Answer) bool { return strings.Contains(string(a.Body), made.Secret) }
	row := "MEM#" + string(who.ID)
	p.Update(t, "W#"+string(who.Workspace), row, map[string]any{"scopes": "publish read"})
	a := harness.TryCreateKey(t, who, "mine", idem)
	if harness.WantRefused(t, a, 403, fault.Forbidden); told(a) {
		t.Error("the secret is told without the scope")
	}
	p.Update(t, "W#"+string(who.Workspace), row, map[string]any{"scopes": "publish read admin"})
	if again := harness.CreatedKey(t, harness.TryCreateKey(t, who, "mine", idem)); again.Secret != made.Secret {
		t.Error("the right came back and the answer did not")
	}
	p.Update(t, "CRED#"+string(who.Grant), "G", map[string]any{"rev_at": time.Now()})
	a = harness.TryCreateKey(t, who, "mine", idem)
	if harness.WantRefused(t, a, 401, fault.NotAuthenticated); told(a) {
		t.Error("the secret is told without the grant")
	}
}

func TestT52TheSecretOfAKeyIsNotStored(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	who := p.NewMember(t)
	idem := wire.NewKey()
	made := harness.CreatedKey(t, harness.TryCreateKey(t, who, "hidden name", idem))
	harness.TryCreateKey(t, who, "hidden name", idem)
	harness.CallAs[contract.RevokedKey](
		t, who, 200, "POST", "/v1/web/keys/"+string(made.APIKey.ID)+"/revoke", nil, harness.KeyHeader()...,
	)
	var secrets []string
	for _, whole := range []string{made.Secret, who.Key} {
		const tail, check = 43 + 6, 6
		secret := whole[len(whole)-tail : len(whole)-check]
		raw := harness.Must(base64.RawURLEncoding.DecodeString(secret))(t)
		secrets = append(
			secrets,
			whole,
			secret,
			string(raw),
			base64.StdEncoding.EncodeToString([]byte(whole))[:60],
			base64.StdEncoding.EncodeToString(raw),
		)
	}
	var all strings.Builder
	for _, table := range []string{p.Tables.Core, p.Tables.Events, p.Tables.Hot} {
		for _, item := range p.Scan(t, table) {
			for name, v := range item {
				all.WriteString(name + " " + harness.Inflated(v) + "\n")
			}
		}
	}
	if !strings.Contains(all.String(), "hidden name") || !strings.Contains(all.String(), `"sealed"`) {
		t.Fatal("the scan sees nothing")
	}
	for n, s := range secrets {
		if strings.Contains(all.String(), s) {
			t.Errorf("secret %d is stored", n)
		}
	}
}

func TestACommandThatFailedLeavesNothing(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	who := p.NewMember(t)
	before := p.Snapshot(t)
	idem := wire.NewKey()
	p.Faults.On("TransactWriteItems").Times(3).Before(chaos.Timeout)
	harness.WantRefused(t, harness.TryCreateKey(t, who, "failed", idem), 503, fault.DatabaseUnavailable)
	p.WantUnchanged(t, before)
	harness.CreatedKey(t, harness.TryCreateKey(t, who, "failed", idem))
}

func TestMembersReadWithTheScopeRead(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	reader := p.NewMember(t, credential.Read)
	list := harness.CallAs[contract.WebArtifactList](t, reader, 200, "GET", "/v1/web/artifacts", nil)
	if len(list.Items) != 0 || list.PageInfo.HasMore {
		t.Errorf("%+v", list)
	}
	harness.WantRefused(t, harness.TryAs(t, reader, "GET", "/v1/web/audit", nil), 403, fault.Forbidden)
}
