package identity

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// withPolicy makes a policy hold.
func withPolicy(t *testing.T, policy string) func(*stack.Options) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.json")
	expect.OK(t, os.WriteFile(file, []byte(policy), 0o600))
	return func(o *stack.Options) { o.PolicyFile = file }
}

// wantNoRegistration expects that no agent registers without a person, and one by a provider does.
func wantNoRegistration(t *testing.T, d *harness.BackendEnv) {
	t.Helper()
	a := harness.Do(t, d.Anyone, "POST", d.Origins.API+"/agent/identity", map[string]string{"type": "anonymous"})
	var refused contract.OAuthError
	if harness.Decode(t, a, &refused); a.Status != http.StatusForbidden || refused.Error != "access_denied" ||
		!strings.Contains(refused.Description, "vitrine login") || !strings.Contains(refused.Description, d.Origins.App) {
		t.Errorf("a registration without a person answers %d %s", a.Status, a.Body)
	}
	d.Vouched(t, d.Identity.First, "ada@example.org")
	guide := string(d.Get(t, d.Origins.API+"/auth.md").Body)
	expect.Lacks(t, "the guide", guide, `{"type":"anonymous"}`, "`anonymous`")
	for _, metadata := range []string{d.Origins.API, d.Origins.MCP} {
		expect.Has(t, "the metadata", string(d.Get(t, metadata+"/.well-known/oauth-authorization-server").Body),
			`"identity_types_supported":["identity_assertion"]`)
	}
}

// TestWithoutAnonymousWhatExistsGoesOn turns publishing without an account off for data of a deployment that had it.
func TestWithoutAnonymousWhatExistsGoesOn(t *testing.T) {
	t.Parallel()
	before := harness.NewEnv(t)
	agent, made, err := before.Anyone.Provision(t.Context())
	expect.OK(t, err)
	harness.PublishPage(t, agent, "Before")
	d := harness.NewBackendEnv(t, withPolicy(t, `{"anonymous": "off"}`), func(o *stack.Options) {
		o.Tables, o.Data = before.Options.Tables, before.Options.Data
	})
	for _, body := range []any{nil, map[string]string{}, "[]"} {
		a := harness.Do(t, d.Anyone, "POST", d.Origins.API+"/v1/ephemeral/provision", body)
		harness.WantRefused(t, a, http.StatusForbidden, fault.Forbidden)
		expect.Has(t, "the refusal", a.Message(), "vitrine login", d.Origins.App)
	}
	wantNoRegistration(t, d)
	expect.Lacks(t, "the front page", string(d.Get(t, d.Origins.App+"/").Body), "--ephemeral", "no account")
	expect.Lacks(t, "the guide", string(d.Get(t, d.Origins.API+"/auth.md").Body), "--ephemeral")

	home := t.TempDir()
	page := filepath.Join(home, "index.html")
	expect.OK(t, os.WriteFile(page, []byte("<h1>Mine</h1>"), 0o600))
	run := d.Command(t, home, "", "publish", page, "--ephemeral")
	out, _ := run.CombinedOutput()
	if code := run.ProcessState.ExitCode(); code != 2 {
		t.Errorf("the command ends with %d: %s", code, out)
	}
	expect.Has(t, "the command", string(out), "error forbidden: nobody publishes here without an account; ",
		"or at "+d.Origins.App+"\n", "\nSign in: vitrine login")

	harness.PublishPage(t, d.WithBearer(agent.Key), "After")
	m := d.NewMember(t)
	if a := harness.TryClaim(t, m.Agent, made.ClaimToken); a.Status != http.StatusOK {
		t.Errorf("a claim answers %d %s", a.Status, a.Body)
	}
}

func TestWithoutAgentsAnybodyStillPublishesWithoutAnAccount(t *testing.T) {
	t.Parallel()
	d := harness.NewBackendEnv(t, withPolicy(t, `{"agents": "off"}`))
	wantNoRegistration(t, d)
	harness.PublishPage(t, d.NewAgent(t), "Without an account")
	expect.Has(t, "the front page", string(d.Get(t, d.Origins.App+"/").Body), "--ephemeral")
	expect.Has(t, "the guide", string(d.Get(t, d.Origins.API+"/auth.md").Body), "--ephemeral")
}

func TestAppsNameThemselvesByADocumentWhereThePolicyLetsThem(t *testing.T) {
	t.Parallel()
	const named = `"client_id_metadata_document_supported":true`
	d := harness.NewEnv(t, withPolicy(t, `{"client_documents": "on"}`))
	expect.Has(t, "the metadata", string(d.Get(t, d.Origins.API+"/.well-known/oauth-authorization-server").Body), named)
	off := harness.NewBackendEnv(t, withPolicy(t, `{"client_documents": "off"}`))
	for _, host := range []string{off.Origins.API, off.Origins.MCP} {
		expect.Lacks(t, "the metadata", string(off.Get(t, host+"/.well-known/oauth-authorization-server").Body), named)
	}
	c := client{
		off,
		"https://claude.ai/oauth/claude-code-client-metadata",
		"http://localhost:4711/callback",
		strings.Repeat("verifier", 8),
	}
	a := off.Get(t, off.Origins.API+"/oauth2/authorize?"+c.request("read publish").Encode())
	harness.WantPage(t, "an app that names itself by its document", a, http.StatusBadRequest, "has that turned off")
}
