package client

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

const (
	issuer  = "https://api.test"
	access  = "ap_at_preview_0123456789ABCDEF_s3cretaccess0123456789012345678901234567"
	refresh = "ap_rt_preview_0123456789ABCDEF_s3cretrefresh012345678901234567890123456"
)

// meta returns a metadata document of the authorization server with one member changed.
func meta(name, value string) string {
	text := `{"issuer":"https://api.test","authorization_endpoint":"https://api.test/oauth2/authorize",` +
		`"token_endpoint":"https://api.test/oauth2/token",` +
		`"revocation_endpoint":"https://api.test/oauth2/revoke",` +
		`"device_authorization_endpoint":"https://api.test/oauth2/device_authorization",` +
		`"code_challenge_methods_supported":["S256"]}`
	before, after, _ := strings.Cut(text, `"`+name+`":`)
	_, after, _ = strings.Cut(after, `,"`)
	return before + `"` + name + `":` + value + `,"` + strings.TrimPrefix(after, `"`)
}

// authority returns the authorization server on a fake network.
func authority(w *wire, told *[]string) *Authority {
	meta := contract.ServerMetadata{
		Issuer:                      issuer,
		AuthorizationEndpoint:       issuer + "/oauth2/authorize",
		TokenEndpoint:               issuer + "/oauth2/token",
		RevocationEndpoint:          issuer + "/oauth2/revoke",
		DeviceAuthorizationEndpoint: issuer + "/oauth2/device_authorization",
	}
	return &Authority{
		meta:     meta,
		caller:   caller(w, told),
		client:   clientID,
		scopes:   scopes,
		resource: issuer,
	}
}

func said(status int, body string, headers ...string) *http.Response {
	return reply(status, body, append([]string{"Content-Type: application/json"}, headers...)...)
}

func grant() *http.Response {
	return said(200,
		fmt.Sprintf(`{"access_token":%q,"token_type":"bearer","expires_in":3600,"refresh_token":%q}`, access, refresh))
}

func no(status int, code string, headers ...string) *http.Response {
	return said(status, `{"error":"`+code+`","error_description":"no"}`, headers...)
}

func TestAuthorityIsTheDeploymentsOwn(t *testing.T) {
	for _, tt := range []struct {
		name, member, value string
		ok                  bool
	}{
		{"as it should be", "issuer", `"https://api.test"`, true},
		{"another issuer", "issuer", `"https://evil.test"`, false},
		{"another form of the issuer", "issuer", `"https://api.test/"`, false},
		{"codes to another host", "authorization_endpoint", `"https://evil.test/oauth2/authorize"`, false},
		{"tokens to another host", "token_endpoint", `"https://api.test.evil.test/oauth2/token"`, false},
		{"tokens without TLS", "token_endpoint", `"http://api.test/oauth2/token"`, false},
		{"revocations to another host", "revocation_endpoint", `"https://evil.test/x"`, false},
		{"devices to another host", "device_authorization_endpoint", `"https://evil.test/x"`, false},
		{"an endpoint with a query", "token_endpoint", `"https://api.test/oauth2/token?x=1"`, false},
		{"no endpoint", "authorization_endpoint", `""`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &wire{respond: in(reply(200, meta(tt.member, tt.value)))}
			d := &Deployment{Hosts: contract.Discovery{APIURL: issuer}, caller: caller(w, nil)}
			_, err := d.Authority(t.Context())
			if tt.ok && err != nil {
				t.Error(err)
			}
			if !tt.ok {
				wantFailure(t, err, failure.BadResponse, failure.Other)
			}
		})
	}
}

// TestAnswersToAnotherLogin tests the defence against mix-up: state and iss of a redirect are checked before the other
// parameters.
func TestAnswersToAnotherLogin(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(url.Values)
		code   fault.Code
		exit   failure.Exit
	}{
		{"no iss", func(q url.Values) { q.Del("iss") }, failure.Mismatch, failure.Auth},
		{"an empty iss", func(q url.Values) { q.Set("iss", "") }, failure.Mismatch, failure.Auth},
		{"a foreign iss", func(q url.Values) { q.Set("iss", "https://evil.test") }, failure.Mismatch, failure.Auth},
		{"an iss that begins alike", func(q url.Values) { q.Set("iss", issuer+"/") }, failure.Mismatch, failure.Auth},
		{"two iss", func(q url.Values) { q.Add("iss", issuer) }, failure.Mismatch, failure.Auth},
		{"a refusal of a foreign iss", func(q url.Values) { q.Set("iss", "x"); q.Set("error", "access_denied") },
			failure.Mismatch, failure.Auth},
		{"no state", func(q url.Values) { q.Del("state") }, failure.Mismatch, failure.Auth},
		{"another state", func(q url.Values) { q.Set("state", "x") }, failure.Mismatch, failure.Auth},
		{"two states", func(q url.Values) { q.Add("state", "x") }, failure.Mismatch, failure.Auth},
		{"no code", func(q url.Values) { q.Del("code") }, failure.Mismatch, failure.Auth},
		{"two codes", func(q url.Values) { q.Add("code", "x") }, failure.Mismatch, failure.Auth},
		{"nothing", func(q url.Values) { clear(q) }, failure.Mismatch, failure.Auth},
		{"an error that is none", func(q url.Values) { q.Set("error", "<b>") }, failure.Mismatch, failure.Auth},
		{"a person's no", func(q url.Values) { q.Set("error", "access_denied") }, "access_denied", failure.Declined},
		{"a refusal", func(q url.Values) { q.Set("error", "invalid_scope") }, "invalid_scope", failure.Auth},
		{"trouble", func(q url.Values) { q.Set("error", "server_error") }, "server_error", failure.Server},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &wire{respond: in(grant())}
			attempt := authority(w, nil).Begin("http://127.0.0.1:1/callback", rand.Text(), false)
			q := url.Values{"state": {attempt.state}, "iss": {issuer}, "code": {"c0de"}}
			tt.change(q)
			_, err := attempt.Finish(t.Context(), q)
			wantFailure(t, err, tt.code, tt.exit)
			if w.calls() != 0 {
				t.Error("the server was asked for a token")
			}
		})
	}
}

func TestFinish(t *testing.T) {
	var body string
	w := &wire{respond: func(r *http.Request) (*http.Response, error) {
		text, err := io.ReadAll(r.Body)
		body = string(text)
		return grant(), err
	}}
	attempt := authority(w, nil).Begin("http://127.0.0.1:1/callback", rand.Text(), false)
	tokens, err := attempt.Finish(t.Context(), url.Values{"state": {attempt.state}, "iss": {issuer}, "code": {"c0de"}})
	if err != nil || string(tokens.Access) != access || string(tokens.Refresh) != refresh {
		t.Fatalf("error %v", err)
	}
	form, _ := url.ParseQuery(body)
	if form.Get("code_verifier") != attempt.verifier || len(attempt.verifier) < 43 || form.Get("client_id") != "cli" {
		t.Errorf("form %s", body)
	}
	h := w.seen[0].Header
	if h.Get("X-Request-Id") != "cli_request" || h.Get("User-Agent") != "vitrine/test" || h.Get("Authorization") != "" {
		t.Errorf("headers %v", h)
	}
	if u := attempt.URL; strings.Contains(u, attempt.verifier) {
		t.Errorf("the verifier stands in %s", u)
	}
}

func TestTokenEndpointMisbehaves(t *testing.T) {
	long := `{"x":"` + strings.Repeat("x", maxToken) + `"}`
	for _, tt := range []struct {
		name   string
		answer *http.Response
		code   fault.Code
		exit   failure.Exit
	}{
		{"refuses", no(400, "invalid_grant"), "invalid_grant", failure.Auth},
		{"refuses in a success", no(200, "invalid_grant"), "invalid_grant", failure.Auth},
		{"refuses without a reason", said(400, `{}`), failure.HTTP, failure.Invalid},
		{"refuses in the envelope", said(429, `{"error":{"code":"rate_limited_actor","message":"s3cret?"}}`),
			"rate_limited_actor", failure.Quota},
		{"is too busy", no(429, "slow_down", "Retry-After: 5"), "slow_down", failure.Quota},
		{"has trouble", no(503, "server_error"), "server_error", failure.Server},
		{"is a portal", reply(200, "<html>s3cret", "Content-Type: text/html"), failure.BadResponse, failure.Other},
		{"redirects", reply(302, "", "Location: https://evil.test/?code=s3cret"), failure.HTTP, failure.Other},
		{"gives no token", said(200, `{}`), failure.BadResponse, failure.Other},
		{"gives another kind", said(200, `{"access_token":"`+refresh+`","token_type":"Bearer"}`), failure.BadResponse,
			failure.Other},
		{"gives another refresh token",
			said(200, `{"access_token":"`+access+`","token_type":"Bearer","refresh_token":"s3cret"}`), failure.BadResponse,
			failure.Other},
		{"gives a token of proof", said(200, `{"access_token":"`+access+`","token_type":"DPoP"}`), failure.BadResponse,
			failure.Other},
		{"never ends", said(200, long), failure.Network, failure.Server},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &wire{respond: in(tt.answer)}
			attempt := authority(w, nil).Begin("http://127.0.0.1:1/callback", rand.Text(), false)
			_, err := attempt.Finish(t.Context(), url.Values{"state": {attempt.state}, "iss": {issuer}, "code": {"c0de"}})
			f := wantFailure(t, err, tt.code, tt.exit)
			if tt.name != "refuses in the envelope" && strings.Contains(f.Message+f.Hint, "s3cret") {
				t.Errorf("failure %+v", f)
			}
			if w.calls() != 1 {
				t.Errorf("the code was shown %d times", w.calls())
			}
		})
	}
}

func TestRefreshAsksAgainAtOnce(t *testing.T) {
	hang := func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() }
	for _, tt := range []struct {
		name    string
		respond func(*http.Request) (*http.Response, error)
		calls   int
		most    time.Duration
		code    fault.Code
		exit    failure.Exit
	}{
		{"a success", in(grant()), 1, 0, "", 0},
		{"a lost answer", in(no(503, "server_error"), grant()), 2, 0, "", 0},
		{"a server that hangs", hang, 2, 8 * time.Second, failure.Network, failure.Server}, // within the grace period of 10 s
		{"a refusal", in(no(400, "invalid_grant")), 1, 0, "invalid_grant", failure.Auth},
		{"a limit", in(no(429, "slow_down", "Retry-After: 1")), 1, 0, "slow_down", failure.Quota},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &wire{respond: tt.respond}
				start := time.Now()
				tokens, err := authority(w, nil).Refresh(t.Context(), refresh)
				if tt.code != "" {
					wantFailure(t, err, tt.code, tt.exit)
				} else if err != nil || string(tokens.Access) != access {
					t.Errorf("error %v", err)
				}
				if took := time.Since(start); w.calls() != tt.calls || took > tt.most {
					t.Errorf("%d calls in %v", w.calls(), took)
				}
			})
		})
	}
}

func TestRevoke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{respond: in(no(503, "server_error"), refuse(502, "bad_gateway"), reply(200, ""))}
		if err := authority(w, nil).Revoke(t.Context(), refresh); err != nil || w.calls() != 3 {
			t.Errorf("error %v after %d calls", err, w.calls())
		}
		w = &wire{respond: in(no(400, "invalid_request"))}
		wantFailure(t, authority(w, nil).Revoke(t.Context(), refresh), "invalid_request", failure.Auth)
	})
}
