package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"vitrine/shared/identity/provider"
	"vitrine/shared/platform/contract"
)

// agentsProvider is an identity provider of agents that the api trusts.
type agentsProvider struct {
	issuer string
	key    *ecdsa.PrivateKey
}

func newAgentsProvider(t *testing.T) *agentsProvider {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{
			Key:       &key.PublicKey,
			KeyID:     "one",
			Algorithm: "ES256",
			Use:       "sig",
		}}})
	}))
	t.Cleanup(server.Close)
	return &agentsProvider{issuer: server.URL, key: key}
}

// entry is the provider in a trust list.
func (p *agentsProvider) entry() provider.Provider {
	return provider.Provider{
		Issuer:     p.issuer,
		Name:       "Agents",
		ClientIDs:  []string{"agent"},
		JWKS:       p.issuer + "/jwks",
		Algorithms: []string{"ES256"},
		Provision:  true,
		MaxAuthAge: time.Hour,
	}
}

func (p *agentsProvider) sign(t *testing.T, kind string, claims map[string]any) string {
	t.Helper()
	now := time.Now()
	claims["iss"] = p.issuer
	claims["jti"] = rand.Text()
	claims["iat"] = now.Unix()
	claims["exp"] = now.Add(5 * time.Minute).Unix()
	signer, err := jose.NewSigner(jose.SigningKey{
		Algorithm: jose.ES256,
		Key:       jose.JSONWebKey{Key: p.key, KeyID: "one"},
	}, (&jose.SignerOptions{}).WithType(jose.ContentType(kind)))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := json.Marshal(claims)
	signed, err := signer.Sign(body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// vouch registers an agent for a person who is no member.
func (h *harness) vouch(t *testing.T, subject, email string) {
	t.Helper()
	a := ask[contract.RegisteredAgent](t, h.anyone, "POST", "/agent/identity", contract.RegisterAgent{
		Type:          contract.AssertionIdentity,
		AssertionType: contract.TypeIDJAG,
		Assertion: h.vouches.sign(t, contract.AssertionType, map[string]any{
			"aud":            h.anyone.At.APIURL,
			"sub":            subject,
			"client_id":      "agent",
			"email":          email,
			"email_verified": true,
			"auth_time":      time.Now().Unix(),
		}),
	})
	token(t, h.anyone, map[string]string{"grant_type": contract.GrantJWTBearer, "assertion": a.IdentityAssertion})
}

// vouched covers what a provider sends: for a new person, for a known one, and that it ends.
func (h *harness) vouched(t *testing.T) {
	t.Helper()
	h.vouch(t, "linus", "linus@example.org")
	h.vouch(t, "linus", "linus@example.org")
	ask[any](t, h.anyone, "POST", "/agent/event/notify", h.vouches.sign(t, contract.EventType, map[string]any{
		"aud":    h.anyone.At.APIURL,
		"sub":    "linus",
		"events": map[string]any{contract.EventRevoked: map[string]any{}},
	}), "Content-Type", "application/secevent+jwt")
	h.vouch(t, "alan", "alan@example.org")
	h.keepsAgents(t)
}

// keepsAgents signs in a person whose address agents have used; the person keeps them and ends them later.
func (h *harness) keepsAgents(t *testing.T) {
	t.Helper()
	b := &browser{
		t:       t,
		app:     h.anyone.At.AppURL,
		who:     "alan@example.org",
		cookies: map[string]string{},
	}
	b.visit("/api/auth/sign-in")
	box := regexp.MustCompile(`keep-[A-Za-z0-9_-]{43}`).FindString(b.page)
	b.submit("/agent-auth/keep", map[string]string{box: "yes"})
	b.visit("/connections")
	unlink := regexp.MustCompile(`/connections/providers/[^"/]+/unlink`).FindString(b.page)
	b.visit(unlink)
	b.submit(unlink, nil)
}
