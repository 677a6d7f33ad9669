package oauth

import (
	"net/url"
	"slices"
	"strings"
	"testing"
)

var registered = []string{
	"https://chatgpt.com/connector_platform_oauth_redirect", "https://claude.ai/api/mcp/auth_callback",
	"claude-desktop://oauth/callback", "cursor://oauth/callback", "http://127.0.0.1/callback",
	"http://[::1]:80/callback?x=1", "http://localhost:9999/",
}

func TestT32OnlyARegisteredRedirectIsAnswered(t *testing.T) {
	for _, good := range append([]string{
		"http://127.0.0.1:1/callback", "http://127.0.0.1:65535/callback", "http://[::1]:4711/callback?x=1",
		"http://[::1]/callback?x=1", "http://localhost/",
	}, registered...) {
		if !redirects(registered, good) {
			t.Errorf("refused: %s", good)
		}
	}
	for name, bad := range map[string]string{
		"nothing":                    "",
		"unknown":                    "https://evil.example/cb",
		"prefix":                     "https://claude.ai/api/mcp/auth_callback_evil",
		"extra path":                 "https://claude.ai/api/mcp/auth_callback/x",
		"dot segments":               "https://claude.ai/api/mcp/auth_callback/../x",
		"other port on https":        "https://claude.ai:444/api/mcp/auth_callback",
		"http for https":             "http://claude.ai/api/mcp/auth_callback",
		"user information":           "https://claude.ai@evil.example/api/mcp/auth_callback",
		"user on loopback":           "http://127.0.0.1:80@evil.example/callback",
		"password on loopback":       "http://x:y@127.0.0.1/callback",
		"fragment":                   "https://claude.ai/api/mcp/auth_callback#x",
		"empty fragment":             "http://127.0.0.1/callback#",
		"script":                     "javascript:alert(1)",
		"script with slashes":        "javascript://127.0.0.1/callback",
		"data":                       "data:text/html,x",
		"letter case":                "HTTPS://claude.ai/api/mcp/auth_callback",
		"host in another case":       "http://LOCALHOST/",
		"loopback name as prefix":    "http://localhost.evil.example/",
		"loopback address as prefix": "http://127.0.0.1.evil.example/callback",
		"other loopback name":        "http://localhost/callback",
		"other loopback path":        "http://127.0.0.1:80/other",
		"other query":                "http://127.0.0.1/callback?x=1",
		"port 0":                     "http://127.0.0.1:0/callback",
		"port too large":             "http://127.0.0.1:65536/callback",
		"port without digits":        "http://127.0.0.1:/callback",
		"backslash":                  `http://127.0.0.1\@evil.example/callback`,
		"line end":                   "http://127.0.0.1/callback\n",
		"header":                     "http://127.0.0.1/callback\r\nSet-Cookie: x=1",
		"space":                      " http://127.0.0.1/callback",
		"not ASCII":                  "https://claude.ai/api/mcp/auth_callbac\u212a",
		"https to loopback":          "https://127.0.0.1/callback",
		"too long":                   "http://127.0.0.1/callback?" + strings.Repeat("x", 2048),
	} {
		if redirects(registered, bad) {
			t.Errorf("%s: answered at %q", name, bad)
		}
	}
}

func TestOnlySafeRedirectsAreRegistered(t *testing.T) {
	for _, good := range append([]string{
		"com.example.app://oauth", "com.example.app-2:///cb", "vscode://x/y", "vscode-insiders://x/y", "zed://cb",
		"https://example.com", "https://example.com:8443/cb?a=b",
	}, registered...) {
		if !registrable(good) {
			t.Errorf("refused: %s", good)
		}
	}
	for _, bad := range []string{
		"", "javascript:alert(1)", "javascript://x/%0aalert(1)", "data://x", "file:///etc/passwd", "vbscript://x",
		"http://example.com/cb", "http://127.0.0.1.evil.example/", "http://127.0.0.2/cb", "http://0.0.0.0/cb",
		"https://user@example.com/", "https://user:pw@example.com/", "https:///cb", "https://:443/cb",
		"https://example.com:/cb", "https://example.com/#x", "https://example.com/ x", "https:example.com",
		"//example.com/cb", "/cb", "app:/cb", "ap://x", "App://x", "1app://x", "https://ex\u00e4mple.com/cb",
		"https://example.com/\\evil", "https://example.com/<script>", "http://127.0.0.1:99999/cb",
		"com.example.app://user@host/cb", "ftp://x/y", "myapp://cb", "smb://evil/share", "ldap://x", "ssh://x",
		"ms-msdt://x", "search-ms://x", "itms-services://?action=x", "chrome://x", "slack://x", "zed.://x", "com..app://x",
	} {
		if registrable(bad) {
			t.Errorf("registered: %q", bad)
		}
	}
}

func TestAuthorizationsAreReadAsTheyWereWritten(t *testing.T) {
	for _, query := range []string{
		"client_id=a&redirect_uri=https%3A%2F%2Fx%2F%3Fa%3Db&state=%26%00%C3%A9", "scope=a&scope=b", "state=&state=x",
		"client_id=a&state=x&state=y&resource=1&resource=2", "client_id=a&prompt=login", "",
	} {
		a := ParseAuthorization(query)
		if again := ParseAuthorization(a.query()); again != a {
			t.Errorf("%s: %+v, not %+v", query, again, a)
		}
	}
}

func FuzzRedirect(f *testing.F) {
	for _, r := range registered {
		f.Add(r)
	}
	f.Add("http://127.0.0.1:4711/callback")
	f.Add("http://127.0.0.1:80@evil.example/callback")
	f.Fuzz(func(t *testing.T, asked string) {
		if registrable(asked) {
			if u, err := url.Parse(asked); err != nil || u.User != nil || u.Fragment != "" || strings.Contains(asked, "#") ||
				u.Scheme == "javascript" || u.Scheme == "data" {
				t.Fatalf("%q can be registered", asked)
			}
			if !redirects([]string{asked}, asked) {
				t.Fatalf("%q can be registered and is never answered", asked)
			}
		}
		if !redirects(registered, asked) {
			return
		}
		u, err := url.Parse(asked)
		if err != nil || u.User != nil || u.Fragment != "" || u.Opaque != "" || strings.ContainsAny(asked, "#\\\r\n\t ") {
			t.Fatalf("answered at %q", asked)
		}
		if !slices.ContainsFunc(registered, func(r string) bool { return sameButPort(t, r, u) }) {
			t.Fatalf("answered at %q, which differs from all that are registered", asked)
		}
		to, err := url.Parse(answerTo(asked, url.Values{"code": {"c&d"}, "state": {"a b#c"}}))
		if err != nil || to.Host != u.Host || to.Path != u.Path || to.Query().Get("code") != "c&d" ||
			to.Query().Get("state") != "a b#c" {
			t.Fatalf("the answer to %q goes to %s", asked, to)
		}
	})
}

// sameButPort compares the parsed URIs, so that it does not repeat the matcher.
func sameButPort(t *testing.T, registered string, u *url.URL) bool {
	r, err := url.Parse(registered)
	if err != nil {
		t.Fatal(err)
	}
	samePort := r.Port() == u.Port() || r.Scheme == "http"
	return r.Scheme == u.Scheme && r.Hostname() == u.Hostname() && samePort && r.Path == u.Path && r.RawQuery == u.RawQuery
}

func FuzzUserCode(f *testing.F) {
	f.Add(formatUserCode(newUserCode()))
	f.Add("bcdf ghjk")
	f.Add("BCDF-GHJA")
	f.Fuzz(func(t *testing.T, text string) {
		code := parseUserCode(text)
		if code == "" {
			return
		}
		if len(code) != userCodeLen || strings.Trim(code, userLetters) != "" {
			t.Fatalf("%q is read as %q", text, code)
		}
		if parseUserCode(formatUserCode(code)) != code || parseUserCode(strings.ToLower(code)) != code {
			t.Fatalf("%q is read in one spelling only", code)
		}
	})
}

func TestUserCodesUseTheWholeAlphabetAndNothingElse(t *testing.T) {
	seen := map[rune]int{}
	for range 500 {
		code := newUserCode()
		if shown := formatUserCode(code); len(shown) != 9 || parseUserCode(shown) != code {
			t.Fatal(shown)
		}
		for _, r := range code {
			seen[r]++
		}
	}
	for _, r := range userLetters {
		if n := seen[r]; n < 100 || n > 320 {
			t.Errorf("%c came %d times of 4000", r, n)
		}
	}
	if len(seen) != len(userLetters) {
		t.Errorf("%d letters", len(seen))
	}
	for _, bad := range []string{
		"", "BCDF", "BCDF-GHJ", "BCDF-GHJKB", "0CDF-GHJK", "ACDF-GHJK", "BCDF-GHJK-LMNP-QRST-VWXZ",
	} {
		if parseUserCode(bad) != "" {
			t.Errorf("%q is read", bad)
		}
	}
}

func TestResourcesAreComparedAsOrigins(t *testing.T) {
	const host = "https://mcp.example.com"
	for _, same := range []string{"", host, host + "/", "HTTPS://MCP.example.COM", "https://mcp.example.com:443/"} {
		if checkResource(host, same) != nil {
			t.Errorf("refused: %q", same)
		}
	}
	for _, other := range []string{
		"https://mcp.example.com.evil.example", "https://mcp.example.com/x", "http://mcp.example.com",
		"https://mcp.example.com:444", "https://u@mcp.example.com", "https://mcp.example.com?",
		"https://mcp.example.com/?x", "https://mcp.example.com#", "mcp.example.com", "https://mcp.example.com//",
	} {
		if checkResource(host, other) == nil {
			t.Errorf("accepted: %q", other)
		}
	}
}
