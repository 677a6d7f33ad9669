package ephemeral_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/pow"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

var now = time.Date(2026, 11, 22, 18, 0, 20, 0, time.UTC)

// fakeStore serves all ports of a Provisioner: the quota, its counter, every limiter's counter and used nonces.
type fakeStore struct {
	mu         sync.Mutex
	quota      ephemeral.Quota
	quotaErr   error
	quotaReads int
	admitted   int // in this minute
	countErr   error
	away       string // the kind of a counter that cannot be reached
	counts     map[string]int
	made       []ephemeral.Provision
}

func (f *fakeStore) Quota(context.Context) (ephemeral.Quota, error) {
	f.quotaReads++
	return f.quota, f.quotaErr
}

func (f *fakeStore) CountOf(context.Context, rate.Window) (int, error) { return f.admitted, f.countErr }

func (f *fakeStore) Provision(_ context.Context, p ephemeral.Provision) error {
	f.made = append(f.made, p)
	return nil
}

func (f *fakeStore) Count(_ context.Context, w rate.Window, add, limit int) (int, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w.Kind == f.away {
		return 0, false, errors.New("down")
	}
	if f.counts[w.Kind] >= limit {
		return limit, false, f.countErr
	}
	f.counts[w.Kind] += add
	return f.counts[w.Kind], true, f.countErr
}

func (f *fakeStore) Burn(context.Context, string, time.Time) (bool, error) { return true, nil }

// quotaEnv is a provisioner with a quota of 10 a minute.
type quotaEnv struct {
	*ephemeral.Provisioner
	store *fakeStore
	at    time.Time
}

func newQuotaEnv(t *testing.T) *quotaEnv {
	t.Helper()
	peppers, err1 := keyring.New().Pepper.Derive("credential")
	nonces, err2 := keyring.New().Pepper.Derive("pow")
	expect.OK(t, err1, err2)
	l := limits.Default()
	e := &quotaEnv{
		at:    now,
		store: &fakeStore{quota: ephemeral.Quota{PerMinute: 10}, counts: map[string]int{}},
	}
	clock := func() time.Time { return e.at }
	e.Provisioner = &ephemeral.Provisioner{
		Store:       e.store,
		Limiter:     &rate.Limiter{Counters: e.store, Limits: &l, Host: "api", Now: clock},
		Counters:    e.store,
		Limits:      &l,
		Pow:         &pow.Service{Keys: nonces, Store: e.store, Now: clock},
		Peppers:     peppers,
		Environment: credential.Preview,
		Now:         clock,
	}
	return e
}

var client = netip.MustParseAddr("203.0.113.7")

// provision asks for a workspace as the host does: counted first, then made.
func (e *quotaEnv) provision(t *testing.T, r contract.ProvisionRequest) (contract.Provisioned, error) {
	t.Helper()
	a, err := e.Admit(t.Context(), client)
	if err != nil {
		return contract.Provisioned{}, err
	}
	return e.Provision(t.Context(), a, r, "request-1")
}

func TestAWorkspaceComesWithAKeyAndAClaimToken(t *testing.T) {
	e := newQuotaEnv(t)
	got, err := e.provision(t, contract.ProvisionRequest{ClaimCode: " clm_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9 "})
	expect.OK(t, err)
	if len(e.store.made) != 1 {
		t.Fatalf("%d commits", len(e.store.made))
	}
	made := e.store.made[0]
	key, err := credential.Parse(got.APIKeySecret, credential.APIKey, credential.Preview)
	if err != nil || key.Workspace != made.Workspace.ID || !key.Matches(made.Key.Hash, e.Peppers) {
		t.Errorf("the key %v: %v", key, err)
	}
	token, err := credential.Parse(got.ClaimToken, credential.ClaimToken, credential.Preview)
	if err != nil || token.Workspace != made.Workspace.ID || !token.Matches(made.Claim.Hash, e.Peppers) {
		t.Errorf("the claim token %v: %v", token, err)
	}
	if !made.Key.ExpiresAt.Equal(now.Add(limits.EphemeralKey)) ||
		!made.Claim.ExpiresAt.Equal(now.Add(limits.ClaimTokenLife)) {
		t.Errorf("the key ends at %v, the claim token at %v", made.Key.ExpiresAt, made.Claim.ExpiresAt)
	}
	if made.Claim.ClaimCode != "clm_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9" || made.Event.RequestID != "request-1" {
		t.Errorf("%+v, want the code and the request's ID", made)
	}
}

func TestWhatIsNoClaimCodeIsIgnored(t *testing.T) {
	for _, code := range []any{
		nil, 7, map[string]any{"a": 1}, "", "clm_", "clm_01J8Z0T7Q1W2E3R4T5Y6V7X8ZI", "clm_" + strings.Repeat("0", 27),
		"clm_0000000000000000000000000a", "'; DROP TABLE users; --", strings.Repeat("x", 10<<10),
	} {
		e := newQuotaEnv(t)
		if _, err := e.provision(t, contract.ProvisionRequest{ClaimCode: code}); err != nil ||
			e.store.made[0].Claim.ClaimCode != "" {
			t.Errorf("%v: %v, %q", code, err, e.store.made[0].Claim.ClaimCode)
		}
	}
}

func TestTheQuotaOfAMinuteIsKept(t *testing.T) {
	e := newQuotaEnv(t)
	e.Limits.Pow = limits.PowOff
	e.Limits.ProvisionAddress.Limit = 100
	for n := range e.store.quota.PerMinute {
		if _, err := e.provision(t, contract.ProvisionRequest{}); err != nil {
			t.Fatalf("workspace %d: %v", n+1, err)
		}
	}
	_, err := e.provision(t, contract.ProvisionRequest{})
	if f := fault.Of(err); f.Code != fault.ProvisionRateLimited || f.RetryAfter != 40*time.Second {
		t.Errorf("one more: %v, after %v", err, f.RetryAfter)
	}
	if len(e.store.made) != e.store.quota.PerMinute {
		t.Errorf("%d made", len(e.store.made))
	}
}

func TestAQuotaThatIsNotInForceClosesTheDoor(t *testing.T) {
	for name, change := range map[string]func(e *quotaEnv){
		"out of reach":             func(e *quotaEnv) { e.store.quotaErr = errors.New("down") },
		"zero":                     func(e *quotaEnv) { e.store.quota.PerMinute = 0 },
		"too large":                func(e *quotaEnv) { e.store.quota.PerMinute = 101 },
		"over":                     func(e *quotaEnv) { e.store.quota.ValidUntil = now },
		"uncounted":                func(e *quotaEnv) { e.store.countErr = errors.New("down") },
		"uncounted for an address": func(e *quotaEnv) { e.store.away = "address" },
		"uncounted for all":        func(e *quotaEnv) { e.store.away = "provision" },
		"uncounted in its minute":  func(e *quotaEnv) { e.store.away = "gate" },
	} {
		t.Run(name, func(t *testing.T) {
			e := newQuotaEnv(t)
			change(e)
			_, err := e.provision(t, contract.ProvisionRequest{})
			if f := fault.Of(err); f.Code != fault.ProvisionUnavailable || f.RetryAfter == 0 {
				t.Errorf("answered %v, after %v", err, f.RetryAfter)
			}
			if len(e.store.made) != 0 {
				t.Error("a workspace is made")
			}
		})
	}
}

func TestAClientWithoutAnAddressIsRefused(t *testing.T) {
	e := newQuotaEnv(t)
	if _, err := e.Admit(t.Context(), netip.Addr{}); fault.CodeOf(err) != fault.ProvisionUnavailable {
		t.Errorf("answered %v", err)
	}
	if len(e.store.counts) != 0 {
		t.Errorf("counted as %v", e.store.counts)
	}
}

func TestWhereNobodyPublishesWithoutAnAccountNothingIsCounted(t *testing.T) {
	e := newQuotaEnv(t)
	e.AccountsOnly, e.App = true, "https://app.test"
	e.store.away = "address" // which would be another refusal
	for _, from := range []netip.Addr{client, {}} {
		_, err := e.Admit(t.Context(), from)
		f := fault.Of(err)
		if f.Code != fault.Forbidden || !strings.Contains(f.Message, "vitrine login, or at https://app.test") {
			t.Errorf("answered %v", err)
		}
	}
	if len(e.store.counts) != 0 || e.store.quotaReads != 0 {
		t.Errorf("counted as %v, %d reads", e.store.counts, e.store.quotaReads)
	}
}

func TestProofOfWorkIsAskedForWhenItIsBusy(t *testing.T) {
	for name, c := range map[string]struct {
		change func(e *quotaEnv)
		bits   int // zero: none
	}{
		"a calm minute":                      {func(e *quotaEnv) { e.store.admitted = 5 }, 0},
		"more than half of the quota":        {func(e *quotaEnv) { e.store.admitted = 6 }, limits.PowBits},
		"eight tenths exactly":               {func(e *quotaEnv) { e.store.admitted = 8 }, limits.PowBits},
		"more than eight tenths":             {func(e *quotaEnv) { e.store.admitted = 9 }, limits.PowBitsBusy},
		"the last free one of an address":    {func(e *quotaEnv) { e.store.counts["address"] = limits.PowFree - 1 }, 0},
		"one more of the same address":       {func(e *quotaEnv) { e.store.counts["address"] = limits.PowFree }, limits.PowBits},
		"a deployment that always asks":      {func(e *quotaEnv) { e.Limits.Pow = limits.PowAlways }, limits.PowBits},
		"a deployment that never does":       {func(e *quotaEnv) { e.Limits.Pow = limits.PowOff; e.store.admitted = 9 }, 0},
		"a deployment that lifts all limits": {func(e *quotaEnv) { e.Limits.Off = true; e.store.admitted = 9 }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			e := newQuotaEnv(t)
			e.Limits.ProvisionAddress.Limit = 100
			c.change(e)
			_, err := e.provision(t, contract.ProvisionRequest{})
			asked, _ := errors.AsType[*pow.Required](err)
			switch {
			case c.bits == 0 && err != nil:
				t.Errorf("refused: %v", err)
			case c.bits != 0 && asked == nil:
				t.Errorf("let in: %v", err)
			case c.bits != 0 && asked.Challenge.Difficulty != c.bits:
				t.Errorf("asked for %d bits, want %d", asked.Challenge.Difficulty, c.bits)
			}
		})
	}
}

func TestAChallengeOfOursIsCheckedBeforeTheQuota(t *testing.T) {
	e := newQuotaEnv(t)
	e.store.quotaErr = errors.New("down")
	forged := contract.ProvisionRequest{
		Challenge: &contract.Challenge{Nonce: "n", ExpiresAt: contract.At(now.Add(time.Minute))},
		Solution:  &contract.Solution{Nonce: "n"},
	}
	if _, err := e.provision(t, forged); fault.CodeOf(err) != fault.PowInvalid {
		t.Errorf("answered %v", err)
	}
}

func TestTheQuotaIsReadOnceInAWhile(t *testing.T) {
	e := newQuotaEnv(t)
	e.Limits.Pow = limits.PowOff
	for _, after := range []time.Duration{0, time.Second, 15*time.Second - time.Millisecond} {
		e.at = now.Add(after)
		if _, err := e.provision(t, contract.ProvisionRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	if e.store.quotaReads != 1 {
		t.Errorf("%d reads", e.store.quotaReads)
	}
	e.at = now.Add(15 * time.Second)
	if _, err := e.provision(t, contract.ProvisionRequest{}); err != nil || e.store.quotaReads != 2 {
		t.Errorf("%d reads after 15 s, %v", e.store.quotaReads, err)
	}
}

func TestAPanicWhileARequestIsCountedIsItsError(t *testing.T) {
	e := newQuotaEnv(t)
	e.Counters = nil
	if _, err := e.Admit(t.Context(), client); async.StackOf(err) == nil || fault.CodeOf(err) != fault.Internal {
		t.Error(err)
	}
}
