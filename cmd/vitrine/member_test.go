package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/id"
)

// inProcess returns an invocation within this process, without a keyring.
func inProcess(t *testing.T, p *fakeServer, config string, args ...string) (*app, *bytes.Buffer) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
	var out bytes.Buffer
	a := &app{
		args:    args,
		environ: []string{"VITRINE_URL=" + p.api.URL, "XDG_CONFIG_HOME=" + config},
		out:     &out,
		err:     &out,
		now:     func() time.Time { return epoch },
		newUUID: func() string { return string(id.NewWorkspace()) },
		retry:   client.RetryPolicy{MaxAttempts: 2, MeanWait: time.Millisecond, ClockDivisor: clockDivisor},
		keyring: time.Second,
		browse:  time.Second,
	}
	a.open()
	return a, &out
}

// TestMemberActsWithAFreshToken runs the life of a login's refresh token.
func TestMemberActsWithAFreshToken(t *testing.T) {
	p, config := newFakeServer(), t.TempDir()
	defer p.close()
	if a, _ := inProcess(t, p, config); failure.Of(second(a.member(t.Context(), "act"))).Exit != failure.Auth {
		t.Fatal("somebody is a member without a login")
	}
	a, out := inProcess(t, p, config, "login", "--device-code")
	if code := run(a); code != failure.OK {
		t.Fatalf("login: exit code %d\n%s", code, out)
	}
	for want := range 3 {
		a, out := inProcess(t, p, config)
		m, err := a.member(t.Context(), "act")
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if w, err := m.Workspace(t.Context()); err != nil || w.WorkspaceMember.Email != "ada@example.com" {
			t.Errorf("workspace %+v, error %v", w, err)
		}
		if left := p.left(); !strings.Contains(left, "refresh 0"+string(rune('2'+want))) ||
			strings.Count(left, "refresh") != 1 {
			t.Errorf("after refresh %d there are %s", want+1, left)
		}
	}
	p.plan("token", 1, plannedFault{drop: true}) // a lost response is requested again
	a, _ = inProcess(t, p, config)
	if _, err := a.member(t.Context(), "act"); err != nil {
		t.Error(err)
	}
	p.people.refresh = map[string]bool{}
	a, _ = inProcess(t, p, config)
	if f := failure.Of(second(a.member(t.Context(), "act"))); f.Exit != failure.Auth ||
		!strings.Contains(f.Hint, "vitrine login") {
		t.Errorf("after a revocation: %+v", f)
	}
	p.hosts["upload_url"] = "https://elsewhere.test"
	a, _ = inProcess(t, p, config)
	if err := second(a.member(t.Context(), "act")); !failure.IsCode(err, failure.Moved) {
		t.Errorf("at other hosts: %v", err)
	}
	if len(p.wrong) > 0 {
		t.Errorf("the peer objects:\n%s", strings.Join(p.wrong, "\n"))
	}
}

// TestAnInterruptHidesNoSecret cancels keys create while the server creates the key, which is shown all the same.
func TestAnInterruptHidesNoSecret(t *testing.T) {
	p, config := newFakeServer(), t.TempDir()
	defer p.close()
	a, out := inProcess(t, p, config, "login", "--device-code")
	if code := run(a); code != failure.OK {
		t.Fatalf("login: exit code %d\n%s", code, out)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	p.onCall = func(route string) {
		if route == "keys" {
			interrupt()
		}
	}
	a, out = inProcess(t, p, config, "keys", "create", "ci")
	if err := a.execute(ctx); err != nil || !strings.Contains(out.String(), "ap_pk_preview_0000000000000002_kkkk") {
		t.Errorf("%v\n%s", err, out)
	}
	a, out = inProcess(t, p, config, "keys", "create", "late")
	if err := a.execute(ctx); failure.Of(err).Exit != failure.Interrupted || len(p.people.made) != 2 {
		t.Errorf("%v after %d keys\n%s", err, len(p.people.made), out)
	}
	if len(p.wrong) > 0 {
		t.Errorf("the peer objects:\n%s", strings.Join(p.wrong, "\n"))
	}
}

func second(_ *client.Member, err error) error { return err }
