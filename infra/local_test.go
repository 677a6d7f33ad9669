package main

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vitrine/shared/platform/env"
)

// These tests read templates as `sam local start-api` does, which cannot run everywhere.

// givenFolder names a folder that scripts/synth has made; the first two tests read it instead of
// their own.
const givenFolder = "VITRINE_CDK_OUT"

// hostTemplates are the templates that have functions.
func hostTemplates(t *testing.T) (out []*template) {
	folder := synthesised
	if given := os.Getenv(givenFolder); given != "" {
		folder = given
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.template.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		tpl, err := load(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(tpl.of("AWS::Lambda::Function")) > 0 {
			out = append(out, tpl)
		}
	}
	if len(out)%len(functionNames) != 0 || len(out) == 0 {
		t.Fatalf("%s has %d stacks with functions", folder, len(out))
	}
	return out
}

// way is a route as sam local sees it.
type way struct{ api, method, path, function string }

// ways lists the routes of a template, of either kind of gateway.
func (tpl *template) ways(t *testing.T) (out []way) {
	t.Helper()
	for _, route := range tpl.of("AWS::ApiGatewayV2::Route") {
		key := route.Properties["RouteKey"].(string)
		integration := tpl.of("AWS::ApiGatewayV2::Integration")[strings.TrimPrefix(tpl.text(route.Properties["Target"]),
			"integrations/")]
		if integration == nil {
			t.Fatalf("%s: route %s leads nowhere", tpl.name, key)
		}
		method, path, both := strings.Cut(key, " ")
		if !both {
			method, path = "ANY", key
		}
		out = append(out, way{"Api", method, path, tpl.text(integration.Properties["IntegrationUri"])})
	}
	for _, m := range tpl.of("AWS::ApiGateway::Method") {
		_, uri, _ := strings.Cut(tpl.text(at(t, m.Properties, "Integration", "Uri")), ":lambda:path/2021-11-15/functions/")
		out = append(out, way{
			api:      tpl.text(m.Properties["RestApiId"]),
			method:   m.Properties["HttpMethod"].(string),
			path:     tpl.path(t, m.Properties["ResourceId"]),
			function: strings.TrimSuffix(uri, "/response-streaming-invocations"),
		})
	}
	return out
}

// path climbs from a resource of a REST API to its root.
func (tpl *template) path(t *testing.T, of any) string {
	t.Helper()
	name := tpl.text(of)
	if strings.HasSuffix(name, ".RootResourceId") {
		return "/"
	}
	r := tpl.of("AWS::ApiGateway::Resource")[name]
	if r == nil {
		t.Fatalf("%s: there is no resource %s", tpl.name, name)
	}
	return strings.TrimSuffix(tpl.path(t, r.Properties["ParentId"]), "/") + "/" + r.Properties["PathPart"].(string)
}

// pagesPath matches the paths at which files are shown as pages.
var pagesPath = regexp.MustCompile(`^(/\.vitrine)?/r(/\{proxy\+\})?$`)

func TestEveryRouteReachesAFunctionAndNoTwoCollide(t *testing.T) {
	for _, tpl := range hostTemplates(t) {
		functions := tpl.of("AWS::Lambda::Function")
		seen := map[string]bool{}
		ways := tpl.ways(t)
		for _, w := range ways {
			pages := w.function == "RenderFunction.Arn" // of another stack
			if pages != pagesPath.MatchString(w.path) {
				t.Errorf("%s: %s leads to %s", tpl.name, w.path, w.function)
			}
			if functions[strings.TrimSuffix(w.function, ".Arn")] == nil && !pages {
				t.Errorf("%s: %s %s leads to %s", tpl.name, w.method, w.path, w.function)
			}
			if seen[w.api+w.method+" "+w.path] || seen[w.api+"ANY "+w.path] {
				t.Errorf("%s: %s %s is there twice", tpl.name, w.method, w.path)
			}
			seen[w.api+w.method+" "+w.path] = true
		}
		_, host, _ := strings.Cut(tpl.name, "-")
		if len(ways) == 0 != slices.Contains([]string{"Jobs", "Bundle", "Render"}, host) {
			t.Errorf("%s has %d routes", tpl.name, len(ways))
		}
	}
}

func TestEveryFunctionHasABootstrapOfItsArchitecture(t *testing.T) {
	for _, tpl := range hostTemplates(t) {
		for name, f := range tpl.of("AWS::Lambda::Function") {
			same(t, tpl.name+"/"+name+": runtime", f.Properties["Runtime"], "provided.al2023")
			same(t, tpl.name+"/"+name+": asset", f.Metadata["aws:asset:property"], "Code")
			asset, _ := f.Metadata["aws:asset:path"].(string)
			if asset == "" || filepath.IsAbs(asset) {
				t.Errorf("%s/%s: the asset path is %q, not a relative one", tpl.name, name, asset)
				continue
			}
			checkBootstrap(t, filepath.Join(tpl.folder, asset), at(t, f.Properties, "Architectures", 0).(string))
		}
	}
}

func checkBootstrap(t *testing.T, file, arch string) {
	t.Helper()
	z, err := zip.OpenReader(file)
	if err != nil {
		t.Error(err)
		return
	}
	defer z.Close()
	for _, f := range z.File {
		if f.Name != "bootstrap" {
			continue
		}
		if f.Mode()&0o111 != 0o111 {
			t.Errorf("%s: bootstrap has mode %s", file, f.Mode())
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		binary, err := elf.NewFile(bytes.NewReader(text))
		if err != nil {
			t.Errorf("%s: bootstrap: %v", file, err)
		} else if binary.Machine != architectures[arch].machine {
			t.Errorf("%s: bootstrap is for %s, the function for %s", file, binary.Machine, arch)
		}
		return
	}
	t.Errorf("%s has no bootstrap", file)
}

func TestTheLocalEnvironmentNamesDeclaredVariablesOnly(t *testing.T) {
	for name, d := range made {
		var env map[string]map[string]string
		readJSON(t, &env, d.Name, "env.json")
		for _, host := range functionNames {
			tpl := read(t, d.stackName(host))
			declared := tpl.variables(t)
			id := slices.Collect(func(yield func(string) bool) {
				for id, r := range tpl.Resources {
					if r.Type == "AWS::Lambda::Function" && !yield(id) {
						return
					}
				}
			})[0]
			if env[id] == nil {
				t.Errorf("%s: env.json knows nothing of %s", name, id)
			}
			for variable := range env[id] {
				if _, known := declared[variable]; !known {
					t.Errorf("%s: env.json sets %s, which %s does not declare", name, variable, host)
				}
			}
			for variable, value := range declared {
				if _, set := env[id][variable]; !set && !literal(value) {
					t.Errorf("%s: env.json leaves %s of %s to be %q", name, variable, host, value)
				}
			}
		}
	}
}

// literal reports whether a value means the same on every machine, as opposed to a name of an AWS
// resource.
func literal(value string) bool {
	return slices.Contains([]string{"", "on", "adaptive", "direct", "edge", "stream", "preview", "production"}, value)
}

func TestTheLocalEnvironmentHasTheBundlesOfTheDeployment(t *testing.T) {
	for name, want := range map[string]string{"Plain": "1", "Bare": "off"} {
		var functions map[string]map[string]string
		readJSON(t, &functions, name, "env.json")
		asking := 0
		for function, variables := range functions {
			if got, asks := variables[env.Bundles]; asks {
				if asking++; got != want {
					t.Errorf("%s: %s is told %s=%s, want %s", name, function, env.Bundles, got, want)
				}
			}
		}
		if asking == 0 {
			t.Errorf("%s: no function asks for bundles", name)
		}
	}
}

func TestDescribeWritesWhatTheScriptsRead(t *testing.T) {
	var got description
	readJSON(t, &got, "Plain", "deployment.json")
	same(t, "stacks", got.Stacks, []string{"Plain-Data", "Plain-Render", "Plain-Api", "Plain-Upload", "Plain-Content", "Plain-App",
		"Plain-Mcp", "Plain-Jobs", "Plain-Bundle"})
	same(t, "final", got.Final, false)
	same(t, "told", got.Told, map[string]string{
		"api":     "https://api.invalid",
		"upload":  "https://upload.invalid",
		"content": "https://content.invalid",
		"app":     "https://app.invalid",
		"mcp":     "https://mcp.invalid",
	})
}

// Containers have the keys of scripts/dev, which cannot read secrets of an account.
func TestTheLocalEnvironmentNamesNothingThatIsDeployed(t *testing.T) {
	for name := range made {
		var functions map[string]map[string]string
		readJSON(t, &functions, name, "env.json")
		for function, env := range functions {
			for variable, value := range env {
				if strings.HasPrefix(value, "arn:") || strings.Contains(value, ".example") {
					t.Errorf("%s: %s is told %s=%s", name, function, variable, value)
				}
			}
		}
	}
}
