package harness

import (
	"net/http"
	"net/url"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// NewAgentAuthEnv starts a deployment in which any number of agents may register.
func NewAgentAuthEnv(t testing.TB, change ...func(*stack.Options)) *BackendEnv {
	t.Helper()
	plenty := func(o *stack.Options) { o.Limits.Pow, o.Limits.ProvisionAddress.Limit = limits.PowOff, 100 }
	return NewBackendEnv(t, append([]func(*stack.Options){plenty}, change...)...)
}

// PostForm sends a form to the api host and unpacks the JSON that it answers.
func (env *Env) PostForm(t testing.TB, path string, values url.Values, out any) wire.Answer {
	t.Helper()
	a := Do(t, env.Anyone, "POST", env.Origins.API+path, values.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	if out != nil {
		Decode(t, a, out)
	}
	return a
}

// Token asks the token endpoint for a token, which it has to give.
func (env *Env) Token(t testing.TB, values url.Values) (out contract.Token) {
	t.Helper()
	if a := env.PostForm(t, "/oauth2/token", values, &out); a.Status != http.StatusOK || out.TokenType != "Bearer" {
		t.Fatalf("the token endpoint answers %d %s", a.Status, a.Body)
	}
	return out
}

// OAuthError returns the code with which the token endpoint refuses.
func (env *Env) OAuthError(t testing.TB, values url.Values) string {
	t.Helper()
	var e contract.OAuthError
	if a := env.PostForm(t, "/oauth2/token", values, &e); a.Status != http.StatusBadRequest {
		t.Errorf("the token endpoint answers %d %s", a.Status, a.Body)
	}
	return e.Error
}

// WithBearer returns a client that sends this credential.
func (env *Env) WithBearer(bearer string) *wire.Agent {
	return &wire.Agent{HTTP: env.Anyone.HTTP, At: env.Anyone.At, Key: bearer}
}

// StatusFor returns the status with which a route of the api host answers a credential.
func (env *Env) StatusFor(t testing.TB, bearer, path string) int {
	t.Helper()
	return Do(t, env.WithBearer(bearer), "GET", env.Origins.API+path, nil).Status
}

// RegisterAgent registers an agent.
func (env *Env) RegisterAgent(t testing.TB) contract.RegisteredAgent {
	t.Helper()
	return ask[contract.RegisteredAgent](t, env, env.Origins.API+"/agent/identity", map[string]string{"type": "anonymous"})
}

// StartClaim starts a claim of a registration, which gives the code that a person types.
func (env *Env) StartClaim(t testing.TB, r contract.RegisteredAgent) contract.StartedClaim {
	t.Helper()
	return ask[contract.StartedClaim](t, env, r.ClaimURL, contract.StartClaim{ClaimToken: r.ClaimToken})
}

// ask sends JSON without a credential and unpacks the answer, which has to be a success.
func ask[T any](t testing.TB, d *Env, target string, body any) (out T) {
	t.Helper()
	a := Do(t, d.Anyone, "POST", target, body)
	if Decode(t, a, &out); a.Status != http.StatusOK {
		t.Fatalf("%s answers %d %s", target, a.Status, a.Body)
	}
	return out
}

// ClaimGrant is the token request of an agent that waits for its claim.
func ClaimGrant(token string) url.Values {
	return url.Values{"grant_type": {contract.GrantClaim}, "claim_token": {token}}
}

// JWTBearer is the token request of an agent with an identity assertion.
func JWTBearer(assertion string) url.Values {
	return url.Values{"grant_type": {contract.GrantJWTBearer}, "assertion": {assertion}}
}

// ExchangeGrant is the token request of a client with an ID token.
func ExchangeGrant(client, idToken string) url.Values {
	return url.Values{
		"grant_type":         {contract.GrantExchange},
		"client_id":          {client},
		"subject_token":      {idToken},
		"subject_token_type": {contract.TypeIDToken},
	}
}
