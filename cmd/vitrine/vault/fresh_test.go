package vault

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/secret"
)

// rotation is the server's side of a login: the one valid refresh token. The use of another one fails without other
// effect.
type rotation struct {
	mu      sync.Mutex
	counts  secret.Text
	serial  int
	refused int
}

func (r *rotation) refresh(_ context.Context, record Record) (access, next secret.Text, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if record.RefreshToken != r.counts {
		r.refused++
		return "", "", failure.New(failure.Auth, invalidGrant, "the refresh token was replaced")
	}
	r.serial++
	r.counts = token(r.serial)
	return secret.Text(fmt.Sprintf("access%d", r.serial)), r.counts, nil
}

func token(n int) secret.Text {
	return secret.Text(fmt.Sprintf("ap_rt_preview_0123456789ABCDEF_%040d", n))
}

// rotating stores a login and returns its server.
func rotating(t *testing.T, v *Vault) *rotation {
	r := login(server, "a")
	r.RefreshToken = token(0)
	store(t, v, r)
	return &rotation{counts: token(0)}
}

func TestFreshStoresTheNewTokenFirst(t *testing.T) {
	without(t)
	v := open(t, nil)
	o := rotating(t, v)
	for n := 1; n <= 3; n++ {
		access, err := v.AccessToken(t.Context(), server, o.refresh)
		if err != nil || string(access) != fmt.Sprintf("access%d", n) {
			t.Fatalf("access token %q, error %v", string(access), err)
		}
		want := login(server, "a")
		want.RefreshToken = token(n)
		wantLogin(t, v, want)
	}
}

// TestFreshTakesTurns runs many at once, each as its own process would: with its own vault on the same folder.
func TestFreshTakesTurns(t *testing.T) {
	without(t)
	v := open(t, nil)
	o := rotating(t, v)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			own := &Vault{Dir: v.Dir, Deadline: v.Deadline, Warn: v.Warn}
			if _, err := own.AccessToken(t.Context(), server, o.refresh); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if o.serial != 20 || o.refused != 0 {
		t.Errorf("%d refreshes, %d refused", o.serial, o.refused)
	}
	if r := v.Load(server); r == nil || r.RefreshToken != o.counts {
		t.Error("the stored token is not the one that counts")
	}
}

// TestFreshAfterALostRace lets another program, which does not lock, be faster.
func TestFreshAfterALostRace(t *testing.T) {
	without(t)
	v := open(t, nil)
	o := rotating(t, v)
	first := true
	access, err := v.AccessToken(t.Context(), server,
		func(ctx context.Context, r Record) (secret.Text, secret.Text, error) {
			if first {
				first = false
				faster := r
				_, next, err := o.refresh(ctx, r)
				faster.RefreshToken = next
				if err == nil {
					err = v.write(server, mustJSON(t, faster))
				}
				if err != nil {
					t.Error(err)
				}
			}
			return o.refresh(ctx, r)
		})
	if err != nil || access != "access2" || o.refused != 1 {
		t.Fatalf("access token %q, %d refused, error %v", string(access), o.refused, err)
	}
	if r := v.Load(server); r == nil || r.RefreshToken != token(2) {
		t.Error("the stored token is not the one that counts")
	}
}

func TestFreshFails(t *testing.T) {
	without(t)
	refuse := func(code string) Refresh {
		return func(context.Context, Record) (secret.Text, secret.Text, error) {
			return "", "", failure.New(failure.Server, failure.Network, "no answer").Advise("%s", code)
		}
	}
	v := open(t, nil)
	if _, err := v.AccessToken(t.Context(), server, refuse("")); failure.Of(err).Exit != failure.Auth {
		t.Errorf("without a login: %v", err)
	}
	o := rotating(t, v)
	before := *v.Load(server)
	if _, err := v.AccessToken(t.Context(), server, refuse("")); failure.Of(err).Exit != failure.Server {
		t.Errorf("without a network: %v", err)
	}
	wantLogin(t, v, before)
	o.counts = token(99) // revoked
	_, err := v.AccessToken(t.Context(), server, o.refresh)
	if f := failure.Of(err); f.Exit != failure.Auth || !strings.Contains(f.Hint, "vitrine login") || o.refused != 1 {
		t.Errorf("after a revocation: %v, %d refused", err, o.refused)
	}
	wantLogin(t, v, before)
}

// TestFreshIsNotBrokenOff interrupts the command during a refresh.
func TestFreshIsNotBrokenOff(t *testing.T) {
	without(t)
	v := open(t, nil)
	o := rotating(t, v)
	ctx, interrupt := context.WithCancel(t.Context())
	_, err := v.AccessToken(ctx, server, func(ctx context.Context, r Record) (secret.Text, secret.Text, error) {
		interrupt()
		if ctx.Err() != nil {
			t.Error("the refresh was broken off")
		}
		return o.refresh(ctx, r)
	})
	if r := v.Load(server); err != nil || r == nil || r.RefreshToken != o.counts {
		t.Errorf("the token that counts is lost (%v)", err)
	}
}

// TestFreshDoesNotUseWhatItCannotStore removes the folder during a refresh.
func TestFreshDoesNotUseWhatItCannotStore(t *testing.T) {
	without(t)
	v := open(t, nil)
	o := rotating(t, v)
	access, err := v.AccessToken(t.Context(), server,
		func(ctx context.Context, r Record) (secret.Text, secret.Text, error) {
			if err := errors.Join(os.RemoveAll(v.Dir), os.Symlink(t.TempDir(), v.Dir)); err != nil {
				t.Error(err)
			}
			return o.refresh(ctx, r)
		})
	if access != "" || !failure.IsCode(err, failure.Unstorable) {
		t.Errorf("access token %q, error %v", string(access), err)
	}
}

func TestLockWaitsAndGivesUpWithTheCommand(t *testing.T) {
	without(t)
	v := open(t, nil)
	unlock, err := v.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	second := &Vault{Dir: v.Dir, Deadline: v.Deadline}
	go func() {
		_, err := second.lock(ctx)
		ended <- err
	}()
	interrupt()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	unlock()
	again, err := second.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	again()
	second.waiting.Wait() // otherwise the folder may be filled again while it is removed
	if _, err := os.Stat(filepath.Join(v.Dir, lockName)); err != nil {
		t.Error(err)
	}
}
