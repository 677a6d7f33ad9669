package client

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/cmd/vitrine/failure"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
)

const started = `{"device_code":"ap_dc_s3cret","user_code":"BCDF-GHJK",` +
	`"verification_uri":"https://app.test/device","expires_in":900,"interval":5}`

// ask starts a sign-in on another device and waits for it.
func ask(ctx context.Context, a *Authority) error {
	d, err := a.StartDevice(ctx, "laptop")
	if err != nil {
		return err
	}
	_, err = a.Await(ctx, d)
	return err
}

// lost is the response of an attempt that failed in the network.
var lost *http.Response

// polls returns a handler that answers the start, then one poll after another; the last response repeats.
func polls(answers ...*http.Response) func(*http.Request) (*http.Response, error) {
	next := 0
	return func(r *http.Request) (*http.Response, error) {
		if strings.HasSuffix(r.URL.Path, "/device_authorization") {
			return said(200, started), nil
		}
		got := answers[min(next, len(answers)-1)]
		if next++; got == lost {
			return nil, errors.New("connection reset")
		}
		return in(got)(r)
	}
}

func TestAwaitKeepsThePace(t *testing.T) {
	wait := no(400, "authorization_pending")
	for _, tt := range []struct {
		name    string
		answers []*http.Response
		gaps    []int // seconds between calls, without the jitter
	}{
		{"the interval", []*http.Response{wait, wait, grant()}, []int{5, 5, 5}},
		{"slow_down counts for good", []*http.Response{wait, no(400, "slow_down"), wait, wait, grant()},
			[]int{5, 5, 10, 10, 10}},
		{"slow_down adds up", []*http.Response{no(400, "slow_down"), no(400, "slow_down"), wait, grant()},
			[]int{5, 10, 15, 15}},
		{"slow_down that names more", []*http.Response{no(429, "slow_down", "Retry-After: 20"), wait, grant()},
			[]int{5, 20, 20}},
		{"a lost network backs off and comes back", []*http.Response{lost, lost, wait, grant()}, []int{5, 10, 20, 5}},
		{"slow_down outlives a lost network", []*http.Response{no(400, "slow_down"), lost, wait, grant()},
			[]int{5, 10, 20, 10}},
		{"trouble of the server", []*http.Response{no(503, "server_error", "Retry-After: 30"), grant()}, []int{5, 30}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &wire{respond: polls(tt.answers...)}
				if err := ask(t.Context(), authority(w, nil)); err != nil {
					t.Fatal(err)
				}
				if len(w.at) != len(tt.gaps)+1 {
					t.Fatalf("%d polls, want %d", len(w.at)-1, len(tt.gaps))
				}
				for i, seconds := range tt.gaps {
					least := time.Duration(seconds) * time.Second
					// Each wait has its own jitter.
					if gap := w.at[i+1].Sub(w.at[i]); gap < least || gap > least+least/4+time.Second {
						t.Errorf("poll %d came after %v, want %v", i+1, gap, least)
					}
				}
			})
		})
	}
}

func TestAwaitEnds(t *testing.T) {
	wait := no(400, "authorization_pending")
	for _, tt := range []struct {
		name    string
		answers []*http.Response
		code    fault.Code
		exit    failure.Exit
		most    time.Duration
	}{
		{"with a person's no", []*http.Response{wait, no(400, "access_denied")}, "access_denied", failure.Declined,
			12 * time.Second},
		{"when the server says that the code ended", []*http.Response{wait, no(400, "expired_token")}, "expired_token",
			failure.Auth, 12 * time.Second},
		{"with any other refusal", []*http.Response{no(400, "invalid_grant")}, "invalid_grant", failure.Auth,
			6 * time.Second},
		{"with the life of the code", []*http.Response{wait}, "expired_token", failure.Auth, 910 * time.Second},
		{"with the life of the code, while it is slowed down", []*http.Response{no(400, "slow_down")}, "expired_token",
			failure.Auth, 1100 * time.Second},
		{"without a network", []*http.Response{lost}, failure.Network, failure.Server, 970 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				wantFailure(t, ask(t.Context(), authority(&wire{respond: polls(tt.answers...)}, nil)), tt.code, tt.exit)
				if took := time.Since(start); took > tt.most {
					t.Errorf("took %v", took)
				}
			})
		})
	}
}

// TestATokenThatArrivesLateCounts begins the last poll before the code expires and answers after it.
func TestATokenThatArrivesLateCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		w := &wire{}
		w.respond = func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/device_authorization") {
				return said(200, started), nil
			}
			if time.Since(start) < 890*time.Second {
				return no(400, "authorization_pending"), nil
			}
			timer := time.NewTimer(20 * time.Second)
			select {
			case <-timer.C:
				return grant(), nil
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		}
		if err := ask(t.Context(), authority(w, nil)); err != nil || time.Since(start) < 900*time.Second {
			t.Errorf("error %v after %v", err, time.Since(start))
		}
	})
}

func TestInterruptEndsTheWait(t *testing.T) {
	for name, respond := range map[string]func(*http.Request) (*http.Response, error){
		"between polls": polls(no(400, "authorization_pending")),
		"during the start": func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(7*time.Second, cancel)
				start := time.Now()
				err := ask(ctx, authority(&wire{respond: respond}, nil))
				if failure.Of(err).Exit != failure.Interrupted || time.Since(start) != 7*time.Second {
					t.Errorf("error %v after %v", err, time.Since(start))
				}
			})
		})
	}
}

func TestStartDevice(t *testing.T) {
	for _, tt := range []struct {
		name, from, to string
		ok             bool
	}{
		{"as it should be", "", "", true},
		{"no interval", `,"interval":5`, ``, true},
		{"plain HTTP", `https://app.test`, `http://app.test`, false},
		{"another scheme", `https://app.test/device`, `javascript:alert(1)`, false},
		{"a user", `https://app.test`, `https://bank.test@evil.test`, false},
		{"no page", `https://app.test/device`, ``, false},
		{"a control character", `/device"`, `/\u001b[31m"`, false},
		{"no code", `ap_dc_s3cret`, ``, false},
		{"a code that steers", `BCDF-GHJK`, `\u001b[31m`, false},
		{"no life", `"expires_in":900`, `"expires_in":0`, false},
		{"a life that is over", `"expires_in":900`, `"expires_in":-5`, false},
		{"a bad page with the code", `"interval"`, `"verification_uri_complete":"data:x","interval"`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, err := authority(&wire{
					respond: in(said(200, strings.Replace(started, tt.from, tt.to, 1))),
				}, nil).StartDevice(t.Context(), "laptop")
				if !tt.ok {
					wantFailure(t, err, failure.BadResponse, failure.Other)
					return
				}
				if err != nil || d.Life != 15*time.Minute || d.interval != 5*time.Second || d.UserCode != "BCDF-GHJK" {
					t.Errorf("device %+v, error %v", d, err)
				}
			})
		})
	}
}

func TestBase(t *testing.T) {
	expect.Results(t, func(address string) string { return expect.Value(Base(address))(t) }, map[string]string{
		"https://V.Test":       "https://v.test",
		"https://v.test/":      "https://v.test",
		"https://v.test:443":   "https://v.test",
		"http://v.test:80/":    "http://v.test",
		"http://v.test:443":    "http://v.test:443",
		"http://v.test/Stage/": "http://v.test/Stage",
		"http://[::1]:80":      "http://[::1]",
		"HTTP://v.test":        "http://v.test",
	})
}
