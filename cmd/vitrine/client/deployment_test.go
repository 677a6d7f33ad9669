package client

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/contract"
)

// discoveryOf returns a document with these api_url and upload_url.
func discoveryOf(api, upload string) string {
	return strings.Replace(discovery(api), "https://up.test", upload, 1)
}

// discovery returns a document with this api_url.
func discovery(api string) string {
	return fmt.Sprintf(
		`{"api_url":%q,"upload_url":"https://up.test","content_url":"https://c.test",`+
			`"app_url":"https://app.test/","mcp_url":"https://mcp.test","version":"0.1.0"}`,
		api)
}

func TestDiscoverTakesSafeHostsOnly(t *testing.T) {
	for _, tt := range []struct {
		name, base, api string
		ok              bool
	}{
		{"the same origin", "https://v.test", "https://v.test", true},
		{"another host of the deployment", "https://v.test/", "https://api.v.test", true},
		{"a host with a path", "https://v.test", "https://gw.test/stage", true},
		{"plain HTTP throughout", "http://localhost:8701", "http://localhost:8701", true},
		{"a step up to HTTPS", "http://localhost:8701", "https://v.test", true},
		{"a step down to HTTP", "https://v.test", "http://v.test", false},
		{"another scheme", "https://v.test", "ftp://v.test", false},
		{"no host", "https://v.test", "http:///x", false},
		{"a user", "https://v.test", "https://user@v.test", false},
		{"a query", "https://v.test", "https://v.test/?x=1", false},
		{"a fragment", "https://v.test", "https://v.test/#x", false},
		{"a relative URL", "https://v.test", "/v1", false},
		{"nothing", "https://v.test", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &wire{respond: in(reply(200, discovery(tt.api)))}
			d, err := caller(w, nil).Discover(t.Context(), tt.base)
			if !tt.ok {
				wantFailure(t, err, failure.BadResponse, failure.Other)
				return
			}
			if err != nil || d.Hosts.APIURL != tt.api || d.Hosts.AppURL != "https://app.test" {
				t.Fatalf("hosts %+v, error %v", d, err)
			}
			if got, want := w.seen[0].URL.String(), strings.TrimRight(tt.base, "/")+"/.well-known/vitrine"; got != want {
				t.Errorf("asked %s, want %s", got, want)
			}
		})
	}
}

// TestNothingIsSentInPlainHTTPToAnotherMachine tries all kinds of hosts, also those that the server names.
func TestNothingIsSentInPlainHTTPToAnotherMachine(t *testing.T) {
	for host, loopback := range map[string]bool{
		"localhost":          true,
		"LOCALHOST":          true,
		"127.0.0.1":          true,
		"127.1.2.3":          true,
		"[::1]":              true,
		"[::ffff:127.0.0.1]": true,
		"vm":                 false,
		"v.test":             false,
		"10.0.0.1":           false,
		"0.0.0.0":            false,
		"[fe80::1]":          false,
		"localhost.v.test":   false,
		"127.0.0.1.v.test":   false,
		"127.1":              false,
		"app.localhost":      false,
		"localhost.":         false,
	} {
		plain, local := "http://"+host+":8701", "http://localhost:8701"
		for name, send := range map[string]func(c *Caller, d *Deployment) error{
			"VITRINE_URL": func(c *Caller, _ *Deployment) error {
				_, err := c.Discover(t.Context(), plain)
				return err
			},
			"the api host": func(c *Caller, _ *Deployment) error {
				c.HTTP.Transport = &wire{respond: in(reply(200, discoveryOf(plain, local)))}
				_, err := c.Discover(t.Context(), local)
				return err
			},
			"the upload host": func(c *Caller, _ *Deployment) error {
				c.HTTP.Transport = &wire{respond: in(reply(200, discoveryOf(local, plain)))}
				_, err := c.Discover(t.Context(), local)
				return err
			},
			"a call": func(c *Caller, _ *Deployment) error {
				return c.do(t.Context(), call{method: http.MethodGet, host: plain, bearer: "key"}, &struct{}{})
			},
			"an upload": func(_ *Caller, d *Deployment) error {
				target := contract.UploadTarget{Status: "upload_required", Path: "f", PutURL: plain + "/o?sig=1"}
				_, err := d.With(Key{"secret"}).Plan(contract.Session{Files: []contract.UploadTarget{target}},
					[]File{textFile("f", "x")})
				return err
			},
			"a download": func(_ *Caller, d *Deployment) error {
				_, err := d.Fetch(t.Context(), contract.AgentViewFile{Path: "f", SizeBytes: 2, URL: plain + "/v/token/f"}, 9)
				return err
			},
			"a token": func(c *Caller, _ *Deployment) error {
				_, err := transport{c, t.Context()}.RoundTrip(httptest.NewRequest(http.MethodPost, plain+"/oauth2/token", nil))
				return err
			},
		} {
			w := &wire{respond: in(reply(200, "{}"))}
			c := caller(w, nil)
			d := &Deployment{Hosts: contract.Discovery{APIURL: local, UploadURL: local, ContentURL: local}, caller: c}
			err := send(c, d)
			if refused := failure.IsCode(err, failure.Unencrypted); refused == loopback {
				t.Errorf("%s, %s: error %v", host, name, err)
			}
			if !loopback && w.calls() > 0 {
				t.Errorf("%s, %s: it was asked", host, name)
			}
			if f := failure.Of(err); !loopback && (f.Exit != failure.Invalid || !strings.Contains(f.Hint, "https") ||
				!strings.Contains(f.Hint, "--insecure-http")) {
				t.Errorf("%s, %s: %+v", host, name, f)
			}
			c.PlainHTTP = true
			if err := send(c, d); failure.IsCode(err, failure.Unencrypted) {
				t.Errorf("%s, %s, allowed: %v", host, name, err)
			}
		}
	}
}

func TestDiscoverTakesADeploymentWithoutAnMCPHost(t *testing.T) {
	const named = `"mcp_url":"https://mcp.test",`
	for is, ok := range map[string]bool{
		"": true, named: true, `"mcp_url":"",`: true, `"mcp_url":"mcp.test",`: false, `"mcp_url":"http://mcp.test",`: false,
	} {
		w := &wire{respond: in(reply(200, strings.Replace(discovery("https://v.test"), named, is, 1)))}
		d, err := caller(w, nil).Discover(t.Context(), "https://v.test")
		if !ok {
			wantFailure(t, err, failure.BadResponse, failure.Other)
		} else if err != nil || d.Hosts.APIURL != "https://v.test" {
			t.Errorf("%s: %+v %v", is, d, err)
		}
	}
}

func TestDiscoverRefusesAnAddressThatIsNone(t *testing.T) {
	for _, base := range []string{
		"", "localhost:8701", "ftp://v.test", "http://", "https://me:secret@v.test", "http://v.test?x",
		"http://v.test/#f", "http://v.test\x7f",
	} {
		w := &wire{respond: in(reply(200, discovery("http://v.test")))}
		_, err := caller(w, nil).Discover(t.Context(), base)
		wantFailure(t, err, failure.Usage, failure.Invalid)
		if w.calls() != 0 {
			t.Errorf("%q was asked", base)
		}
	}
}

func TestParseKey(t *testing.T) {
	const pid, tail = "0123456789ABCDEF", "abcdefghijklmnopqrstuvwxyz_-0123"
	for text, ok := range map[string]bool{
		"ap_pk_preview_" + pid + "_" + tail:        true,
		"ap_pk_production_" + pid + "_" + tail:     true,
		"ap_pk_live_" + pid + "_" + tail:           true,
		"ap_at_preview_" + pid + "_" + tail:        false,
		"ap_pk_test_" + pid + "_" + tail:           false,
		"ap_pk_preview_" + pid[1:] + "_" + tail:    false,
		"ap_pk_preview_IIIIIIIIIIIIIIII_" + tail:   false,
		"ap_pk_preview_" + pid + "_" + tail[1:]:    false,
		"ap_pk_preview_" + pid + "_" + tail + "!":  false,
		"ap_pk_preview_" + pid + "_" + tail + "\n": false,
		" ap_pk_preview_" + pid + "_" + tail:       false,
		"":                                         false,
	} {
		key, err := ParseKey(text)
		if (err == nil) != ok {
			t.Errorf("ParseKey(%q): error %v", text, err)
		}
		if err != nil && text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("the refusal of %q repeats it", text)
		}
		if printed := fmt.Sprintf("%v %+v %#v %s", key, key, key, key); strings.Contains(printed, pid) {
			t.Errorf("a key prints as %s", printed)
		}
	}
}

func TestAProxyThatDoesNotConnectIsToldAsThat(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
	}))
	defer proxy.Close()
	u, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := caller(nil, nil)
	c.HTTP, c.Patience = NewHTTP(), RetryPolicy{MaxAttempts: 1}
	c.HTTP.Transport.(*http.Transport).Proxy = http.ProxyURL(u)
	_, err = c.Discover(t.Context(), "https://vitrine.test")
	f := wantFailure(t, err, failure.Network, failure.Server)
	if f.Message != "no response from https://vitrine.test: the proxy answers 403 Forbidden" {
		t.Error(f.Message)
	}
}
