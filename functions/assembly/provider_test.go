package assembly

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/provider"
	"vitrine/shared/platform/env"
)

// signingIn is the environment of a host that signs people in, with changes.
func signingIn(change map[string]string) func(string) string {
	all := map[string]string{
		env.Environment: "production", env.APIURL: "https://api.example.com", env.UploadURL: "https://up.example.com",
		env.ContentURL: "https://c.example.net", env.AppURL: "https://app.example.com", env.MCPURL: "https://mcp.example.com",
		env.CoreTable: "core", env.EventsTable: "events", env.HotTable: "hot", env.Bucket: "bucket",
		env.Region: "eu-central-1", env.AccessKeyID: "id", env.SecretAccessKey: "secret",
		env.OIDCIssuer: "https://id.example.com", env.OIDCClientID: "client",
	}
	for name, v := range change {
		all[name] = v
	}
	return func(name string) string { return all[name] }
}

func TestT79ProductionRefusesAnIdentityProviderThatSignsInAnybody(t *testing.T) {
	for name, c := range map[string]struct {
		change map[string]string
		says   string // empty: it starts
	}{
		"as it should be":         {nil, ""},
		"without a provider":      {map[string]string{env.OIDCIssuer: "", env.OIDCClientID: ""}, ""},
		"on this machine":         {map[string]string{env.OIDCIssuer: "http://localhost:8706"}, "on this machine"},
		"with TLS, but here":      {map[string]string{env.OIDCIssuer: "https://127.0.0.1:8706"}, "on this machine"},
		"without TLS":             {map[string]string{env.OIDCIssuer: "http://id.example.com"}, "not https"},
		"here, in a preview":      {map[string]string{env.OIDCIssuer: "http://localhost:8706", env.Environment: "preview"}, ""},
		"away, without TLS there": {map[string]string{env.OIDCIssuer: "http://id.example.com", env.Environment: "preview"}, "not https"},
		"without a client":        {map[string]string{env.OIDCClientID: ""}, "client id"},
		"a client without issuer": {map[string]string{env.OIDCIssuer: ""}, env.OIDCIssuer},
		"an odd way out":          {map[string]string{env.OIDCLogout: "odd"}, "sign out"},
		"a secret that is gone":   {map[string]string{env.OIDCClientSecret: "file:/nowhere/at/all"}, env.OIDCClientSecret},
	} {
		_, err := FromEnvironment(context.Background(), signingIn(c.change))
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheSettingsOfTheProviderAreRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("the secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := FromEnvironment(context.Background(), signingIn(map[string]string{
		env.OIDCClientSecret: "file:" + file, env.OIDCScopes: "openid  email", env.OIDCLogout: "cognito",
	}))
	if err != nil {
		t.Fatal(err)
	}
	o := c.oidc()
	if o.ClientSecret != "the secret" || len(o.Scopes) != 2 || o.Logout != "cognito" || o.Loopback ||
		o.Callback != "https://app.example.com/api/auth/callback" {
		t.Errorf("%+v", o)
	}
	if err := os.WriteFile(file, []byte(" \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := clientSecret(context.Background(), aws.Config{}, "file:"+file); err == nil {
		t.Error("an empty file is a secret")
	}
}

func TestWithoutAProviderThereIsNone(t *testing.T) {
	s := &Services{Config: Config{Environment: credential.Preview}}
	if p, err := s.IdentityProvider(); p != nil || err != nil {
		t.Error(p, err)
	}
}

const trusted = `[{"issuer":"https://agents.example","display_name":"Agents","client_ids":["a"]}]`

// fileOf writes a text and returns the setting that names the file.
func fileOf(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "providers.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return "file:" + file
}

// verifierOf reads the settings of a host and returns its verifier and what is logged.
func verifierOf(t *testing.T, change map[string]string) (*provider.Verifier, string) {
	t.Helper()
	c, err := FromEnvironment(context.Background(), signingIn(change))
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	v := (&Services{Config: c}).Providers(slog.New(slog.NewTextHandler(&log, nil)))
	return v, log.String()
}

func TestAgentsProvidersAreThoseOfTheList(t *testing.T) {
	v, log := verifierOf(t, map[string]string{env.Providers: fileOf(t, trusted)})
	if v == nil || log != "" {
		t.Fatalf("%v, %s", v, log)
	}
	if len(v.Providers) != 1 || v.Providers[0].Issuer != "https://agents.example" ||
		v.Audience != "https://api.example.com" || v.Documents == nil || v.Now().Before(time.Unix(1, 0)) {
		t.Errorf("%+v", v)
	}
}

func TestWithoutAListNoProviderIsTrusted(t *testing.T) {
	for name, change := range map[string]map[string]string{
		"no setting": nil, "an empty list": {env.Providers: fileOf(t, "[]")},
	} {
		if v, log := verifierOf(t, change); v != nil || log != "" {
			t.Errorf("%s: %v, %s", name, v, log)
		}
	}
}

func TestAListThatIsWrongTurnsOffProvidersAlone(t *testing.T) {
	http := strings.Replace(trusted, "https:", "http:", 1)
	for name, c := range map[string]struct{ from, says string }{
		"no JSON":           {fileOf(t, "issuer: x"), "JSON"},
		"one wrong entry":   {fileOf(t, strings.Replace(trusted, `["a"]`, `[]`, 1)), "client_ids"},
		"this service":      {fileOf(t, strings.Replace(trusted, "agents.example", "api.example.com", 1)), "itself"},
		"a provider's HTTP": {fileOf(t, http), "https"},
		"no file":           {"file:/nowhere/at/all", "nowhere"},
	} {
		v, log := verifierOf(t, map[string]string{env.Providers: c.from})
		if v != nil || strings.Count(log, "\n") != 1 || !strings.Contains(log, "level=ERROR msg=providers") ||
			!strings.Contains(log, env.Providers) || !strings.Contains(log, c.says) {
			t.Errorf("%s: %v, %s", name, v, log)
		}
	}
	exempt := map[string]string{
		env.Environment:  "preview",
		env.FetchOrigins: "http://agents.example",
		env.Providers:    fileOf(t, http),
	}
	if v, log := verifierOf(t, exempt); v == nil || log != "" {
		t.Errorf("an exempt origin: %v, %s", v, log)
	}
}
