package journey

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// makeKey asks for a key with an Idempotency-Key.
func makeKey(t testing.TB, who *person, name, idem string) wire.Answer {
	t.Helper()
	return tries(t, who, "POST", "/v1/web/keys", contract.CreateKey{Name: name}, "Idempotency-Key", idem)
}

// keyIn unpacks a key that was made.
func keyIn(t testing.TB, a wire.Answer) (made contract.CreatedKey) {
	t.Helper()
	if a.Status != http.StatusCreated {
		t.Fatal(a.Status, a.Code(), a.Message())
	}
	succeed(t, json.Unmarshal(a.Body, &made))
	return made
}

func TestARepeatedCreationShowsTheSameKeyAgain(t *testing.T) {
	t.Parallel()
	p := pry(t, unlimited)
	who := p.person(t)
	idem := wire.NewKey()
	var first string
	for _, a := range together(func() wire.Answer { return makeKey(t, who, "once", idem) }) {
		if a.Status == http.StatusConflict {
			refused(t, a, 409, fault.IdempotencyInFlight)
			continue
		}
		if made := keyIn(t, a); first == "" {
			first = made.Secret
		} else if made.Secret != first {
			t.Error("two secrets for one command")
		}
	}
	if made := keyIn(t, makeKey(t, who, "once", idem)); made.Secret != first || first == "" {
		t.Error("the repetition shows another secret")
	}
	if n := p.count(t, p.names.Core, "K#"); n != 1 {
		t.Errorf("%d keys were made", n)
	}
	agent := &wire.Agent{HTTP: who.HTTP, At: who.At, Key: first}
	if a := do(t, agent, "GET", who.At.APIURL+"/v1/whoami", nil); a.Status != http.StatusOK {
		t.Error("the key does not work", a.Status)
	}
}

func TestALostAnswerToACreationIsAskedForAgain(t *testing.T) {
	t.Parallel()
	p := pry(t, unlimited)
	who := p.person(t)
	idem := wire.NewKey()
	p.faults.On("TransactWriteItems").Times(3).After(chaos.Timeout)
	refused(t, makeKey(t, who, "lost", idem), 503, fault.DatabaseUnavailable)
	made := keyIn(t, makeKey(t, who, "lost", idem))
	agent := &wire.Agent{HTTP: who.HTTP, At: who.At, Key: made.Secret}
	if a := do(t, agent, "GET", who.At.APIURL+"/v1/whoami", nil); a.Status != http.StatusOK || p.count(t, p.names.Core, "K#") != 1 {
		t.Error(a.Status, a.Code())
	}
}

func TestT49TheKeyOfACommandIsItsMembersOwn(t *testing.T) {
	t.Parallel()
	p := pry(t, unlimited)
	who := p.person(t)
	idem := wire.NewKey()
	seen := map[string]bool{}
	for _, other := range []*person{who, p.colleague(t, who.workspace), p.person(t)} {
		made := keyIn(t, makeKey(t, other, "mine", idem))
		if seen[made.Secret] || made.APIKey.WorkspaceID != other.workspace {
			t.Errorf("%+v is somebody else's", made.APIKey)
		}
		seen[made.Secret] = true
	}
	again := keyIn(t, makeKey(t, p.lets(t, who, oauth.Dashboard, p.Origins.API), "mine", idem))
	if !seen[again.Secret] {
		t.Error("the same member is another one through another client")
	}
}

func TestT50TheKeyOfACommandIsForOneBody(t *testing.T) {
	t.Parallel()
	p := pry(t, unlimited)
	who := p.person(t)
	idem := wire.NewKey()
	one, two := keyIn(t, makeKey(t, who, "one", idem)), keyIn(t, makeKey(t, who, "two", wire.NewKey()))
	refused(t, makeKey(t, who, "another", idem), 400, fault.InvalidIdempotencyKey)
	settings := contract.UpdateSettings{WorkspaceName: "W", AutoDeletionDays: 3}
	first := asks[contract.Settings](t, who, 200, "PATCH", "/v1/web/settings", settings, "Idempotency-Key", idem)
	asks[contract.Settings](t, who, 200, "PATCH", "/v1/web/settings", contract.UpdateSettings{WorkspaceName: "V", AutoDeletionDays: 4}, keyed()...)
	if again := asks[contract.Settings](t, who, 200, "PATCH", "/v1/web/settings", settings, "Idempotency-Key", idem); again != first {
		t.Errorf("%+v, then %+v", first, again)
	}
	settings.AutoDeletionDays = 5
	refused(t, tries(t, who, "PATCH", "/v1/web/settings", settings, "Idempotency-Key", idem), 400, fault.InvalidIdempotencyKey)
	for _, made := range []contract.CreatedKey{one, two} { // one key of the client for two targets
		path := "/v1/web/keys/" + string(made.APIKey.ID) + "/revoke"
		if ended := asks[contract.RevokedKey](t, who, 200, "POST", path, nil, "Idempotency-Key", idem); ended.APIKey.ID != made.APIKey.ID {
			t.Errorf("%s was asked, %s was revoked", made.APIKey.ID, ended.APIKey.ID)
		}
	}
}

func TestT51ARepetitionNeedsTheRightsOfTheFirstTime(t *testing.T) {
	t.Parallel()
	p := pry(t, unlimited)
	who := p.person(t)
	idem := wire.NewKey()
	made := keyIn(t, makeKey(t, who, "mine", idem))
	told := func(a wire.Answer) bool { return strings.Contains(string(a.Body), made.Secret) }
	row := "MEM#" + string(who.member)
	p.change(t, "W#"+string(who.workspace), row, map[string]any{"scopes": "publish read"})
	a := makeKey(t, who, "mine", idem)
	if refused(t, a, 403, fault.Forbidden); told(a) {
		t.Error("the secret is told without the scope")
	}
	p.change(t, "W#"+string(who.workspace), row, map[string]any{"scopes": "publish read admin"})
	if again := keyIn(t, makeKey(t, who, "mine", idem)); again.Secret != made.Secret {
		t.Error("the right came back and the answer did not")
	}
	p.change(t, "CRED#"+string(who.grant), "G", map[string]any{"rev_at": time.Now()})
	a = makeKey(t, who, "mine", idem)
	if refused(t, a, 401, fault.NotAuthenticated); told(a) {
		t.Error("the secret is told without the grant")
	}
}

func TestT52TheSecretOfAKeyIsNotStored(t *testing.T) {
	t.Parallel()
	p := pry(t, unlimited)
	who := p.person(t)
	idem := wire.NewKey()
	made := keyIn(t, makeKey(t, who, "hidden name", idem))
	makeKey(t, who, "hidden name", idem)
	asks[contract.RevokedKey](t, who, 200, "POST", "/v1/web/keys/"+string(made.APIKey.ID)+"/revoke", nil, keyed()...)
	var secrets []string
	for _, whole := range []string{made.Secret, who.Key} {
		const tail, check = 43 + 6, 6
		secret := whole[len(whole)-tail : len(whole)-check]
		raw := must(base64.RawURLEncoding.DecodeString(secret))(t)
		secrets = append(secrets, whole, secret, string(raw), base64.StdEncoding.EncodeToString([]byte(whole))[:60], base64.StdEncoding.EncodeToString(raw))
	}
	var all strings.Builder
	for _, table := range []string{p.names.Core, p.names.Events, p.names.Hot} {
		for _, item := range p.all(t, table) {
			for name, v := range item {
				all.WriteString(name + " " + plain(v) + "\n")
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

func TestAKeyIsRevokedOnceHoweverOftenItIsAsked(t *testing.T) {
	t.Parallel()
	p := pry(t, unlimited)
	who := p.person(t)
	made := keyIn(t, makeKey(t, who, "raced", wire.NewKey()))
	path := "/v1/web/keys/" + string(made.APIKey.ID) + "/revoke"
	times := map[string]bool{}
	for _, a := range together(func() wire.Answer { return tries(t, who, "POST", path, nil, keyed()...) }) {
		var ended contract.RevokedKey
		if succeed(t, json.Unmarshal(a.Body, &ended)); a.Status != http.StatusOK {
			t.Error(a.Status, a.Code())
		}
		times[ended.RevokedAt.String()] = true
	}
	record := asks[contract.AuditList](t, who, 200, "GET", "/v1/web/audit", nil)
	if len(times) != 1 || len(record.Items) != 2 {
		t.Errorf("%d times, %d events", len(times), len(record.Items))
	}
}

func TestACommandThatFailedLeavesNothing(t *testing.T) {
	t.Parallel()
	p := pry(t, unlimited)
	who := p.person(t)
	before := p.state(t)
	idem := wire.NewKey()
	p.faults.On("TransactWriteItems").Times(3).Before(chaos.Timeout)
	refused(t, makeKey(t, who, "failed", idem), 503, fault.DatabaseUnavailable)
	p.unchanged(t, before)
	keyIn(t, makeKey(t, who, "failed", idem))
}

func TestMembersReadWithTheScopeRead(t *testing.T) {
	t.Parallel()
	p := pry(t)
	reader := p.person(t, credential.Read)
	if list := asks[contract.WebArtifactList](t, reader, 200, "GET", "/v1/web/artifacts", nil); len(list.Items) != 0 || list.PageInfo.HasMore {
		t.Errorf("%+v", list)
	}
	refused(t, tries(t, reader, "GET", "/v1/web/audit", nil), 403, fault.Forbidden)
}

func TestEveryRouteOfMembersStaysWithinItsBudget(t *testing.T) {
	now := &clock{now: time.Now()}
	p := pry(t, now.rule)
	p.faults.On("").Always().Before(chaos.Delay(callDelay))
	who := p.person(t)
	there := p.lets(t, who, "oc_x", p.Origins.Delegated())
	l := &ledger{deployment: p.deployment, clock: now, last: &lastAnswer{RoundTripper: p.anyone.HTTP.Transport}}
	p.anyone.HTTP.Transport = l.last
	made := keyIn(t, makeKey(t, who, "first", wire.NewKey()))
	shown := published(t, &wire.Agent{HTTP: who.HTTP, At: who.At, Key: made.Secret}, "shown")
	settings := contract.UpdateSettings{WorkspaceName: "W", AutoDeletionDays: 3}
	// Everywhere the grant with the workspace, then the member, then two counters beside what is asked.
	for _, route := range []struct {
		name string
		most budget
		ask  func() wire.Answer
	}{
		{"mcp whoami", budget{4, 3, 3, 2}, func() wire.Answer { return tries(t, there, "GET", "/v1/mcp/whoami", nil) }},
		{"callback, not counted", budget{2, 2, 3, 0}, func() wire.Answer { return tries(t, who, "POST", "/v1/auth/web/callback", nil) }},
		{"workspace", budget{4, 3, 3, 2}, func() wire.Answer { return tries(t, who, "GET", "/v1/web/workspace", nil) }},
		{"settings", budget{4, 3, 3, 2}, func() wire.Answer { return tries(t, who, "GET", "/v1/web/settings", nil) }},
		// The workspace, the record and the event in a transaction: each is written for two units.
		{"change settings", budget{5, 4, 4, 9}, func() wire.Answer { return tries(t, who, "PATCH", "/v1/web/settings", settings, keyed()...) }},
		{"audit", budget{5, 3, 3.5, 2}, func() wire.Answer { return tries(t, who, "GET", "/v1/web/audit", nil) }},
		// Those that live and those that are gone, one after the other, beside what is still being moved here.
		{"web artifacts", budget{7, 4, 5, 2}, func() wire.Answer { return tries(t, who, "GET", "/v1/web/artifacts", nil) }},
		{"web artifact", budget{6, 4, 5, 2}, func() wire.Answer { return tries(t, who, "GET", "/v1/web/artifacts/"+string(shown.ArtifactID), nil) }},
		// Those that were not revoked and those that were, one after the other.
		{"keys", budget{6, 4, 4, 2}, func() wire.Answer { return tries(t, who, "GET", "/v1/web/keys", nil) }},
		// A fence is checked; key, record and event are written, the key's index entry, and the key's name in its login
		// and among the live keys.
		{"make a key", budget{5, 4, 4, 16}, func() wire.Answer { return makeKey(t, who, "second", wire.NewKey()) }},
		{"repeat it", budget{2, 2, 4, 0}, func() wire.Answer { return makeKey(t, who, "second", "the-same-key") }},
		// The key is read first: the answer shows it. It leaves one list of the index for another, and the live keys.
		{"revoke a key", budget{6, 5, 5, 13}, func() wire.Answer {
			return tries(t, who, "POST", "/v1/web/keys/"+string(made.APIKey.ID)+"/revoke", nil, keyed()...)
		}},
	} {
		if route.name == "repeat it" {
			makeKey(t, who, "second", "the-same-key")
		}
		l.holds(t, route.name, route.most, func() {
			if a := route.ask(); a.Status >= 300 {
				t.Fatal(route.name, a.Status, a.Code(), a.Message())
			}
		})
	}
}
