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

	"vitrine/shared/identity/provider"
	"vitrine/shared/platform/env"
)

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
