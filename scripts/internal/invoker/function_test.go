package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"net"
	"os"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/internal/localapi/runtime"
	"vitrine/scripts/internal/package/bootstrap"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/local/engines"
	"vitrine/scripts/testkit/output"
	"vitrine/shared/platform/env"
)

// These tests run the functions as Lambda does: the built programs, through the Runtime API.

// program returns the program of a function.
func program(t *testing.T, host string) string {
	t.Helper()
	file, err := bootstrap.Program(t.Context(), host, goruntime.GOARCH, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// deployment is a stack whose functions run too.
type deployment struct {
	*harness.Env
	settings map[string]string
	log      output.Buffer
}

func deploy(t *testing.T) *deployment {
	t.Helper()
	d := &deployment{Env: harness.NewEnv(t, harness.Unlimited, func(o *stack.Options) { o.Lambda = false })}
	d.settings = stack.Settings(d.Options, d.Origins, filepath.Join(d.Options.Data, "rings.json"))
	maps.Copy(d.settings, stack.Given(d.Engines, harness.Must(engines.Root())(t)))
	return d
}

// function starts the function of a host; changes are alternating names and values of settings.
func (d *deployment) function(t *testing.T, host string, changes ...string) *runtime.Function {
	t.Helper()
	environment := maps.Clone(d.settings)
	for i := 0; i < len(changes); i += 2 {
		environment[changes[i]] = changes[i+1]
	}
	f := runtime.New(runtime.Config{
		Name:        host,
		Program:     program(t, host),
		Environment: environment,
		Timeout:     timeout,
		MemoryMB:    512,
		Processes:   1,
		Waiting:     9,
		Log:         &d.log,
	})
	t.Cleanup(f.Close)
	return f
}

// event reads an event of a host.
func event(t *testing.T, host, name string) []byte {
	t.Helper()
	return harness.Must(os.ReadFile(filepath.Join("..", "..", "..", "events", host, name+".json")))(t)
}

// send invokes a function and returns what show prints.
func send(t *testing.T, f *runtime.Function, event []byte) (string, error) {
	t.Helper()
	a, err := f.Stream(t.Context(), event)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var out bytes.Buffer
	err = show(&out, a, a.ContentType)
	return out.String(), err
}

func TestEveryEventIsAnsweredByItsFunction(t *testing.T) {
	d := deploy(t)
	for _, host := range append(slices.Clone(env.Hosts), env.Pages) {
		t.Run(host, func(t *testing.T) {
			mode := ""
			if host == "content" || host == env.Pages {
				mode = "stream"
			}
			f := d.function(t, host, env.ResponseMode, mode)
			files := harness.Must(filepath.Glob(filepath.Join("..", "..", "..", "events", host, "*.json")))(t)
			for _, file := range files {
				name := strings.TrimSuffix(filepath.Base(file), ".json")
				sent := event(t, host, name)
				if key := []byte("${KEY}"); bytes.Contains(sent, key) { // one of the events revokes its key
					sent = bytes.ReplaceAll(sent, key, []byte(d.NewAgent(t).Key))
				}
				got, err := send(t, f, sent)
				want := cmp.Or(statuses[host+"/"+name], statuses[name], "404")
				if status, _, _ := strings.Cut(got, " "); status != want || err != nil {
					t.Errorf("%s: want %s, got %s%v", name, want, got, err)
				}
			}
			if len(files) == 0 {
				t.Error("there are no events")
			}
		})
	}
}

// statuses are the answers to events that are not 404, which is what an empty workspace answers to questions about an
// artifact. The key of the workspace is filled in.
var statuses = map[string]string{
	"healthz": "200", "openapi": "200",

	"api/access-link-resolve": "400", "api/artifacts-list": "400", "api/cli-version": "200", "api/discovery": "200",
	"api/healthz-head": "200", "api/provision": "201", "api/provision-ipv6": "201", "api/revoke-current": "200",
	"api/usage-policy": "200", "api/whoami": "200", "api/whoami-anonymous": "401", "api/whoami-two-credentials": "400",

	"upload/session-create": "200", "upload/session-create-anonymous": "401", "upload/session-create-base64": "200",

	"app/home": "200", "app/home-post": "405", "app/link-resolve-cross-site": "403", "app/robots": "200",
	"app/viewer": "200",

	"mcp/anonymous": "401", "mcp/api-key": "401", "mcp/authorization-server": "200", "mcp/delete": "405",
	"mcp/origin-null": "403", "mcp/protected-resource": "200", "mcp/protected-resource-below": "200", "mcp/root": "200",
	"mcp/tools-list": "401",

	"content/file-malformed-escape": "400",
}

func TestAFunctionStartsWhileItsEnginesHang(t *testing.T) {
	d := deploy(t)
	hanging, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer hanging.Close()
	endpoint := "http://" + hanging.Addr().String()
	f := d.function(t, "content", env.DynamoDBEndpoint, endpoint, env.S3Endpoint, endpoint)
	if got, err := send(t, f, event(t, "content", "healthz")); err != nil || !strings.HasPrefix(got, "200 OK\n") {
		t.Error(got, err)
	}
}

func TestAWrongConfigurationIsToldInOneLine(t *testing.T) {
	for _, host := range env.Hosts {
		t.Run(host, func(t *testing.T) {
			var log output.Buffer
			f := runtime.New(runtime.Config{
				Name:        host,
				Program:     program(t, host),
				Environment: map[string]string{env.ResponseMode: "drip"},
				Timeout:     timeout,
				Processes:   1,
				Waiting:     1,
				Log:         &log,
			})
			t.Cleanup(f.Close)
			_, err := f.Invoke(t.Context(), []byte(`{}`))
			if err == nil || !strings.Contains(err.Error(), "exit status 1") {
				t.Errorf("the function fails with %v", err)
			}
			line, isOne := strings.CutSuffix(strings.TrimPrefix(log.String(), "["+host+"] "), "\n")
			var said struct{ Level, Message, Error, Host, Timestamp string }
			if err := json.Unmarshal([]byte(line), &said); err != nil || !isOne || said.Level != "ERROR" || said.Host != host ||
				said.Timestamp == "" {
				t.Fatalf("it logs %s: %v", log.String(), err)
			}
			for _, name := range append(needs[host], env.Environment, env.APIURL, env.UploadURL, env.ContentURL, env.AppURL,
				env.CoreTable, env.EventsTable, env.HotTable, env.Bucket, env.ResponseMode, env.Region) {
				if !strings.Contains(said.Error, name) {
					t.Errorf("it does not name %s: %s", name, said.Error)
				}
			}
		})
	}
}

var needs = map[string][]string{
	"api":    {env.PepperRing, env.ContentRing, env.LinksRing, env.SealRing},
	"upload": {env.PepperRing}, "content": {env.ContentRing}, "app": {env.ContentRing, env.LinksRing},
	"mcp": {env.PepperRing, env.ContentRing, env.LinksRing, env.SealRing, env.MCPURL},
}
