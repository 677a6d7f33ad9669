package replay_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/restore/replay"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/entry/agentauth"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func init() {
	deeds["a provider takes back what it said of a person"] = deed{
		before: func(w *world) any { return w.Vouched(w.t, w.Identity.First, "carl@example.org") },
		do: func(w *world, _ any) {
			a := harness.Must(w.Notify(harness.Revocation(w.t, w.Identity.First, "carl@example.org")))(w.t)
			if a.Status >= 300 {
				w.t.Fatalf("the event answers %d %s", a.Status, a.Body)
			}
		},
		action: event.DelegationRevoked,
	}
	deeds["a claim is locked"] = deed{
		before: func(w *world) any { return w.RegisterAgent(w.t).RegistrationID },
		do: func(w *world, r any) {
			was, _, err := w.Store.Registrations.Registration(ctx, r.(id.Registration), id.NoWorkspace)
			expect.OK(w.t, err)
			to := *was
			to.Locked = true
			expect.OK(w.t, w.Store.Registrations.Change(ctx, agentauth.Change{
				Was:    *was,
				To:     to,
				At:     w.Clock.Now(),
				Events: []event.Event{w.told(event.ClaimLocked, event.OnRegistration, string(r.(id.Registration)))},
			}))
		},
		action: event.ClaimLocked,
	}
	deeds["an agent revokes its token"] = deed{
		before: func(w *world) any {
			r := w.RegisterAgent(w.t)
			return w.Token(w.t, harness.JWTBearer(r.IdentityAssertion)).AccessToken
		},
		do: func(w *world, token any) {
			a := w.PostForm(w.t, "/oauth2/revoke", url.Values{"token": {token.(string)}}, nil)
			if a.Status >= 300 {
				w.t.Fatalf("the revocation answers %d %s", a.Status, a.Body)
			}
		},
		action: event.TokenRevoked,
	}
}

// told is an event of the person's workspace now.
func (w *world) told(action event.Action, kind, target string) event.Event {
	return event.Event{
		ID:        id.NewEvent(),
		Workspace: w.member.Workspace,
		At:        w.Clock.Now().UTC().Truncate(time.Millisecond),
		Action:    action,
		Actor:     event.BySystem(),
		Target:    event.Target{Type: kind, ID: target},
	}
}

// TestAllSignInsOfAnAppEndIfOneDid also wants the API keys that they made to end, because one of them has.
func TestAllSignInsOfAnAppEndIfOneDid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.browser.CLIToken(t)
	other := w.member.WithToken(token.AccessToken)
	key := harness.CreatedKey(t, harness.TryCreateKey(t, other, "of the app", wire.NewKey()))
	w.copyNow()
	if a := w.PostForm(t, "/oauth2/revoke", url.Values{"token": {token.RefreshToken}}, nil); a.Status != 200 {
		t.Fatal(a.Status)
	}
	set := w.restored(nil)
	report := w.apply(set, w.plan())
	expect.Has(t, "the report", strings.Join(report.Lines, "\n"), "all 2 sign-ins of the app cli")
	public := harness.Must(key.APIKey.ID.Public())(t)
	expect.Has(t, "the key", w.texts(set.Tables)["K#"+string(public)+" K"], "rev_at=")
	if again := w.apply(set, w.plan()); outcome(again, event.GrantRevoked, replay.Already) != 1 {
		t.Errorf("%v, want nothing done", again.Lines)
	}
	if n := events(w, set.Tables.Events, event.GrantRevoked); n != 1 {
		t.Errorf("%d events, want one", n)
	}
}

// TestAGrantThatIsRevokedAfterCredentialsEndedEndsItsKeys has a restore that does again what was done since its last step.
func TestAGrantThatIsRevokedAfterCredentialsEndedEndsItsKeys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.browser.CLIToken(t)
	other := w.member.WithToken(token.AccessToken)
	key := harness.CreatedKey(t, harness.TryCreateKey(t, other, "of the app", wire.NewKey()))
	w.copyNow()
	set := w.restored(nil)
	harness.Must(replay.EndCredentials(ctx, set, w.Clock.Now()))(t)
	if a := w.PostForm(t, "/oauth2/revoke", url.Values{"token": {token.RefreshToken}}, nil); a.Status != 200 {
		t.Fatal(a.Status)
	}
	w.apply(set, w.plan())
	public := harness.Must(key.APIKey.ID.Public())(t)
	expect.Has(t, "the key", w.texts(set.Tables)["K#"+string(public)+" K"], "rev_at=")
}

func TestWhatPeopleHoldEndsAndKeysStay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := w.browser.CLIToken(t)
	harness.CreatedKey(t, harness.TryCreateKey(t, w.member.WithToken(token.AccessToken), "of the app", wire.NewKey()))
	source := w.NewSource(t)
	harness.TryClaim(t, w.member.Agent, source.ClaimToken)
	var redeemed string
	for _, i := range w.Scan(t, w.Tables.Core) {
		if i["redeemed"] != nil && strings.HasPrefix(harness.Text(i["pk"]), "CT#") {
			redeemed = harness.Text(i["redeemed"])
			w.Update(t, harness.Text(i["pk"]), "C", map[string]any{"redeemed": nil})
		}
	}
	for range 2 {
		harness.Must(replay.EndCredentials(ctx, w.Deployment(), w.Clock.Now()))(t)
	}
	for key, text := range w.texts(w.Tables) {
		if kind, _, _ := strings.Cut(key, "#"); strings.Contains(" SES LTX OAR UC CRED ", " "+kind+" ") && !strings.Contains(text, "api_keys=") {
			t.Errorf("%s is left", key)
		} else if kind == "CT" && strings.Contains(text, string(source.WorkspaceID)) {
			expect.Has(t, key, text, "redeemed="+redeemed)
		}
	}
	for _, who := range []*harness.Member{w.member, w.member.WithToken(token.AccessToken)} {
		harness.WantRefused(t, harness.TryAs(t, who, "GET", deletionPath, nil), 401, fault.NotAuthenticated)
	}
	refresh := url.Values{"grant_type": {"refresh_token"}, "client_id": {"cli"}, "refresh_token": {token.RefreshToken}}
	if code := w.OAuthError(t, refresh); code != "invalid_grant" {
		t.Errorf("the refresh token answers %s", code)
	}
	if got := w.StatusFor(t, w.key.Secret, "/v1/whoami"); got != 200 {
		t.Errorf("the API key answers %d", got)
	}
}

func TestAGapClosesWhatMayHaveBeenRevoked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := harness.PublishPage(t, w.agent, "words")
	url := harness.ShareURL(t, w.agent, p.ArtifactID)
	before := w.texts(w.Tables)
	listed := harness.Must(replay.ListGap(ctx, w.Deployment(), w.Clock.Now()))(t)
	expect.Has(t, "the list", strings.Join(listed.Lines, "\n"),
		"links and public views, of artifacts: 1\n", "credentials, of workspaces: ")
	for key, text := range w.texts(w.Tables) {
		if before[key] != text {
			t.Errorf("a list changed %s", key)
		}
	}
	harness.Must(replay.CloseGap(ctx, w.Deployment(), w.Clock.Now()))(t)
	after := w.texts(w.Tables)
	w.Clock.Advance(time.Hour)
	harness.Must(replay.CloseGap(ctx, w.Deployment(), w.Clock.Now()))(t)
	for key, text := range w.texts(w.Tables) {
		if after[key] != text {
			t.Errorf("a repetition changed %s", key)
		}
	}
	if got := w.StatusFor(t, w.key.Secret, "/v1/whoami"); got != 401 {
		t.Errorf("the API key answers %d", got)
	}
	if a := w.Resolve(t, url); a.Status < 400 {
		t.Errorf("the link answers %d", a.Status)
	}
}

func TestRetriesOfWhatIsGoneAreForgottenAndTheDayIsCountedAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	artifactOf(w)
	w.Clock.Advance(6 * time.Minute)
	kept := w.CountItems(t, w.Tables.Hot, "i:")
	artifactOf(w) // its requests may have committed after the instant
	w.Clock.Advance(4 * time.Minute)
	w.copyNow()
	artifactOf(w)
	artifactOf(w)
	set := w.restored(nil)
	set.Tables.Hot = w.Tables.Hot
	for range 2 {
		harness.Must(replay.ForgetRetries(ctx, set, w.Deployment(), w.instant))(t)
	}
	if n := w.CountItems(t, w.Tables.Hot, "i:"); n != kept {
		t.Errorf("%d records are left, want %d", n, kept)
	}
	for _, breach := range invariant.Check(ctx, set) {
		if strings.HasPrefix(breach.Error(), "I5") {
			t.Error(breach)
		}
	}
	if n := w.CountItems(t, w.Tables.Hot, "d:"); n != limits.AllowanceShards {
		t.Errorf("%d counters, want those of one workspace", n)
	}
}

func TestARestoreHasOneEvent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range 2 {
		at := w.Clock.Now().Add(time.Duration(n) * time.Minute)
		expect.OK(t, replay.Finish(ctx, w.Deployment(), w.Clock.Now(), at))
	}
	if n := events(w, w.Tables.Events, event.DeploymentRestored); n != 1 {
		t.Errorf("%d events, want one", n)
	}
}
