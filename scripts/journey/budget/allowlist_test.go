package budget

import (
	"os"
	"path/filepath"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
)

// TestJudgingReadsOneItemMoreInTheSameBatch compares what requests cost where the policy lets anybody in with what they
// cost where it names domains.
func TestJudgingReadsOneItemMoreInTheSameBatch(t *testing.T) {
	open, judged := authenticationCosts(t, `"anybody"`), authenticationCosts(t, `{"domains": ["example.org"]}`)
	for name, want := range open {
		want.rru++ // a strong read of up to 4 KB
		if got := judged[name]; got != want {
			t.Errorf("%s takes %s, want %s", name, got, want)
		}
	}
}

// authenticationCosts returns what one request with each kind of credential costs under a value of sign_in.
func authenticationCosts(t *testing.T, signIn string) map[string]budget {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.json")
	harness.NoError(t, os.WriteFile(file, []byte(`{"sign_in": `+signIn+`}`), 0o600))
	l := newBudgetEnv(t, harness.Unlimited, func(o *stack.Options) { o.PolicyFile = file })
	l.measures.Store(true)
	p := l.backend()
	w := p.SignedIn(t, "ada@example.org")
	cli := w.CLIToken(t)
	who := &harness.Member{Agent: p.WithBearer(cli.AccessToken)}
	made := harness.CreatedKey(t, harness.TryCreateKey(t, who, "K", wire.NewKey()))
	key := p.WithBearer(made.Secret)
	key.HTTP = l.Anyone.HTTP
	refresh := map[string][]string{
		"grant_type":    {contract.GrantRefresh},
		"client_id":     {string(oauth.CLI)},
		"refresh_token": {cli.RefreshToken},
	}
	costs := map[string]budget{}
	for name, request := range map[string]func(){
		"a key":     l.sends(t, key, 200, "GET", "/v1/artifacts", nil),
		"a token":   l.sends(t, who.Agent, 200, "GET", "/v1/web/workspace", nil),
		"a session": func() { w.Get(t, "/keys") },
		"a refresh": func() { p.Token(t, refresh) },
	} {
		request()
		for name == "a key" && l.lastCost(t).WRU > 0 { // its first use is recorded
			request()
		}
		costs[name] = budget{}.plus(l.lastCost(t))
	}
	return costs
}
