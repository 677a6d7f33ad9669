package agentauth_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/entry/agentauth"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func TestARefusalIsToldOnceAndAnotherAttemptMayFollow(t *testing.T) {
	w := newEnv(t)
	a, p := w.agent(), w.person()
	s := w.start(a.ClaimToken)
	w.ok(w.Refuse(ctx, p, s.AttemptToken))
	w.ok(w.Refuse(ctx, p, s.AttemptToken)) // a retry after a lost answer
	w.wantCode(w.complete(p, s.AttemptToken, s.UserCode), "invalid_request")
	_, err := w.poll(a.ClaimToken)
	w.wantCode(err, "access_denied")
	_, err = w.poll(a.ClaimToken)
	w.wantCode(err, "authorization_pending")
	next := w.start(a.ClaimToken)
	w.wantCode(w.complete(p, s.AttemptToken, s.UserCode), "invalid_request")
	w.ok(w.complete(p, next.AttemptToken, next.UserCode))
}

func TestClaimsAreStartedFiveTimesInTenMinutesAndTwentyTimesInAll(t *testing.T) {
	w := newEnv(t)
	a := w.agent()
	start := func() error {
		_, err := w.StartClaim(ctx, contract.StartClaim{ClaimToken: a.ClaimToken}, admitAll, "")
		return err
	}
	for n := range limits.ClaimStarts {
		if n > 0 && n%w.limits.ClaimStart.Limit == 0 {
			full, isRefusal := errors.AsType[*fault.OAuthError](start())
			if !isRefusal || full.Code != fault.OAuthSlowDown || !full.Limited || full.RetryAfter != w.limits.ClaimStart.Window {
				t.Fatal(n, full)
			}
			w.wait(w.limits.ClaimStart.Window)
		}
		w.ok(start())
	}
	w.wantCode(start(), "access_denied")
	_, err := w.poll(a.ClaimToken)
	w.wantCode(err, "access_denied")
}

func TestClaimTokensThatAreNoneAreExpired(t *testing.T) {
	w := newEnv(t)
	a := w.agent()
	parsed, err := credential.Parse(a.ClaimToken, credential.ClaimToken, credential.Preview)
	w.ok(err)
	swapped := credential.MintAs(credential.ClaimToken, credential.Preview, parsed.Workspace, parsed.Public)
	for _, text := range []string{
		"x", a.ClaimToken + "x", swapped.Reveal(),
		credential.Mint(credential.ClaimToken, credential.Preview, id.NewWorkspace(), "").Reveal(),
	} {
		_, err := w.StartClaim(ctx, contract.StartClaim{ClaimToken: text}, admitAll, "")
		w.wantCode(err, "expired_token")
		_, err = w.poll(text)
		w.wantCode(err, "expired_token")
	}
	_, err = w.StartClaim(ctx, contract.StartClaim{}, admitAll, "")
	w.wantCode(err, "expired_token")
	_, err = w.poll("")
	w.wantCode(err, "invalid_request")
	w.wait(limits.RegistrationLife)
	_, err = w.poll(a.ClaimToken)
	w.wantCode(err, "expired_token")
}

func TestAMemberSeesAndUnlinksTheirAgents(t *testing.T) {
	w := newEnv(t)
	first, p := w.claimed()
	w.wait(time.Second)
	second := w.agent()
	s := w.start(second.ClaimToken)
	w.ok(w.complete(p, s.AttemptToken, s.UserCode))
	held, err := w.poll(first.ClaimToken)
	w.ok(err)
	more, err := w.exchange(held.IdentityAssertion)
	w.ok(err)
	if got := w.connected(p); !slices.Equal(got, []id.Registration{second.RegistrationID, first.RegistrationID}) {
		t.Error("connections", got)
	}
	page, next, err := w.Connections(ctx, p, cursor.Page{Limit: 1})
	if err != nil || len(page) != 1 || page[0].ID != second.RegistrationID || next == "" {
		t.Fatalf("%+v %+v %v, want the second agent and a cursor", page, next, err)
	}
	rest := cursor.Page{Limit: 1, Cursor: next}
	if page, next, err = w.Connections(ctx, p, rest); err != nil || len(page) != 1 || page[0].ID != first.RegistrationID ||
		next != "" {
		t.Errorf("%+v %+v %v, want the first agent and no cursor", page, next, err)
	}
	stranger := w.person()
	_, _, err = w.Connections(ctx, stranger, rest)
	w.wantCode(err, "invalid_cursor")
	if got := w.connected(stranger); len(got) != 0 {
		t.Error("a stranger sees", got)
	}
	for _, r := range []id.Registration{first.RegistrationID, "reg_x", "", id.RegistrationOf(id.NewPublic())} {
		w.wantCode(w.Unlink(ctx, stranger, r), "not_found")
		_, err := w.Connection(ctx, stranger, r)
		w.wantCode(err, "not_found")
	}
	one, err := w.Connection(ctx, p, first.RegistrationID)
	if w.ok(err); one.ID != first.RegistrationID {
		t.Error("by its id:", one)
	}
	w.ok(w.Unlink(ctx, p, first.RegistrationID))
	_, err = w.Connection(ctx, p, first.RegistrationID)
	w.wantCode(err, "not_found")
	w.wantCode(w.Unlink(ctx, p, first.RegistrationID), "not_found")
	for _, secret := range []string{held.AccessToken, more.AccessToken} {
		if w.works(secret) != "" {
			t.Error("a token of an unlinked agent works")
		}
	}
	_, err = w.exchange(held.IdentityAssertion)
	w.wantCode(err, "invalid_grant")
	_, err = w.poll(first.ClaimToken)
	w.wantCode(err, "invalid_grant")
	if got := w.connected(p); !slices.Equal(got, []id.Registration{second.RegistrationID}) {
		t.Error("connections", got)
	}
	for _, want := range []event.Action{
		event.ClaimCompleted, event.WorkspaceClaimed, event.DelegationRevoked, event.TokenRevoked,
	} {
		if got := w.events(p.Workspace.ID); !slices.Contains(got, want) {
			t.Errorf("no %s among %v", want, got)
		}
	}
	w.wait(limits.RegistrationLife)
	if got := w.connected(p); len(got) != 0 {
		t.Error("expired agents are connected:", got)
	}
}

func (e *env) connected(p credential.Actor) (ids []id.Registration) {
	e.Helper()
	all, next, err := e.Connections(ctx, p, cursor.Page{})
	if e.ok(err); next != "" {
		e.Error("there are others")
	}
	for _, r := range all {
		ids = append(ids, r.ID)
	}
	return ids
}

func TestT83AssertionsFromBeforeAnEpochAreDead(t *testing.T) {
	w := newEnv(t)
	a := w.agent()
	w.SetWorkspace(w, w.registration(a.RegistrationID).Workspace, "epoch", &types.AttributeValueMemberN{Value: "1"})
	_, err := w.exchange(a.IdentityAssertion)
	w.wantCode(err, "invalid_grant")
}

func TestALockedWorkspaceGetsNoTokensUntilItIsLifted(t *testing.T) {
	w := newEnv(t)
	a, p := w.claimed()
	got, err := w.poll(a.ClaimToken)
	w.ok(err)
	w.SetWorkspace(w, p.Workspace.ID, "lock", &types.AttributeValueMemberS{Value: "lkd_1"})
	_, err = w.exchange(got.IdentityAssertion)
	w.wantCode(err, "invalid_grant")
	_, err = w.poll(a.ClaimToken)
	w.wantCode(err, "invalid_grant")
	w.SetWorkspace(w, p.Workspace.ID, "lock", nil)
	again, err := w.exchange(got.IdentityAssertion)
	w.ok(err)
	if w.works(got.AccessToken) == "" || w.works(again.AccessToken) == "" {
		t.Error("lifting the lock does not bring the tokens back")
	}
}

func TestManyExchangesAtOnceAllGetLiveTokens(t *testing.T) {
	w := newEnv(t)
	a := w.agent()
	const at = 8
	got := make([]contract.Token, at)
	ends := parallel.Calls(at, func(n int) (err error) { got[n], err = w.exchange(a.IdentityAssertion); return err })
	for n := range at {
		w.ok(ends[n])
		if w.works(got[n].AccessToken) == "" {
			t.Error("a token is dead from the start")
		}
	}
	if held := w.registration(a.RegistrationID).Keys; len(held) != at {
		t.Errorf("%d tokens are on record", len(held))
	}
}

// TestAnAddressThatIsNotAdmittedChangesNothing refuses each route after its reads.
func TestAnAddressThatIsNotAdmittedChangesNothing(t *testing.T) {
	w := newEnv(t)
	a := w.agent()
	before := w.registration(a.RegistrationID)
	over := fault.NewOAuth(fault.OAuthSlowDown, "too many")
	refuse := func() error { return over }
	_, err1 := w.StartClaim(ctx, contract.StartClaim{ClaimToken: a.ClaimToken}, refuse, "")
	_, err2 := w.Redeem(ctx, a.ClaimToken, refuse, "")
	_, err3 := w.Exchange(ctx, agentauth.Exchange{Assertion: a.IdentityAssertion}, refuse)
	for n, err := range []error{err1, err2, err3} {
		if !errors.Is(err, over) {
			t.Errorf("way %d: %v", n+1, err)
		}
	}
	if diff := cmp.Diff(before, w.registration(a.RegistrationID)); diff != "" {
		t.Errorf("the registration (-before +after):\n%s", diff)
	}
}

func TestAnAgentsTokenEndsWithItsRegistration(t *testing.T) {
	w := newEnv(t)
	a, p := w.claimed()
	got, err := w.poll(a.ClaimToken)
	w.ok(err)
	w.wait(a.AssertionExpires.Sub(w.now()) - 10*time.Minute)
	last, err := w.exchange(got.IdentityAssertion)
	w.ok(err)
	if last.ExpiresIn != 600 || w.works(last.AccessToken) != p.Workspace.ID {
		t.Errorf("%+v, want the ten minutes that are left", last)
	}
	w.wait(10 * time.Minute)
	if w.works(last.AccessToken) != "" {
		t.Error("a token outlives its registration")
	}
}
