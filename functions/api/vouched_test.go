package api

import (
	"context"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/entry/agentauth"
	"vitrine/shared/identity/provider"
	"vitrine/shared/platform/fault"
)

// said is what a fake provider's tokens say, by token; an unknown one is forged.
type said map[string]any

func (s said) Trusts(string) bool { return true }

func (s said) Assertion(_ context.Context, token string) (provider.Identity, error) {
	switch v := s[token].(type) {
	case provider.Identity:
		return v, nil
	case error:
		return provider.Identity{}, v
	}
	return provider.Identity{}, fault.NewOAuth(fault.OAuthInvalidSignature, "forged")
}

func (s said) Event(_ context.Context, token string) (provider.Event, error) {
	if e, known := s[token].(provider.Event); known {
		return e, nil
	}
	return provider.Event{}, fault.NewOAuth(fault.OAuthInvalidKey, "no such key")
}

// withProviders is a host where a provider is trusted.
func withProviders(t *testing.T, tokens said) *authority {
	a := withAgents(t)
	a.host.Features.Providers = true
	a.host.Agents.(*agentauth.Service).Providers = tokens
	return a
}

func who(subject, jti string) provider.Identity {
	return provider.Identity{
		Issuer:    "https://agents.example",
		Name:      "Agents Inc",
		Subject:   subject,
		Audience:  "https://api.example.com",
		ID:        jti,
		Email:     "ada@example.org",
		Expires:   time.Now().Add(time.Minute),
		Provision: true,
	}
}

func (a *authority) vouch(t *testing.T, token string) reply {
	t.Helper()
	body := `{"type":"identity_assertion","assertion_type":"urn:ietf:params:oauth:token-type:id-jag","assertion":"` + token + `"}`
	return a.send(t, "POST", "/agent/identity", body, "Content-Type", asJSON)
}

func TestAnAssertionIsAnsweredOverHTTP(t *testing.T) {
	old := fault.NewOAuth(fault.OAuthLoginRequired, "the person signed in too long ago")
	old.MaxAge = time.Hour
	a := withProviders(t, said{"first.of.ada": who("ada", "1"), "second.of.ada": who("other", "2"), "old.of.ada": old})
	r := a.vouch(t, "first.of.ada")
	got := r.json(t)
	if r.StatusCode != 200 || r.Header.Get("Cache-Control") != "no-store" || len(got) != 5 ||
		got["registration_type"] != "identity_assertion" {
		t.Error(r.Status, r.Header, r.body)
	}
	r = a.vouch(t, "first.of.ada")
	if r.StatusCode != 400 || r.json(t)["error"] != "replay_detected" {
		t.Error("T15:", r.Status, r.body)
	}
	r = a.vouch(t, "second.of.ada")
	got = r.json(t)
	prompt, _ := got["claim"].(map[string]any)
	if r.StatusCode != 401 || r.Header.Get("Cache-Control") != "no-store" ||
		!strings.HasPrefix(r.Header.Get("WWW-Authenticate"), `AgentAuth error="interaction_required", error_description="`) ||
		got["error"] != "interaction_required" || len(prompt["user_code"].(string)) != 6 || prompt["interval"] != 5.0 {
		t.Error(r.Status, r.Header, r.body)
	}
	for _, name := range []string{
		"registration_id", "registration_type", "claim_url", "claim_token", "claim_token_expires", "post_claim_scopes",
	} {
		if got[name] == nil {
			t.Errorf("no %s in %s", name, r.body)
		}
	}
	r = a.send(t, "POST", "/agent/identity/claim", `{"claim_token":"`+got["claim_token"].(string)+`"}`, "Content-Type", asJSON)
	again := r.json(t)
	prompt, _ = again["claim"].(map[string]any)
	if r.StatusCode != 200 || len(again) != 3 || len(prompt) != 3 || prompt["user_code"] != nil {
		t.Error(r.Status, r.body)
	}
	r = a.vouch(t, "old.of.ada")
	if r.StatusCode != 401 || r.Header.Get("WWW-Authenticate") != `AgentAuth error="login_required", max_age="3600"` ||
		r.json(t)["max_age"] != 3600.0 {
		t.Error(r.Status, r.Header, r.body)
	}
	if r = a.vouch(t, "forged"); r.StatusCode != 400 || r.json(t)["error"] != "invalid_signature" {
		t.Error(r.Status, r.body)
	}
	expect.Lacks(t, "the log", a.log.String(),
		"first.of.ada", "second.of.ada", "ada@example.org", got["claim_token"].(string))
}

func TestSecurityEventsAreAnsweredAsRFC8935Says(t *testing.T) {
	end := provider.Event{
		Issuer:   "https://agents.example",
		Subject:  "ada",
		Audience: "https://api.example.com",
		ID:       "1",
		Digest:   [32]byte{1},
		Revoked:  true,
		Expires:  time.Now().Add(time.Minute),
	}
	other := end
	other.Digest = [32]byte{2}
	a := withProviders(t, said{"a.b.c": end, "d.e.f": other})
	const kind = "application/secevent+jwt"
	for _, c := range []struct {
		token, kind string
		status      int
		err         any
	}{
		{"a.b.c", kind, 202, nil},
		{"a.b.c", "application/jwt", 202, nil},
		{"a.b.c", "", 202, nil},
		{"d.e.f", kind, 400, "replay_detected"},
		{"x.y.z", kind, 400, "invalid_key"},
		{"a.b.c", "text/plain", 400, "invalid_request"},
		{strings.Repeat("x", 70<<10), kind, 400, "invalid_request"},
	} {
		r := a.send(t, "POST", "/agent/event/notify", c.token, "Content-Type", c.kind)
		if r.StatusCode != c.status || r.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%.9s as %q: %s %s", c.token, c.kind, r.Status, r.body)
			continue
		}
		if c.err == nil {
			if r.body != "" {
				t.Errorf("a success says %q", r.body)
			}
			continue
		}
		if m := r.json(t); len(m) != 2 || m["err"] != c.err || m["description"] == "" {
			t.Errorf("%.9s as %q: %s", c.token, c.kind, r.body)
		}
	}
}

func TestMetadataNamesProvidersWhereSomeAreTrusted(t *testing.T) {
	for trusted, types := range map[bool]int{true: 2, false: 1} {
		a := withAgents(t)
		a.host.Features.Providers = trusted
		auth := a.send(t, "GET", "/.well-known/oauth-authorization-server", "").json(t)["agent_auth"].(map[string]any)
		if len(auth["identity_types_supported"].([]any)) != types {
			t.Error(auth)
		}
		for _, name := range []string{"events_endpoint", "events_supported", "identity_assertion"} {
			if (auth[name] != nil) != trusted {
				t.Errorf("%s is %v where providers are trusted: %v", name, auth[name], trusted)
			}
		}
		guide := a.send(t, "GET", "/auth.md", "").body
		if strings.Contains(guide, "`anonymous`, `identity_assertion`") != trusted || len(guide) > 8<<10 {
			t.Error(len(guide), guide)
		}
	}
}
