package assembly

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"vitrine/shared/identity/credential"
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
		"as it should be":           {nil, ""},
		"without a provider":        {map[string]string{env.OIDCIssuer: "", env.OIDCClientID: ""}, ""},
		"on this machine":           {map[string]string{env.OIDCIssuer: "http://localhost:8706"}, "on this machine"},
		"with TLS, but here":        {map[string]string{env.OIDCIssuer: "https://127.0.0.1:8706"}, "on this machine"},
		"without TLS":               {map[string]string{env.OIDCIssuer: "http://id.example.com"}, "not https"},
		"here, in a preview":        {map[string]string{env.OIDCIssuer: "http://localhost:8706", env.Environment: "preview"}, ""},
		"away, without TLS there":   {map[string]string{env.OIDCIssuer: "http://id.example.com", env.Environment: "preview"}, "not https"},
		"without a client":          {map[string]string{env.OIDCClientID: ""}, "client id"},
		"a client without issuer":   {map[string]string{env.OIDCIssuer: ""}, env.OIDCIssuer},
		"an odd proof of addresses": {map[string]string{env.OIDCEmailVerified: "always"}, env.OIDCEmailVerified},
		"an odd way out":            {map[string]string{env.OIDCLogout: "odd"}, "sign out"},
		"a secret that is gone":     {map[string]string{env.OIDCClientSecret: "file:/nowhere/at/all"}, env.OIDCClientSecret},
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
		env.OIDCEmailVerified: "issuer",
	}))
	if err != nil {
		t.Fatal(err)
	}
	o := c.oidc()
	if o.ClientSecret != "the secret" || len(o.Scopes) != 2 || o.Logout != "cognito" || !o.EmailVerified || o.Loopback ||
		o.Callback != "https://app.example.com/api/auth/callback" {
		t.Errorf("%+v, want Cognito with its secret and two scopes", o)
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
