package assembly

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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

// trustedBy reads the list that the settings of a host name.
func trustedBy(t *testing.T, change map[string]string) ([]provider.Provider, error) {
	t.Helper()
	c, err := FromEnvironment(t.Context(), signingIn(change))
	if err != nil {
		t.Fatal(err)
	}
	return c.Providers, c.ProvidersError
}

func TestAgentsProvidersAreThoseOfTheList(t *testing.T) {
	for name, c := range map[string]struct {
		change map[string]string
		want   int
	}{
		"no setting":    {nil, 0},
		"an empty list": {map[string]string{env.Providers: fileOf(t, "[]")}, 0},
		"one":           {map[string]string{env.Providers: fileOf(t, trusted)}, 1},
	} {
		list, err := trustedBy(t, c.change)
		if err != nil || len(list) != c.want || c.want > 0 && list[0].Issuer != "https://agents.example" {
			t.Errorf("%s: %+v, %v", name, list, err)
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
		list, err := trustedBy(t, map[string]string{env.Providers: c.from})
		if list != nil || err == nil || !strings.Contains(err.Error(), env.Providers) ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
	exempt := map[string]string{
		env.Environment:  "preview",
		env.FetchOrigins: "http://agents.example",
		env.Providers:    fileOf(t, http),
	}
	if list, err := trustedBy(t, exempt); len(list) != 1 || err != nil {
		t.Errorf("an exempt origin: %v, %v", list, err)
	}
}
