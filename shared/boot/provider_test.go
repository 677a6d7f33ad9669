package boot

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"vitrine/shared/credential"
	"vitrine/shared/setting"
)

// signingIn is the environment of a host that signs people in, with changes.
func signingIn(change map[string]string) func(string) string {
	all := map[string]string{
		setting.Environment: "production", setting.APIURL: "https://api.example.com", setting.UploadURL: "https://up.example.com",
		setting.ContentURL: "https://c.example.net", setting.AppURL: "https://app.example.com", setting.MCPURL: "https://mcp.example.com",
		setting.CoreTable: "core", setting.EventsTable: "events", setting.HotTable: "hot", setting.Bucket: "bucket",
		setting.Region: "eu-central-1", setting.AccessKeyID: "id", setting.SecretAccessKey: "secret",
		setting.OIDCIssuer: "https://id.example.com", setting.OIDCClientID: "client",
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
		"without a provider":      {map[string]string{setting.OIDCIssuer: "", setting.OIDCClientID: ""}, ""},
		"on this machine":         {map[string]string{setting.OIDCIssuer: "http://localhost:8706"}, "on this machine"},
		"with TLS, but here":      {map[string]string{setting.OIDCIssuer: "https://127.0.0.1:8706"}, "on this machine"},
		"without TLS":             {map[string]string{setting.OIDCIssuer: "http://id.example.com"}, "not https"},
		"here, in a preview":      {map[string]string{setting.OIDCIssuer: "http://localhost:8706", setting.Environment: "preview"}, ""},
		"away, without TLS there": {map[string]string{setting.OIDCIssuer: "http://id.example.com", setting.Environment: "preview"}, "not https"},
		"without a client":        {map[string]string{setting.OIDCClientID: ""}, "client id"},
		"a client without issuer": {map[string]string{setting.OIDCIssuer: ""}, setting.OIDCIssuer},
		"an odd way out":          {map[string]string{setting.OIDCLogout: "odd"}, "sign out"},
		"a secret that is gone":   {map[string]string{setting.OIDCClientSecret: "file:/nowhere/at/all"}, setting.OIDCClientSecret},
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
		setting.OIDCClientSecret: "file:" + file, setting.OIDCScopes: "openid  email", setting.OIDCLogout: "cognito",
	}))
	if err != nil {
		t.Fatal(err)
	}
	o := c.oidc()
	if o.ClientSecret != "the secret" || len(o.Scopes) != 2 || o.Logout != "cognito" || o.Loopback || o.Callback != "https://app.example.com/api/auth/callback" {
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
	if p, err := s.identityProvider(); p != nil || err != nil {
		t.Error(p, err)
	}
}
