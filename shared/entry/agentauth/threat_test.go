package agentauth_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/entry/agentauth"
	"vitrine/shared/identity/assertion"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
)

func TestT09T10T11OnlyOurOwnAssertionsAreExchanged(t *testing.T) {
	w := newEnv(t)
	a := w.agent()
	parts := strings.Split(a.IdentityAssertion, ".")
	claims, err := w.Signer.Verify(a.IdentityAssertion, w.now())
	w.ok(err)
	elsewhere, err := assertion.New(keyring.New().Assertion, origin)
	w.ok(err)
	forged, err := elsewhere.Sign(claims)
	w.ok(err)
	for name, text := range map[string]string{
		"T09 without signature": parts[0] + "." + parts[1] + ".",
		"T09 alg none":          "eyJhbGciOiJub25lIn0." + parts[1] + ".",
		"T10 HS256":             secretSigned(t, w.Signer.JWKS(), parts),
		"T11 of another ring":   forged,
		"a claim token":         a.ClaimToken,
		"long":                  strings.Repeat("a", 20<<10),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := w.exchange(text); codeOf(err) != "invalid_grant" {
				t.Error(err)
			}
		})
	}
	_, err = w.exchange("")
	w.wantCode(err, "invalid_request")
	w.rings.Assertion = keyring.New().Assertion // the ring that signed a is dropped
	w.assemble()
	_, err = w.exchange(a.IdentityAssertion)
	w.wantCode(err, "invalid_grant")
}

// secretSigned returns an assertion that uses the public key as an HMAC secret.
func secretSigned(t testing.TB, jwks []byte, parts []string) string {
	t.Helper()
	var set struct{ Keys []json.RawMessage }
	var header map[string]any
	raw, err := base64.RawURLEncoding.DecodeString(parts[0])
	if err := errors.Join(err, json.Unmarshal(raw, &header), json.Unmarshal(jwks, &set)); err != nil {
		t.Fatal(err)
	}
	header["alg"] = "HS256"
	raw, _ = json.Marshal(header)
	input := base64.RawURLEncoding.EncodeToString(raw) + "." + parts[1]
	m := hmac.New(sha256.New, set.Keys[0])
	m.Write([]byte(input))
	return input + "." + base64.RawURLEncoding.EncodeToString(m.Sum(nil))
}

func TestAnExchangeNamesItsScopeAndItsResource(t *testing.T) {
	w := newEnv(t)
	a := w.agent()
	for _, tt := range []struct{ scope, resource, code, granted string }{
		{"", "", "", "read publish"},
		{"read", origin, "", "read"},
		{"publish read", "", "", "read publish"},
		{"publish admin", "", "", "publish"},
		{"admin", "", "invalid_scope", ""},
		{"", origin + "/", "invalid_target", ""},
		{"", "https://elsewhere.test", "invalid_target", ""},
	} {
		got, err := w.Exchange(ctx,
			agentauth.Exchange{Assertion: a.IdentityAssertion, Scope: tt.scope, Resource: tt.resource}, admitAll)
		w.wantCode(err, tt.code)
		if got.Scope != tt.granted {
			t.Errorf("asked for %q, granted %q", tt.scope, got.Scope)
		}
	}
}

func TestARegistrationExchangesThirtyTimesAnHour(t *testing.T) {
	w := newEnv(t)
	a := w.agent()
	var all []string
	for range w.limits.Exchange.Limit {
		got, err := w.exchange(a.IdentityAssertion)
		w.ok(err)
		all = append(all, got.AccessToken)
	}
	_, err := w.exchange(a.IdentityAssertion)
	r, isRefusal := errors.AsType[*fault.OAuthError](err)
	if !isRefusal || r.Code != fault.OAuthSlowDown || r.RetryAfter != time.Hour || r.Limited {
		t.Error(err)
	}
	for n, secret := range all {
		if live := n >= len(all)-limits.AgentTokens; live != (w.works(secret) != "") {
			t.Errorf("token %d of %d works: %v", n+1, len(all), !live)
		}
	}
	w.wait(time.Hour)
	got, err := w.exchange(a.IdentityAssertion)
	w.ok(err)
	if w.works(got.AccessToken) == "" || w.works(all[len(all)-1]) != "" {
		t.Error("an hour later the new token is dead or the old one alive")
	}
}

func TestT22TheFifthWrongCodeEndsTheAttempt(t *testing.T) {
	w := newEnv(t)
	a, p := w.agent(), w.person()
	s := w.start(a.ClaimToken)
	for range limits.AttemptTries {
		w.wantCode(w.complete(p, s.AttemptToken, otherCode(s.UserCode)), "invalid_request")
	}
	w.wantCode(w.complete(p, s.AttemptToken, s.UserCode), "invalid_request")
	if r := w.registration(a.RegistrationID); r.State != agentauth.ClaimPending || r.Locked {
		t.Errorf("%+v, want it pending and not locked", r)
	}
	next := w.start(a.ClaimToken)
	w.ok(w.complete(p, next.AttemptToken, next.UserCode))
}

func TestT23FifteenWrongCodesLockTheRegistration(t *testing.T) {
	w := newEnv(t)
	a := w.agent()
	var s contract.StartedClaim
	for n := range limits.RegistrationTries {
		if n%limits.AttemptTries == 0 {
			s = w.start(a.ClaimToken)
		}
		w.wantCode(w.complete(w.person(), s.AttemptToken, otherCode(s.UserCode)), "invalid_request")
	}
	w.wantCode(w.complete(w.person(), s.AttemptToken, s.UserCode), "invalid_request")
	_, err := w.StartClaim(ctx, contract.StartClaim{ClaimToken: a.ClaimToken}, admitAll, "")
	w.wantCode(err, "access_denied")
	for range limits.PollBurst * 2 {
		_, err = w.poll(a.ClaimToken)
		w.wantCode(err, "access_denied")
	}
	if got := w.events(w.registration(a.RegistrationID).Workspace); !slices.Equal(got,
		[]event.Action{event.RegistrationCreated, event.ClaimLocked}) {
		t.Error(got)
	}
}

// events returns the recorded actions of a workspace, sorted.
func (e *env) events(of id.Workspace) (actions []event.Action) {
	e.Helper()
	condition := "pk = :pk"
	out, err := e.DB.Query(ctx, &dynamodb.QueryInput{
		TableName: &e.Names.Events, KeyConditionExpression: &condition,
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":pk": &types.AttributeValueMemberS{Value: "W#" + string(of)},
		},
	})
	e.ok(err)
	for _, i := range out.Items {
		actions = append(actions, event.Action(i["action"].(*types.AttributeValueMemberS).Value))
	}
	slices.Sort(actions)
	slices.Reverse(actions)
	return actions
}

func TestAMemberWhoTypesTenWrongCodesHasToWait(t *testing.T) {
	w := newEnv(t)
	a := w.agent()
	b := w.agent()
	p := w.person()
	for range 2 {
		s := w.start(a.ClaimToken)
		for range limits.AttemptTries {
			w.wantCode(w.complete(p, s.AttemptToken, otherCode(s.UserCode)), "invalid_request")
		}
	}
	s := w.start(b.ClaimToken)
	err := w.complete(p, s.AttemptToken, s.UserCode)
	w.wantCode(err, "rate_limited_actor")
	if wait := fault.Of(err).RetryAfter; wait <= 0 || wait > w.limits.WrongCode.Window {
		t.Error("told to wait", wait)
	}
	w.ok(w.complete(w.person(), s.AttemptToken, s.UserCode))
}

func TestT24TheCodeOfAnEarlierAttemptIsWrong(t *testing.T) {
	w := newEnv(t)
	a, p := w.agent(), w.person()
	first := w.start(a.ClaimToken)
	second := w.start(a.ClaimToken)
	for second.UserCode == first.UserCode {
		second = w.start(a.ClaimToken)
	}
	w.wantCode(w.complete(p, first.AttemptToken, first.UserCode), "invalid_request")
	w.wantCode(w.complete(p, first.AttemptToken, second.UserCode), "invalid_request")
	w.wantCode(w.complete(p, second.AttemptToken, first.UserCode), "invalid_request")
	w.ok(w.complete(p, second.AttemptToken, second.UserCode))
}

func TestWhateverIsWrongWithAClaimIsTheSameAnswer(t *testing.T) {
	w := newEnv(t)
	a, p := w.agent(), w.person()
	s := w.start(a.ClaimToken)
	unknown := credential.MintAs(credential.ClaimAttempt, credential.Preview, id.NoWorkspace, id.NewPublic()).Reveal()
	token, err := credential.Parse(s.AttemptToken, credential.ClaimAttempt, credential.Preview)
	w.ok(err)
	forged := credential.MintAs(credential.ClaimAttempt, credential.Preview, id.NoWorkspace, token.Public).Reveal()
	for name, err := range map[string]error{
		"unknown":       w.complete(p, unknown, s.UserCode),
		"forged":        w.complete(p, forged, s.UserCode),
		"malformed":     w.complete(p, "x", s.UserCode),
		"a claim token": w.complete(p, a.ClaimToken, s.UserCode),
		"a wrong code":  w.complete(p, s.AttemptToken, otherCode(s.UserCode)),
	} {
		if f := fault.Of(err); f.Code != fault.InvalidRequest ||
			f.Message != fault.Of(w.complete(p, unknown, s.UserCode)).Message {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, code := range []string{"", "12345", "1234567", "１２３４５６", "12345a", "-12345"} {
		w.wantCode(w.complete(p, s.AttemptToken, code), "invalid_request")
	}
	_, err = w.Preview(ctx, p, forged)
	w.wantCode(err, "invalid_request")
	w.wantCode(w.Refuse(ctx, p, forged), "invalid_request")
	if r := w.registration(a.RegistrationID); r.Wrong != 1 {
		t.Errorf("%d guesses were counted, one was made", r.Wrong)
	}
	_, err = w.Complete(ctx, p, contract.CompleteClaim{ClaimToken: a.ClaimToken, UserCode: s.UserCode})
	w.ok(err)
}

func TestOnlyMembersWithBothRightsLetAgentsIn(t *testing.T) {
	w := newEnv(t)
	s := w.start(w.agent().ClaimToken)
	nobody, weak := w.person(), w.person()
	nobody.Member, weak.Scopes = "", []credential.Scope{credential.Read}
	for by, code := range map[*credential.Actor]string{&nobody: "not_authenticated", &weak: "forbidden"} {
		w.wantCode(w.complete(*by, s.AttemptToken, s.UserCode), code)
		w.wantCode(w.Refuse(ctx, *by, s.AttemptToken), code)
		_, err := w.Preview(ctx, *by, s.AttemptToken)
		w.wantCode(err, code)
	}
}

func TestT28PollsThatComeTooFastAreToldToSlowDown(t *testing.T) {
	w := newEnv(t)
	a := w.agent()
	w.start(a.ClaimToken)
	counts := codes(parallel.Calls(50, func(int) error { _, err := w.poll(a.ClaimToken); return err }))
	if counts["authorization_pending"] != limits.PollBurst || counts["slow_down"] != 50-limits.PollBurst {
		t.Error(counts)
	}
	w.wait(limits.PollInterval)
	_, err := w.poll(a.ClaimToken)
	w.wantCode(err, "authorization_pending")
}

func TestT29AClaimIsRedeemedThreeTimesInTenMinutes(t *testing.T) {
	w := newEnv(t)
	a, p := w.claimed()
	var got []contract.Token
	for range limits.ClaimRedemptions {
		one, err := w.poll(a.ClaimToken)
		w.ok(err)
		got = append(got, one)
	}
	_, err := w.poll(a.ClaimToken)
	w.wantCode(err, "invalid_grant")
	for n, one := range got {
		if live := n == len(got)-1; live != (w.works(one.AccessToken) == p.Workspace.ID) {
			t.Errorf("token %d works: %v", n+1, !live)
		}
	}
	late, _ := w.claimed()
	w.wait(limits.ClaimRedeemLife)
	_, err = w.poll(late.ClaimToken)
	w.wantCode(err, "invalid_grant")
}
