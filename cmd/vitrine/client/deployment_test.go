package client

import (
	"fmt"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/failure"
)

// discovery is a document whose api_url is given.
func discovery(api string) string {
	return fmt.Sprintf(`{"api_url":%q,"upload_url":"https://up.test","content_url":"https://c.test","app_url":"https://app.test/","mcp_url":"https://mcp.test","version":"0.1.0"}`, api)
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
		{"another scheme", "http://v.test", "ftp://v.test", false},
		{"no host", "http://v.test", "http:///x", false},
		{"a user", "http://v.test", "http://user@v.test", false},
		{"a query", "http://v.test", "http://v.test/?x=1", false},
		{"a fragment", "http://v.test", "http://v.test/#x", false},
		{"a relative URL", "http://v.test", "/v1", false},
		{"nothing", "http://v.test", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := &wire{respond: in(reply(200, discovery(tt.api)))}
			d, err := caller(w, nil).Discover(t.Context(), tt.base)
			if !tt.ok {
				demand(t, err, failure.BadResponse, failure.Other)
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

func TestDiscoverTakesADeploymentWithoutAnMCPHost(t *testing.T) {
	const named = `"mcp_url":"https://mcp.test",`
	for is, ok := range map[string]bool{
		"": true, named: true, `"mcp_url":"",`: true, `"mcp_url":"mcp.test",`: false, `"mcp_url":"http://mcp.test",`: false,
	} {
		w := &wire{respond: in(reply(200, strings.Replace(discovery("https://v.test"), named, is, 1)))}
		d, err := caller(w, nil).Discover(t.Context(), "https://v.test")
		if !ok {
			demand(t, err, failure.BadResponse, failure.Other)
		} else if err != nil || d.Hosts.APIURL != "https://v.test" {
			t.Errorf("%s: %+v %v", is, d, err)
		}
	}
}

func TestDiscoverRefusesAnAddressThatIsNone(t *testing.T) {
	for _, base := range []string{"", "localhost:8701", "ftp://v.test", "http://", "https://me:secret@v.test", "http://v.test?x", "http://v.test/#f", "http://v.test\x7f"} {
		w := &wire{respond: in(reply(200, discovery("http://v.test")))}
		_, err := caller(w, nil).Discover(t.Context(), base)
		demand(t, err, failure.Usage, failure.Invalid)
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
