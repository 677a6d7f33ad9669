package signin_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/local/idp/provider"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/identity/signin"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/policy"
)

func TestAPersonSignsIn(t *testing.T) {
	s := newEnv(t)
	done := s.signIn(t, "ada@example.org")
	if done.ReturnTo != "/artifacts?a=b" || !done.New || done.Member.Email != "ada@example.org" ||
		done.Member.Issuer != s.Issuer {
		t.Errorf("finished %+v", done)
	}
	opened, err := s.Sessions.Authenticate(ctx, done.Session, "req")
	expect.OK(t, err)
	w := opened.Actor.Workspace
	if opened.Member.ID != done.Member.ID || w.Name != "ada's Workspace" || w.ClaimedAt.IsZero() ||
		w.Tier() != limits.Free {
		t.Errorf("opened %+v", opened)
	}
	for _, a := range []event.Action{event.WorkspaceCreated, event.SessionStarted} {
		if n := s.count(t, s.Names.Events, string(a)); n != 1 {
			t.Errorf("%d events %s", n, a)
		}
	}
	if n := s.count(t, s.Names.Core, "ap_pk"); n != 0 || s.count(t, s.Names.Core, "K#") != 0 {
		t.Error("an API key was made")
	}
	again := s.signIn(t, "ada@example.org")
	if again.New || again.Member.ID != done.Member.ID || again.Session == done.Session {
		t.Errorf("again %+v", again)
	}
	es := s.signIn(t, "ada@example.org", "alg", "ES256")
	if es.Member.ID != done.Member.ID {
		t.Error("ES256 makes another member")
	}
}

func TestT38ACallbackWorksInTheBrowserWhereItBeganAndOnce(t *testing.T) {
	s := newEnv(t)
	victim, err := s.Begin(ctx, signin.Destination{Path: "/"}, from)
	expect.OK(t, err)
	own := s.authorize(t, "mallory@example.org")
	for name, change := range map[string]func(*signin.Callback){
		"without cookie":     func(c *signin.Callback) { c.Cookie = "" },
		"another's cookie":   func(c *signin.Callback) { c.Cookie = victim.Cookie },
		"a malformed cookie": func(c *signin.Callback) { c.Cookie = "x" },
		"without state":      func(c *signin.Callback) { c.State = "" },
		"an invented state":  func(c *signin.Callback) { c.State = c.Cookie },
	} {
		c := own
		change(&c)
		done, err := s.Finish(ctx, c, about, "req")
		if fault.CodeOf(err) != fault.InvalidRequest || done.Session != "" {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
	}
	errs := parallel.Calls(4, func(int) error { _, err := s.Finish(ctx, own, about, "req"); return err })
	expect.One(t, "sessions of one callback", errs, fault.InvalidRequest)
}

func TestEveryWrongAnswerOfTheProviderIsRefusedAlike(t *testing.T) {
	s := newEnv(t)
	message := fault.Of(signin.Refused(nil)).Message
	for name, change := range map[string]func(*signin.Callback){
		"an error":       func(c *signin.Callback) { c.Error, c.Code = "access_denied", "" },
		"no code":        func(c *signin.Callback) { c.Code = "" },
		"a foreign code": func(c *signin.Callback) { c.Code = "x" },
		"another issuer": func(c *signin.Callback) { c.Issuer = "https://evil.example" },
		"late":           func(*signin.Callback) { s.clock.Advance(limits.SignInLife) },
	} {
		c := s.authorize(t, "ada@example.org")
		change(&c)
		done, err := s.Finish(ctx, c, about, "req")
		if fault.CodeOf(err) != fault.InvalidRequest || fault.Of(err).Message != message || done.Session != "" {
			t.Errorf("%s: %+v, %v", name, done, err)
		}
		if errors.Is(err, signin.ErrDeclined) != (c.Error != "") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := s.count(t, s.Names.Core, "MEM#"); n != 0 {
		t.Errorf("%d members were made", n)
	}
	cancelled := s.authorize(t, "ada@example.org", "cancel", "1")
	if _, err := s.Finish(ctx, cancelled, about, "req"); !errors.Is(err, signin.ErrDeclined) {
		t.Error(err)
	}
}

func TestT45AFalseTokenSignsNobodyIn(t *testing.T) {
	t.Parallel() // waits for a provider that stalls
	s := newEnv(t)
	want := map[provider.Hostile]fault.Code{
		provider.Unverified: fault.Forbidden, provider.VerifiedText: fault.Forbidden, provider.NoEmail: fault.Forbidden,
		provider.Unsaid:     fault.Forbidden,
		provider.TokenFails: fault.DatabaseUnavailable, provider.Old: "", provider.TokenStalls: fault.DatabaseUnavailable,
	}
	for _, h := range provider.Hostilities {
		code, special := want[h]
		if !special {
			code = fault.InvalidRequest
		}
		done, err := s.Finish(ctx, s.authorize(t, string(h)+"@example.org", "hostile", string(h)), about, "req")
		if fault.CodeOf(err) != code || (done.Session == "") != (code != "") {
			t.Errorf("%s: %q, want %q: %v", h, fault.CodeOf(err), code, err)
		}
		if errors.Is(err, signin.ErrUnverified) != (code == fault.Forbidden) {
			t.Errorf("%s: %v", h, err)
		}
	}
	if n := s.count(t, s.Names.Core, "MEM#"); n != 1 { // the one with an old but valid token
		t.Errorf("%d members were made", n)
	}
}

func TestT40ASessionIsAlwaysNewAndTheOldOneEnds(t *testing.T) {
	s := newEnv(t)
	first := s.signIn(t, "ada@example.org")
	for _, preset := range []string{first.Session, "x", strings.Repeat("A", 43)} {
		c := s.authorize(t, "mallory@example.org")
		c.Session = preset
		done, err := s.Finish(ctx, c, about, "req")
		if err != nil || done.Session == preset {
			t.Fatal(done, err)
		}
		if _, err := s.Sessions.Authenticate(ctx, preset, "req"); fault.CodeOf(err) != fault.NotAuthenticated {
			t.Errorf("%q opens something: %v", preset, err)
		}
	}
}

func TestT46PeopleAreKnownBySubjectNotByAddress(t *testing.T) {
	s := newEnv(t)
	ada := s.signIn(t, "ada@example.org", "sub", "one")
	other := s.signIn(t, "ada@example.org", "sub", "two")
	if other.Member.ID == ada.Member.ID || other.Member.Workspace == ada.Member.Workspace || !other.New {
		t.Error("people who share an address became one")
	}
	moved := s.signIn(t, "ada@new.example", "sub", "one")
	if moved.Member.ID != ada.Member.ID || moved.Member.Email != "ada@new.example" {
		t.Errorf("moved %+v", moved.Member)
	}
	opened, err := s.Sessions.Authenticate(ctx, moved.Session, "req")
	if err != nil || opened.Member.Email != "ada@new.example" {
		t.Errorf("stored %+v, %v", opened.Member, err)
	}
}

func TestFirstSignInsAtOnceMakeOneMember(t *testing.T) {
	s := newEnv(t)
	callbacks := make([]signin.Callback, 5)
	for i := range callbacks {
		callbacks[i] = s.authorize(t, "ada@example.org")
	}
	done := make([]signin.Finished, len(callbacks))
	expect.OK(t, parallel.Calls(len(callbacks), func(i int) (err error) {
		done[i], err = s.Finish(ctx, callbacks[i], about, "req")
		return err
	})...)
	made := 0
	for i := range done {
		if done[i].New {
			made++
		}
		if done[i].Member.ID != done[0].Member.ID {
			t.Error("one person is two members")
		}
	}
	if n := s.count(t, s.Names.Core, "MEM#"); made != 1 || n != 1 ||
		s.count(t, s.Names.Events, string(event.WorkspaceCreated)) != 1 {
		t.Errorf("%d new, %d members", made, n)
	}
}

func TestSignInsFromOneNetworkAreCounted(t *testing.T) {
	s := newEnv(t)
	s.limits.SignIn.Limit = 2
	for range 2 {
		if _, err := s.Begin(ctx, signin.Destination{Path: "/"}, from); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Begin(ctx, signin.Destination{Path: "/"}, from)
	if fault.CodeOf(err) != fault.RateLimitedActor || fault.Of(err).RetryAfter <= 0 {
		t.Error(err)
	}
	if n := s.count(t, s.Names.Hot, from.String()); n != 0 {
		t.Error("the counter tells who came")
	}
}

func TestAClosedWorkspaceAndADeskWithoutProviderSignNobodyIn(t *testing.T) {
	s := newEnv(t)
	ada := s.signIn(t, "ada@example.org")
	s.SetWorkspace(t, ada.Member.Workspace, "lock", &types.AttributeValueMemberS{Value: "lkd_00000000000000000000000000"})
	if _, err := s.Finish(ctx, s.authorize(t, "ada@example.org"), about, "req"); fault.CodeOf(err) != fault.Forbidden ||
		errors.Is(err, signin.ErrUnverified) {
		t.Error(err)
	}
	c := s.authorize(t, "ada@example.org")
	s.Provider = nil
	if _, err := s.Begin(ctx, signin.Destination{Path: "/"}, from); fault.CodeOf(err) != fault.DatabaseUnavailable {
		t.Error(err)
	}
	if _, err := s.Finish(ctx, c, about, "req"); fault.CodeOf(err) != fault.DatabaseUnavailable {
		t.Error(err)
	}
	if s.SignOutURL() != "" {
		t.Error("a provider that is not there signs people out")
	}
}

func TestTheStoreHoldsNothingThatCompletesASignIn(t *testing.T) {
	s := newEnv(t)
	begun, u := s.begin(t, "/")
	q := u.Query()
	done := s.signIn(t, "ada@example.org")
	for _, secret := range []string{begun.Cookie, q.Get("state"), q.Get("nonce"), done.Session} {
		for _, table := range []string{s.Names.Core, s.Names.Events, s.Names.Hot} {
			if len(secret) < 43 || s.count(t, table, secret) != 0 {
				t.Errorf("%s holds the secret %q", table, secret)
			}
		}
	}
	if q.Get("code_challenge_method") != "S256" || q.Get("redirect_uri") != callback ||
		q.Get("scope") != "openid email profile" {
		t.Errorf("the provider is asked %v", q)
	}
}

// count counts the items of a table that contain a text.
func (e *env) count(t testing.TB, table, text string) (n int) {
	t.Helper()
	for _, i := range e.Items(t, table) {
		if strings.Contains(printed(i), text) {
			n++
		}
	}
	return n
}

func TestAPersonWhoIsNotLetInLeavesNothingBehind(t *testing.T) {
	s := newEnv(t)
	s.Registrar.Allowlist = workspace.Allowlist{
		People:  policy.SignIn{Domains: []string{"example.org"}},
		Contact: "mailto:ask@example.org",
	}
	done, err := s.Finish(ctx, s.authorize(t, "mallory@sub.example.org"), about, "req")
	refused, ok := workspace.NotAllowed(err)
	if !ok || refused.Contact != "mailto:ask@example.org" || done.Session != "" ||
		fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("finished %+v, %v", done, err)
	}
	if n := s.count(t, s.Names.Core, "MEM#") + s.count(t, s.Names.Core, "SES#"); n != 0 {
		t.Errorf("%d items are left", n)
	}
	s.signIn(t, "ada@EXAMPLE.org")
}

func TestTheLastSignInOfAMemberCountsEvenIfItIsRefused(t *testing.T) {
	s := newEnv(t)
	judging := dynamo.New(s.DB, s.Names, dynamo.JudgeSignIns).Members
	only := workspace.Allowlist{People: policy.SignIn{Operators: true}}
	done := s.signIn(t, "ada@example.org", "groups", "operators")
	admits := func() bool {
		t.Helper()
		_, w, err := judging.Member(ctx, done.Member.Workspace, done.Member.ID)
		expect.OK(t, err)
		return only.Admits(*w, done.Member.ID)
	}
	if !admits() {
		t.Error("an operator is not let in")
	}
	s.Registrar.Allowlist = only
	if _, err := s.Finish(ctx, s.authorize(t, "ada@example.org"), about, "req"); fault.CodeOf(err) != fault.Forbidden {
		t.Errorf("signing in without the claim: %v", err)
	}
	if admits() {
		t.Error("the credentials of before work for somebody who is no operator any more")
	}
	s.signIn(t, "ada@example.org", "groups", "operators")
	if !admits() {
		t.Error("an operator is not let in again")
	}
}
