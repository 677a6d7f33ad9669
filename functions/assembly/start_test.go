package assembly

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
)

// environment is what a function needs to start, with rings in a file of their own.
func environment(t *testing.T) (variables map[string]string, rings string) {
	t.Helper()
	rings = filepath.Join(t.TempDir(), "rings.json")
	if _, err := LocalRings(rings); err != nil {
		t.Fatal(err)
	}
	variables = map[string]string{
		env.Environment: "preview", env.APIURL: "https://api.example", env.UploadURL: "https://upload.example",
		env.ContentURL: "https://content.example", env.AppURL: "https://app.example", env.MCPURL: "https://mcp.example",
		env.CoreTable: "core", env.EventsTable: "events", env.HotTable: "hot", env.Bucket: "bucket",
		env.Region: "eu-west-1", env.AccessKeyID: "key", env.SecretAccessKey: "secret",
		"AWS_ENDPOINT_URL_SECRETS_MANAGER": "http://127.0.0.1:1",
	}
	for name := range ringNames {
		variables[name] = "file:" + rings
	}
	return variables, rings
}

var allRings = []string{env.PepperRing, env.ContentRing, env.LinksRing, env.SealRing}

func TestAHostHasTheRingsThatItIsTold(t *testing.T) {
	variables, file := environment(t)
	c, err := FromEnvironment(t.Context(), func(name string) string { return variables[name] }, allRings...)
	if err != nil {
		t.Fatal(err)
	}
	want, err := LocalRings(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range keyring.Names() {
		if got := c.Rings.Ring(name).Keys; len(got) != 1 || string(got[0].Secret) != string(want.Ring(name).Keys[0].Secret) {
			t.Errorf("ring %s is not the one of the file", name)
		}
	}
	delete(variables, env.AssertionRing)
	if c, err = FromEnvironment(t.Context(), func(name string) string { return variables[name] }, allRings...); err != nil || len(c.Rings.Assertion.Keys) != 0 {
		t.Errorf("without the ring for assertions: %v", err)
	}
}

func TestTheDeploymentSaysWhatBrowsersAreToldOfHTTPS(t *testing.T) {
	variables, _ := environment(t)
	for given, want := range map[string]web.HSTS{"": "", "host": web.HSTSHost, "preload": web.HSTSPreload} {
		variables[env.HSTS] = given
		c, err := FromEnvironment(t.Context(), func(name string) string { return variables[name] })
		if err != nil {
			t.Fatal(err)
		}
		if got := (&Services{Config: c}).Public("Vitrine", "https://app.example", nil).HSTS; got != want {
			t.Errorf("%q becomes %q", given, got)
		}
	}
}

func TestTheDeploymentSaysWhereArtifactsHaveOriginsOfTheirOwn(t *testing.T) {
	variables, _ := environment(t)
	for _, c := range []struct{ url, origins, domain, want, wrong string }{
		{"https://content.example", "", "", "", ""},
		{"https://content.example", "shared", "", "", ""},
		{"https://content.example", "wildcard", "", "https://*.content.example", ""},
		{"http://127.0.0.1:8703", "wildcard", "localhost", "http://*.localhost:8703", ""},
		{"https://content.example", "on", "", "", env.ContentOrigins},
		{"http://127.0.0.1:8703", "wildcard", "", "", env.ContentDomain},
		{"https://content.example", "wildcard", "https://x.example", "", env.ContentDomain},
		{"https://content.example", "wildcard", "a..example", "", env.ContentDomain},
		{"https://content.example", "wildcard", "*.example", "", env.ContentDomain},
	} {
		variables[env.ContentURL] = c.url
		variables[env.ContentOrigins] = c.origins
		variables[env.ContentDomain] = c.domain
		got, err := FromEnvironment(t.Context(), func(name string) string { return variables[name] })
		if got.Origins.Own != c.want || (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%+v: %q %v", c, got.Origins.Own, err)
		}
	}
}

func TestTheDeploymentSaysHowMuchIsKeptInMemory(t *testing.T) {
	variables, _ := environment(t)
	for given, want := range map[string]int64{"": limits.Default().Cache, "0": 0, "1000": 1000} {
		variables[env.Cache] = given
		c, err := FromEnvironment(t.Context(), func(name string) string { return variables[name] })
		if err != nil || c.Limits.Cache != want {
			t.Errorf("%q becomes %d, %v", given, c.Limits.Cache, err)
		}
	}
}

func TestAHostStartsWithoutTheSettingOfTheMCPHost(t *testing.T) {
	variables, _ := environment(t)
	for origin, ok := range map[string]bool{
		"": true, "https://mcp.example": true, "mcp.example": false, "https://mcp.example/path": false,
	} {
		variables[env.MCPURL] = origin
		c, err := FromEnvironment(t.Context(), func(name string) string { return variables[name] }, allRings...)
		if (err == nil) != ok || ok && c.Origins.MCP != origin || !ok && !strings.Contains(err.Error(), env.MCPURL) {
			t.Errorf("%q: %q %v", origin, c.Origins.MCP, err)
		}
	}
}

// broken are starts that have to fail: what is changed about a good one, and what the complaint names.
var broken = map[string]struct {
	change func(variables map[string]string, rings string) error
	names  string
}{
	"a ring without its active key": {func(_ map[string]string, rings string) error {
		return damage(rings, `"active": 1`, `"active": 7`)
	}, "active key"},
	"a short key": {func(_ map[string]string, rings string) error {
		return damage(rings, `"k": "`, `"k": "AAAA","was": "`)
	}, "shorter than 32 bytes"},
	"a ring that nobody named": {func(variables map[string]string, _ string) error {
		delete(variables, env.ContentRing)
		return nil
	}, env.ContentRing},
	"production without limits": {func(variables map[string]string, _ string) error {
		variables[env.Environment], variables[env.Limits] = "production", "off"
		return nil
	}, "production"},
	"a strange rule for HTTPS": {func(variables map[string]string, _ string) error {
		variables[env.HSTS] = "everywhere"
		return nil
	}, env.HSTS + " cannot be"},
	"a cache below nothing": {func(variables map[string]string, _ string) error {
		variables[env.Cache] = "-1"
		return nil
	}, env.Cache + " cannot be"},
	"production with rings of a development machine": {func(variables map[string]string, _ string) error {
		variables[env.Environment] = "production"
		return nil
	}, env.PepperRing + " names a file"},
	"production that reads documents of its own machine": {func(variables map[string]string, _ string) error {
		variables[env.Environment] = "production"
		variables[env.FetchOrigins] = "http://127.0.0.1:8080"
		return nil
	}, env.FetchOrigins + " cannot be set"},
	"production that buys at a stand-in": {func(variables map[string]string, _ string) error {
		variables[env.Environment] = "production"
		variables[env.StripeURL] = "http://127.0.0.1:8080"
		return nil
	}, env.StripeURL + " is refused"},
	"an exempt origin with a path": {func(variables map[string]string, _ string) error {
		variables[env.FetchOrigins] = "http://127.0.0.1:8080 http://127.0.0.1:8081/"
		return nil
	}, env.FetchOrigins + " holds"},
	"production with the development identity provider": {func(variables map[string]string, _ string) error {
		variables[env.Environment] = "production"
		variables[env.OIDCIssuer] = "http://localhost:8706"
		variables[env.OIDCClientID] = "vitrine"
		return nil
	}, env.OIDCIssuer},
}

// damage replaces a text in a file once.
func damage(file, old, fresh string) error {
	data, err := os.ReadFile(file)
	if err == nil && !strings.Contains(string(data), old) {
		err = errors.New("the file has no " + old)
	}
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strings.Replace(string(data), old, fresh, 1)), 0o600)
}

func TestT79AProcessThatIsSetUpWronglyDoesNotStart(t *testing.T) {
	for name, c := range broken {
		t.Run(name, func(t *testing.T) {
			variables, rings := environment(t)
			if err := c.change(variables, rings); err != nil {
				t.Fatal(err)
			}
			_, err := FromEnvironment(t.Context(), func(name string) string { return variables[name] }, allRings...)
			if err == nil || !strings.Contains(err.Error(), c.names) {
				t.Errorf("got %v, want an error that names %q", err, c.names)
			}
		})
	}
}

func TestT79TheFunctionItselfEndsWithCode1(t *testing.T) {
	program := filepath.Join(t.TempDir(), "bootstrap")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-tags", "lambda.norpc", "-o", program, "vitrine/functions/content/lambda").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, c := range broken {
		t.Run(name, func(t *testing.T) {
			variables, rings := environment(t)
			if err := c.change(variables, rings); err != nil {
				t.Fatal(err)
			}
			start := exec.CommandContext(t.Context(), program)
			start.Env = []string{"AWS_LAMBDA_RUNTIME_API=127.0.0.1:1"} // nobody answers there
			for name, value := range maps.All(variables) {
				start.Env = append(start.Env, name+"="+value)
			}
			out, err := start.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 {
				t.Errorf("it ended with %v, want exit code 1: %s", err, out)
			}
			if !strings.Contains(string(out), c.names) || strings.Count(string(out), "\n") != 1 {
				t.Errorf("it says %s, want one line that names %q", out, c.names)
			}
		})
	}
}
