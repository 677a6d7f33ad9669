package oauth_test

import (
	"context"
	"errors"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func (e *env) device(t testing.TB) contract.DeviceAuthorization {
	t.Helper()
	out, err := e.StartDevice(ctx, "cli", "publish read", "  laptop\u202e\n<b> ", from)
	expect.OK(t, err)
	e.secrets = append(e.secrets, out.DeviceCode, out.UserCode, strings.ReplaceAll(out.UserCode, "-", ""))
	return out
}

func polling(client string, d contract.DeviceAuthorization) oauth.TokenRequest {
	return oauth.TokenRequest{GrantType: contract.GrantDevice, ClientID: client, DeviceCode: d.DeviceCode}
}

func TestT72ADeviceIsLetInOnlyAfterThePersonSawItAndAgreed(t *testing.T) {
	s := newEnv(t)
	d := s.device(t)
	if d.VerificationURI != "https://app.example.com/device" ||
		d.VerificationURIComplete != d.VerificationURI+"?code="+d.UserCode || d.ExpiresIn != 900 || d.Interval != 5 {
		t.Errorf("%+v, want the page, 15 minutes, every 5 seconds", d)
	}
	shown, err := s.Device(ctx, s.by, d.UserCode)
	if err != nil || shown.Name != "laptop <b>" || shown.Network != "203.0.113.0/24" || shown.Client.ID != oauth.CLI ||
		!shown.ExpiresAt.Equal(s.clock.Now().Add(limits.DeviceLife)) {
		t.Errorf("the page shows %+v %v", shown, err)
	}
	s.refuses(t, "seen, not approved", polling("cli", d), fault.OAuthAuthorizationPending)
	expect.OK(t, s.ApproveDevice(ctx, s.by, " "+strings.ToLower(strings.ReplaceAll(d.UserCode, "-", " "))))
	out := s.token(t, polling("cli", d))
	if !s.works(out.AccessToken, apiOrigin) || out.Scope != "publish read admin" {
		t.Errorf("%+v, want a token of all scopes for the API", out)
	}
	s.token(t, refreshing("cli", out))
	s.refuses(t, "redeemed", polling("cli", d), fault.OAuthInvalidGrant)
	if _, err := s.Device(ctx, s.by, d.UserCode); fault.CodeOf(err) != fault.NotFound {
		t.Error("an answered code is shown", err)
	}
	if g, _, _ := s.Grants(ctx, s.by, cursor.Page{}); len(g) != 1 || g[0].Name != "Vitrine CLI (laptop <b>)" {
		t.Errorf("%+v, want the grant with the device's name", g)
	}
	s.WantEvents(t, event.DeviceApproved, 1)
	s.checkSecrets(t)
}

func TestT71ADeviceCodeServesItsOwnClientOnce(t *testing.T) {
	s := newEnv(t)
	d := s.device(t)
	s.refuses(t, "another client", polling("dashboard", d), fault.OAuthInvalidGrant)
	forged := d
	forged.DeviceCode = s.forge(t, d.DeviceCode, credential.DeviceCode)
	s.refuses(t, "guessed", polling("cli", forged), fault.OAuthInvalidGrant)
	expect.OK(t, s.DenyDevice(ctx, s.by, d.UserCode))
	if err := s.ApproveDevice(ctx, s.by, d.UserCode); fault.CodeOf(err) != fault.NotFound {
		t.Error("approved after it was denied", err)
	}
	s.refuses(t, "denied", polling("cli", d), fault.OAuthAccessDenied)
	if s.CountEvents(t, event.DeviceDenied) != 1 {
		t.Error("the denial is not on record")
	}

	late := s.device(t)
	s.clock.Advance(limits.DeviceLife)
	s.refuses(t, "expired", polling("cli", late), fault.OAuthExpiredToken)
	if err := s.ApproveDevice(ctx, s.by, late.UserCode); fault.CodeOf(err) != fault.NotFound {
		t.Error("approved after its end", err)
	}
	robot := s.register(t, elsewhere)
	_, err := s.StartDevice(ctx, robot, "", "", from)
	wantRefused(t, "registered client", err, fault.OAuthUnauthorizedClient)
	_, err = s.StartDevice(ctx, "", "", "", from)
	wantRefused(t, "no client", err, fault.OAuthInvalidClient)
}

func TestT71ACodeIsNotGuessed(t *testing.T) {
	s := newEnv(t)
	d := s.device(t)
	for n := range s.limits.WrongDevice.Limit {
		wrong := "BBBB-CCCC"
		if n%2 == 1 {
			wrong = "nonsense"
		}
		if _, err := s.Device(ctx, s.by, wrong); fault.CodeOf(err) != fault.NotFound {
			t.Fatal(n, err)
		}
	}
	_, err := s.Device(ctx, s.by, d.UserCode)
	if fault.CodeOf(err) != fault.RateLimitedActor || fault.Of(err).RetryAfter <= 0 {
		t.Errorf("after %d wrong codes the right one passes: %v", s.limits.WrongDevice.Limit, err)
	}
	if err := s.ApproveDevice(ctx, s.by, d.UserCode); fault.CodeOf(err) != fault.RateLimitedActor {
		t.Error(err)
	}
	if _, err := s.Device(ctx, s.join(t), d.UserCode); err != nil {
		t.Error("another member is refused too", err)
	}
	s.clock.Advance(fault.Of(err).RetryAfter)
	if _, err := s.Device(ctx, s.by, d.UserCode); err != nil {
		t.Error("after Retry-After it is still refused", err)
	}
}

// TestT71OpenCodesAreFew begins as many devices as a deployment may in a minute, each from an address of its own.
func TestT71OpenCodesAreFew(t *testing.T) {
	s := newEnv(t)
	s.limits.Devices.Limit = 3
	start := func(n byte) error {
		_, err := s.StartDevice(ctx, "cli", "", "", netip.AddrFrom4([4]byte{203, n, 113, 7}))
		return err
	}
	for n := range byte(3) {
		expect.OK(t, start(n))
	}
	err := start(9)
	wantRefused(t, "one more", err, fault.OAuthSlowDown)
	refused := fault.OAuthErrorOf(err)
	if refused.RetryAfter <= 0 || refused.RetryAfter > s.limits.Devices.Window {
		t.Fatalf("%+v, want a wait of at most a window", refused)
	}
	s.clock.Advance(refused.RetryAfter)
	if err := start(9); err != nil {
		t.Error("after Retry-After:", err)
	}
}

func TestT71AGuessAmongAllOpenCodesHasLessThanOneChanceInAMillion(t *testing.T) {
	l := limits.Default()
	windows := int(limits.DeviceLife/l.Devices.Window) + 1 // the first and the last one count in part
	open := float64(windows * l.Devices.Limit)
	if chance := float64(l.WrongDevice.Limit) * open / math.Pow(20, 8); chance >= 1e-6 {
		t.Errorf("%v open codes are guessed with probability %v", open, chance)
	}
}

// takenCodes are Flows in which the first codes belong to other devices.
type takenCodes struct {
	oauth.Flows
	taken int
	codes []string
}

func (c *takenCodes) Add(ctx context.Context, f oauth.Flow, mac []byte) error {
	c.codes = append(c.codes, string(mac))
	if c.taken--; c.taken >= 0 {
		return oauth.ErrCodeTaken
	}
	return c.Flows.Add(ctx, f, mac)
}

func TestADeviceGetsACodeThatNoOtherOneHas(t *testing.T) {
	s := newEnv(t)
	flows := &takenCodes{Flows: s.Flows, taken: 2}
	s.Flows = flows
	d := s.device(t)
	if _, err := s.Device(ctx, s.by, d.UserCode); err != nil || len(flows.codes) != 3 || flows.codes[0] == flows.codes[1] {
		t.Errorf("%d codes, %v", len(flows.codes), err)
	}
	flows.taken = 9
	if _, err := s.StartDevice(ctx, "cli", "", "", from); !errors.Is(err, oauth.ErrCodeTaken) || len(flows.codes) != 6 {
		t.Errorf("%d codes, %v", len(flows.codes), err)
	}
}

func TestTheStoreTellsThatACodeIsTaken(t *testing.T) {
	s := newEnv(t)
	flow := func() oauth.Flow {
		return oauth.Flow{
			Public:    credential.Mint(credential.DeviceCode, s.Environment, id.NoWorkspace, "").Public,
			Answer:    oauth.Pending,
			CreatedAt: s.clock.Now(),
			ExpiresAt: s.clock.Now().Add(limits.DeviceLife),
		}
	}
	first := flow()
	expect.OK(t, s.Flows.Add(ctx, first, []byte("mac")))
	if err := s.Flows.Add(ctx, flow(), []byte("mac")); !errors.Is(err, oauth.ErrCodeTaken) {
		t.Error(err)
	}
	if f, err := s.Flows.FlowByUserCode(ctx, [][]byte{[]byte("mac")}); err != nil || f == nil || f.Public != first.Public {
		t.Errorf("%+v %v, want the first flow", f, err)
	}
}

func TestADeviceThatAsksTooOftenIsSlowedDown(t *testing.T) {
	s := newEnv(t)
	d := s.device(t)
	for range limits.PollBurst {
		s.refuses(t, "burst", polling("cli", d), fault.OAuthAuthorizationPending)
	}
	s.refuses(t, "after the burst", polling("cli", d), fault.OAuthSlowDown)
	s.clock.Advance(limits.PollInterval - time.Second)
	s.refuses(t, "too soon", polling("cli", d), fault.OAuthSlowDown)
	s.clock.Advance(time.Second)
	s.refuses(t, "after the interval", polling("cli", d), fault.OAuthAuthorizationPending)
	s.refuses(t, "again", polling("cli", d), fault.OAuthSlowDown)
	expect.OK(t, s.ApproveDevice(ctx, s.by, d.UserCode))
	s.token(t, polling("cli", d))
}

func TestT71AnApprovalIsRedeemedOnceHoweverManyAsk(t *testing.T) {
	s := newEnv(t)
	d := s.device(t)
	answers := []func(context.Context, credential.Actor, string) error{s.ApproveDevice, s.DenyDevice}
	won := parallel.Successes(8, func(n int) error { return answers[n%2](ctx, s.by, d.UserCode) })
	if won != 1 {
		t.Fatalf("%d answers", won)
	}
	s.clock.Advance(s.limits.WrongDevice.Window)
	d = s.device(t)
	expect.OK(t, s.ApproveDevice(ctx, s.by, d.UserCode))
	polls := func(int) error { _, err := s.Token(ctx, polling("cli", d), from, request); return err }
	if got := parallel.Successes(20, polls); got != 1 {
		t.Errorf("one approval gave %d grants", got)
	}
}
