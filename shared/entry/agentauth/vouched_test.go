package agentauth_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/entry/agentauth"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/provider"
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/limits"
)

func TestAPersonWhoIsNoMemberGetsAWorkspaceWithoutAnyKey(t *testing.T) {
	w := newEnv(t)
	a := w.admitted("ada", "ada@example.org")
	if a.RegistrationType != "identity_assertion" || a.ClaimToken != "" || a.ClaimURL != "" || a.ClaimTokenExpires != nil {
		t.Errorf("%+v, want an agent that needs no claim", a)
	}
	if life := a.AssertionExpires.Sub(w.now()); life > time.Hour || life < time.Hour-time.Second {
		t.Errorf("the assertion holds for %s", life)
	}
	d := w.delegation("ada")
	m, ws, err := w.Stores.Members.Member(ctx, d.Workspace, d.Member)
	w.ok(err)
	if !m.ProviderMade() || m.Subject != string(d.ID()) || ws.Name != "ada's Workspace" || ws.ClaimedAt.IsZero() {
		t.Errorf("%+v %+v, want a member that the provider made", m, ws)
	}
	if at := w.works(w.token(a.IdentityAssertion)); at != d.Workspace {
		t.Errorf("works in %q", at)
	}
	want := []event.Action{event.WorkspaceCreated, event.RegistrationCreated, event.DelegationCreated}
	if got := w.events(d.Workspace); !slices.Equal(got, want) {
		t.Errorf("events %v, want %v", got, want)
	}
}

func TestAKnownPersonIsLetInAgainAndSeen(t *testing.T) {
	w := newEnv(t)
	w.admitted("ada", "ada@example.org")
	before := w.delegation("ada")
	w.wait(time.Hour)
	second := w.admitted("ada", "new@example.org", func(i *provider.Identity) { i.Provision = false })
	after := w.delegation("ada")
	if !after.SeenAt.After(before.SeenAt) || after.Email != "new@example.org" || after.Workspace != before.Workspace ||
		after.Generation != before.Generation {
		t.Errorf("%+v, before %+v: want the new address and time alone", after, before)
	}
	if w.works(w.token(second.IdentityAssertion)) != before.Workspace {
		t.Error("works elsewhere")
	}
	// The member that the provider made follows the address, so that its new owner is asked and its old one is not.
	if got, err := w.Stores.Members.ByAddress(ctx, "new@example.org"); err != nil || len(got) != 1 {
		t.Error(got, err)
	}
	if got, err := w.Stores.Members.ByAddress(ctx, "ada@example.org"); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
}

func TestAMemberHasToAgree(t *testing.T) {
	w := newEnv(t)
	ada := w.human("ada", "Ada@example.org")
	asked := w.asked("agent-ada", "ada@example.org")
	if asked.Error != "interaction_required" || len(asked.Claim.UserCode) != 6 || asked.Claim.ExpiresIn < 590 ||
		strings.Contains(asked.Claim.VerificationURI, asked.ClaimToken) ||
		strings.Contains(asked.Claim.VerificationURI, asked.Claim.UserCode) {
		t.Errorf("%+v, want a code that stands in no URL", asked)
	}
	_, err := w.poll(asked.ClaimToken)
	w.wantCode(err, "authorization_pending")
	shown, err := w.Preview(ctx, ada, attemptOf(asked.Claim))
	w.ok(err)
	if shown.Vouched.Provider != "Agents Inc" || shown.Count != 0 || shown.Vouched.Email != "ada@example.org" {
		t.Errorf("%+v, want the provider, the address and no artifacts", shown)
	}
	w.wantCode(w.complete(ada, attemptOf(asked.Claim), otherCode(asked.Claim.UserCode)), "invalid_request")
	w.ok(w.agree(ada, asked))
	got, err := w.poll(asked.ClaimToken)
	w.ok(err)
	if w.works(got.AccessToken) != ada.Workspace.ID || w.works(w.token(got.IdentityAssertion)) != ada.Workspace.ID {
		t.Error("works elsewhere")
	}
	d := w.delegation("agent-ada")
	if d.Member != ada.Member || d.Workspace != ada.Workspace.ID {
		t.Errorf("%+v, want ada's", d)
	}
	if again := w.admitted("agent-ada", "ada@example.org", denied); again.IdentityAssertion == "" {
		t.Error("is asked again")
	}
	if list, _, err := w.Connections(ctx, ada, cursor.Page{}); err != nil || len(list) != 0 {
		t.Error("registrations are listed beside their delegation", list, err)
	}
	list, _, err := w.links.LinkedProviders(ctx, ada, cursor.Page{})
	if err != nil || len(list) != 1 || list[0].Provider != "Agents Inc" {
		t.Error(list, err)
	}
}

func TestAStepUpEndsWithItsTimeAndByARefusal(t *testing.T) {
	w := newEnv(t)
	ada := w.human("ada", "ada@example.org")
	late := w.asked("agent-ada", "ada@example.org")
	w.wait(limits.AttemptLife)
	w.wantCode(w.agree(ada, late), "invalid_request")
	_, err := w.poll(late.ClaimToken)
	w.wantCode(err, "expired_token")
	no := w.asked("agent-ada", "ada@example.org")
	w.ok(w.Refuse(ctx, ada, attemptOf(no.Claim)))
	_, err = w.poll(no.ClaimToken)
	w.wantCode(err, "access_denied")
	_, err = w.StartClaim(ctx, contract.StartClaim{ClaimToken: no.ClaimToken}, admitAll, "")
	w.wantCode(err, "access_denied")
	w.wantCode(w.agree(ada, no), "invalid_request")
}

func TestTheClaimTokenOfAStepUpIsNoneOfAWorkspace(t *testing.T) {
	w := newEnv(t)
	ada := w.human("ada", "ada@example.org")
	asked := w.asked("agent-ada", "ada@example.org")
	for _, by := range []credential.Actor{ada, w.human("eve", "eve@example.org")} {
		_, err := w.claimer.Claim(ctx, by, command(), nil, asked.ClaimToken)
		w.wantCode(err, "not_found")
		_, err = w.claimer.Preview(ctx, by, asked.ClaimToken)
		w.wantCode(err, "not_found")
	}
}

func TestUnknownAndRefusedPersonsAreAnsweredAlike(t *testing.T) {
	w := newEnv(t)
	var said []string
	locked := &types.AttributeValueMemberS{Value: "lkd_1"}
	_, err := w.vouch(w.sign("nobody", "nobody@example.org", denied))
	said = append(said, err.Error())
	ada := w.human("ada", "ada@example.org")
	w.SetWorkspace(w, ada.Workspace.ID, "lock", locked)
	_, err = w.vouch(w.sign("agent-ada", "ada@example.org"))
	said = append(said, err.Error())
	eve := w.admitted("eve", "eve@example.org")
	w.SetWorkspace(w, w.delegation("eve").Workspace, "lock", locked)
	_, err = w.vouch(w.sign("eve", "eve@example.org"))
	said = append(said, err.Error())
	for _, text := range said {
		if text != said[0] || !strings.HasPrefix(text, "invalid_grant") {
			t.Errorf("answered %q", said)
		}
	}
	if _, err := w.exchange(eve.IdentityAssertion); codeOf(err) != "invalid_grant" {
		t.Error(err)
	}
}

func TestAnAddressOfSeveralMembersIsAmbiguous(t *testing.T) {
	w := newEnv(t)
	w.human("ada", "ada@example.org")
	w.human("ada at another door", "ADA@example.org")
	token := w.sign("agent-ada", "ada@example.org")
	_, err := w.vouch(token)
	w.wantCode(err, "invalid_request")
	_, err = w.vouch(token)
	w.wantCode(err, "replay_detected") // a refused assertion is used up too
}

func TestT15AnAssertionCountsOnce(t *testing.T) {
	w := newEnv(t)
	w.limits.Vouched.Limit, w.limits.Assertion.Limit = 100, 100
	w.human("bob", "bob@example.org")
	for name, c := range map[string]struct {
		subject, email, first string
	}{
		"of a new person": {"ada", "ada@example.org", ""},
		"of a member":     {"agent-bob", "bob@example.org", "interaction_required"},
	} {
		t.Run(name, func(t *testing.T) {
			token := w.sign(c.subject, c.email)
			got := codes(parallel.Calls(20, func(int) error { _, err := w.vouch(token); return err }))
			if got[c.first] != 1 || got["replay_detected"] != 19 {
				t.Errorf("answered %v", got)
			}
			_, err := w.vouch(token)
			w.wantCode(err, "replay_detected")
		})
	}
}

func TestManyAssertionsOfANewPersonMakeOneMember(t *testing.T) {
	w := newEnv(t)
	tokens := make([]string, 12)
	for i := range tokens {
		tokens[i] = w.sign("ada", "ada@example.org")
	}
	for _, err := range parallel.Calls(len(tokens), func(i int) error { _, err := w.vouch(tokens[i]); return err }) {
		w.wantCode(err, "")
	}
	if all, err := w.Stores.Members.ByAddress(ctx, "ada@example.org"); err != nil || len(all) != 1 {
		t.Error(all, err)
	}
}

func TestAnEventAndAnAssertionDoNotUseEachOtherUp(t *testing.T) {
	w := newEnv(t)
	same := func(i *provider.Identity) { i.ID = "one" }
	w.ok(w.notify(w.revocation("other", func(e *provider.Event) { e.ID = "one" })))
	w.admitted("ada", "ada@example.org", same)
	w.admitted("ada", "ada@example.org", same, withIssuerID("https://second.example"))
	_, err := w.vouch(w.sign("ada", "ada@example.org", same))
	w.wantCode(err, "replay_detected")
}

// withIssuerID makes an assertion one of another issuer about a person of its own.
func withIssuerID(issuer string) func(*provider.Identity) {
	return func(i *provider.Identity) {
		i.Issuer = issuer
		i.Subject = "own"
		i.Email = "own@example.org"
	}
}

func TestT73TheSameEventAgainIsTakenAndAnotherWithItsIDIsNot(t *testing.T) {
	w := newEnv(t)
	one := func(e *provider.Event) { e.ID = "one" }
	first := w.revocation("ada", one)
	w.ok(w.notify(first))
	ended := w.delegation("ada")
	w.ok(w.notify(first))
	if again := w.delegation("ada"); again.Generation != ended.Generation {
		t.Error("a repetition has an effect")
	}
	w.wantCode(w.notify(w.revocation("ada", one)), "replay_detected")
	other := w.revocation("ada", func(e *provider.Event) {
		e.ID = "two"
		e.Revoked = false
		e.Subject = ""
	})
	w.ok(w.notify(other))
	w.ok(w.notify(other))
	w.wantCode(w.notify(w.revocation("ada", func(e *provider.Event) { e.ID = "two" })), "replay_detected")
	w.wantCode(w.notify("forged"), "invalid_signature")
}

func TestAMemberEndsADelegationAndGivesItAgain(t *testing.T) {
	w := newEnv(t)
	ada := w.human("ada", "ada@example.org")
	asked, got := w.agreed(ada, "agent-ada", "ada@example.org")
	eve := w.human("eve", "eve@example.org")
	w.wantCode(w.links.UnlinkProvider(ctx, eve, idOf("agent-ada")), "not_found")
	if w.works(got.AccessToken) == "" {
		t.Error("another member ended it")
	}
	w.ok(w.links.UnlinkProvider(ctx, ada, idOf("agent-ada")))
	w.wantDead("after the end", got.AccessToken, got.IdentityAssertion)
	_, err := w.poll(asked.ClaimToken)
	w.wantCode(err, "invalid_grant")
	w.wantCode(w.links.UnlinkProvider(ctx, ada, idOf("agent-ada")), "not_found")
	again := w.asked("agent-ada", "ada@example.org")
	w.ok(w.agree(ada, again))
	w.wantDead("after a new delegation", got.AccessToken, got.IdentityAssertion)
}

func TestTwoStepUpsOfOnePersonShareADelegation(t *testing.T) {
	w := newEnv(t)
	ada := w.human("ada", "ada@example.org")
	one, two := w.asked("agent-ada", "ada@example.org"), w.asked("agent-ada", "ada@example.org")
	w.ok(w.agree(ada, one))
	w.ok(w.agree(ada, two))
	for _, a := range []contract.InteractionRequired{one, two} {
		got, err := w.poll(a.ClaimToken)
		w.ok(err)
		if w.works(got.AccessToken) != ada.Workspace.ID {
			t.Error("an agent is left outside")
		}
	}
	if d := w.delegation("agent-ada"); d.Generation != 1 {
		t.Errorf("%+v, want the first generation", d)
	}
}

func TestAStepUpAsksForTheAddressThatTheMemberStillHas(t *testing.T) {
	w := newEnv(t)
	ada := w.human("ada", "ada@example.org")
	asked := w.asked("agent-ada", "ada@example.org")
	w.wait(time.Minute)
	w.human("ada", "other@example.org")
	w.wantCode(w.agree(ada, asked), "invalid_request")
}

func TestASecondProviderAsksThePersonWhomTheFirstOneMade(t *testing.T) {
	w := newEnv(t)
	first := w.admitted("ada", "ada@example.org")
	access := w.token(first.IdentityAssertion)
	home := w.delegation("ada").Workspace
	asked := w.asked("ada-2", "ada@example.org", withIssuer("https://second.example"))
	ada := w.takeOver("ada", "ada@example.org", idOf("ada"))
	if ada.Workspace.ID != home {
		t.Error("the person got another workspace")
	}
	w.ok(w.agree(ada, asked))
	got, err := w.poll(asked.ClaimToken)
	w.ok(err)
	if w.works(got.AccessToken) != home {
		t.Error("the second provider's agent works elsewhere")
	}
	w.wantDead("from before the person came", access, first.IdentityAssertion)
	if again := w.admitted("ada", "ada@example.org"); w.works(w.token(again.IdentityAssertion)) != home {
		t.Error("the agent that was kept is outside")
	}
}

func TestT82APersonChoosesWhichAgentsStay(t *testing.T) {
	w := newEnv(t)
	a := w.admitted("ada", "ada@example.org")
	access := w.token(a.IdentityAssertion)
	home := w.delegation("ada").Workspace
	_, err := w.people().SignIn(ctx, w.identity("human", "ADA@example.org"), "")
	w.wantCode(err, "forbidden")
	if w.works(access) != home {
		t.Error("the question alone ends an agent")
	}
	ada := w.takeOver("human", "ADA@example.org")
	if ada.Workspace.ID != home || ada.Workspace.Epoch != 1 {
		t.Errorf("%+v, want the same workspace, moved on once", ada.Workspace)
	}
	w.wantDead("not kept", access, a.IdentityAssertion)
	if list, _, err := w.links.LinkedProviders(ctx, ada, cursor.Page{}); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
	w.asked("ada", "ada@example.org")
	in, err := w.people().SignIn(ctx, w.identity("human", "ada@example.org"), "")
	w.ok(err)
	if in.New || in.Workspace.ID != home {
		t.Errorf("%+v, want the member who is there", in)
	}
}

func TestT82OfTwoPersonsWithOneAddressOneTakesOver(t *testing.T) {
	w := newEnv(t)
	w.admitted("ada", "ada@example.org")
	d := w.delegation("ada")
	s := &signin.Takeovers{Store: w.Stores.Takeovers, Now: w.now}
	got := codes(parallel.Calls(4, func(i int) error {
		q := signin.Question{
			Who:       w.identity(string(rune('a'+i)), "ada@example.org"),
			Member:    d.Member,
			Workspace: d.Workspace,
		}
		_, err := s.Answer(ctx, q, nil, "")
		return err
	}))
	if got[""] != 1 || got["invalid_request"]+got["database_unavailable"] != 3 {
		t.Errorf("answered %v", got)
	}
}

func TestAProviderThatIsTrustedNoMoreGetsNoNewTokens(t *testing.T) {
	w := newEnv(t)
	ada := w.human("ada", "ada@example.org")
	a := w.admitted("eve", "eve@example.org")
	asked := w.asked("agent-ada", "ada@example.org")
	w.ok(w.agree(ada, asked))
	w.providers.untrusted[idp] = true
	_, err := w.vouch(w.sign("eve", "eve@example.org"))
	w.wantCode(err, "invalid_issuer")
	_, err = w.exchange(a.IdentityAssertion)
	w.wantCode(err, "invalid_grant")
	_, err = w.poll(asked.ClaimToken)
	w.wantCode(err, "invalid_grant")
	w.providers.untrusted[idp] = false
	w.token(a.IdentityAssertion)
}

func TestATokenHasTheScopesThatTheProviderAskedFor(t *testing.T) {
	w := newEnv(t)
	a := w.admitted("ada", "ada@example.org", func(i *provider.Identity) {
		i.Scopes = []credential.Scope{credential.Read}
	})
	got, err := w.exchange(a.IdentityAssertion)
	w.ok(err)
	_, refused := w.Exchange(ctx, agentauth.Exchange{Assertion: a.IdentityAssertion, Scope: "publish"}, admitAll)
	if got.Scope != "read" || len(a.Scopes) != 1 || codeOf(refused) != "invalid_scope" {
		t.Errorf("%+v %+v %v: want read alone", got, a.Scopes, refused)
	}
}

func TestLimitsOfProviders(t *testing.T) {
	w := newEnv(t)
	w.limits.Vouched.Limit = 2
	w.limits.Event.Limit = 1
	w.limits.EventFailure.Limit = 3
	codes := map[string]int{}
	for range 3 {
		_, err := w.vouch(w.sign("ada", "ada@example.org"))
		codes["assertion "+codeOf(err)]++
	}
	for range 5 {
		codes["forged "+codeOf(w.notify("forged"))]++
	}
	codes["after forged "+codeOf(w.notify(w.revocation("x")))]++
	w.wait(time.Minute)
	for range 2 {
		codes["event "+codeOf(w.notify(w.revocation("x")))]++
	}
	w.limits.Assertion.Limit = 1
	w.vouch("forged") // another hour may have begun in that minute, whose first one passes
	_, err := w.vouch("forged")
	codes["address "+codeOf(err)]++
	want := map[string]int{
		"assertion ": 2, "assertion rate_limited_actor": 1,
		"forged invalid_signature": 3, "forged rate_limited_actor": 2, "after forged rate_limited_actor": 1,
		"event ": 1, "event rate_limited_actor": 1,
		"address rate_limited_actor": 1,
	}
	for name, n := range want {
		if codes[name] != n {
			t.Errorf("%s: %d, want %d; all: %v", name, codes[name], n, codes)
		}
	}
}

func TestAProviderOverItsLimitUsesNothingOfWhatAllHave(t *testing.T) {
	w := newEnv(t)
	w.limits.Vouched.Limit = 1
	w.limits.Assertions.Limit = 2
	_, err := w.vouch(w.sign("ada", "ada@example.org"))
	w.ok(err)
	for range 3 {
		if _, err := w.vouch(w.sign("ada", "ada@example.org")); codeOf(err) != "rate_limited_actor" {
			t.Errorf("over the limit: %v", err)
		}
	}
	w.wait(time.Minute)
	_, err = w.vouch(w.sign("ada", "ada@example.org"))
	w.ok(err)
}

func TestOnlyIssuerAndKeyOfAnAssertionAreTraced(t *testing.T) {
	w := newEnv(t)
	var traced []string
	w.Trace = func(_ context.Context, issuer, keyID string) { traced = append(traced, issuer+" "+keyID) }
	w.admitted("ada", "ada@example.org")
	w.ok(w.notify(w.revocation("ada", func(e *provider.Event) { e.KeyID = "key-2" })))
	if len(traced) != 2 || traced[0] != idp+" key-1" || traced[1] != idp+" key-2" {
		t.Errorf("%q", traced)
	}
}
