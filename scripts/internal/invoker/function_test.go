package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/internal/localapi/runtime"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/output"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/env"
)

// These tests run the functions as Lambda does: the built programs, through the Runtime API.

// program builds a function once for all tests.
func program(t *testing.T, host string) string {
	t.Helper()
	file, err := programs[host]()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

var programs = func() map[string]func() (string, error) {
	out := map[string]func() (string, error){}
	for _, host := range env.Functions {
		out[host] = sync.OnceValues(func() (string, error) { return build(context.Background(), host) })
	}
	return out
}()

// deployment is a stack whose functions run too.
type deployment struct {
	*harness.Env
	settings map[string]string
	log      output.Buffer
}

func deploy(t *testing.T) *deployment {
	t.Helper()
	d := &deployment{Env: harness.NewEnv(t, harness.Unlimited, func(o *stack.Options) { o.Lambda = false })}
	o := d.Options
	d.settings = settings(request{base: 8700}, o.Engines, "file:"+filepath.Join(o.Data, "rings.json"))
	tables := dynamo.Named(o.Tables)
	maps.Copy(d.settings, map[string]string{
		env.CoreTable:   tables.Core,
		env.EventsTable: tables.Events,
		env.HotTable:    tables.Hot,
		env.Limits:      "off",
		env.APIURL:      d.Origins.API,
		env.UploadURL:   d.Origins.Upload,
		env.ContentURL:  d.Origins.Content,
		env.AppURL:      d.Origins.App,
		env.MCPURL:      d.Origins.MCP,
	})
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
			modes := []string{"buffered"}
			if host == "content" || host == env.Pages {
				modes = append(modes, "stream")
			}
			for _, mode := range modes {
				f := d.function(t, host, env.ResponseMode, mode)
				for name, want := range statuses[host] {
					event, err := os.ReadFile(filepath.Join("..", "..", "..", "events", host, name+".json"))
					if err != nil {
						t.Fatal(err)
					}
					agent := d.NewAgent(t) // one of the events revokes its key
					got, err := send(t, f, bytes.ReplaceAll(event, []byte("${KEY}"), []byte(agent.Key)))
					if status, _, _ := strings.Cut(got, " "); status != want || err != nil {
						t.Errorf("%s, %s: want %s, got %s%v", name, mode, want, got, err)
					}
				}
			}
			files, _ := filepath.Glob(filepath.Join("..", "..", "..", "events", host, "*.json"))
			if len(files) != len(statuses[host]) {
				t.Errorf("%d events, %d expectations", len(files), len(statuses[host]))
			}
		})
	}
}

// statuses are the answers to the events of a host, in an empty workspace whose key is filled in.
var statuses = map[string]map[string]string{
	"api": {
		"access-link-resolve": "400", "access-link-resolve-base64": "404", "agent-view": "404", "agent-view-public": "404",
		"agent-view-revision": "404", "artifact-delete": "404", "artifacts-list": "400", "cli-version": "200",
		"discovery":    "200",
		"file-content": "404", "healthz": "200", "healthz-head": "200", "openapi": "200", "path-beta": "404",
		"path-decoded":       "404",
		"path-with-fragment": "404", "path-with-percent": "404", "path-with-query": "404", "provision": "201",
		"provision-ipv6":   "201",
		"revision-publish": "404", "revisions-list": "404", "revoke-current": "200", "usage-policy": "200", "whoami": "200",
		"whoami-anonymous": "401", "whoami-two-credentials": "400",
	},
	"upload": {
		"file-put": "404", "healthz": "200", "openapi": "200", "session-create": "200", "session-create-anonymous": "401",
		"session-create-base64": "200", "session-finalize": "404",
	},
	"app": {
		"healthz": "200", "home": "200", "home-post": "405", "link-resolve": "404", "link-resolve-cross-site": "403",
		"link-resolve-old-browser": "404", "missing": "404", "robots": "200", "viewer": "200", "viewer-malformed": "404",
	},
	"mcp": {
		"anonymous": "401", "api-key": "401", "authorization-server": "200", "delete": "405", "healthz": "200",
		"openapi": "200", "origin-null": "403", "protected-resource": "200", "protected-resource-below": "200",
		"root": "200", "tools-list": "401",
	},
	"render": {"healthz": "200", "page": "404"},
	"content": {
		"file": "404", "file-cookies": "404", "file-dots": "404", "file-encoded-path": "404", "file-encoded-slash": "404",
		"file-etags": "404",
		"file-frame": "404", "file-head": "404", "file-malformed-escape": "400", "file-no-address": "404",
		"file-odd-characters": "404",
		"file-post":           "404", "file-query": "404", "file-range": "404", "file-ranges": "404", "healthz": "200",
		"missing": "404", "openapi": "200",
	},
}

// contentEvent asks the content function for a URL.
func contentEvent(t *testing.T, target string) []byte {
	t.Helper()
	_, path, _ := strings.Cut(strings.TrimPrefix(target, "http://"), "/")
	event, err := json.Marshal(map[string]any{
		"httpMethod": "GET", "path": "/" + path, "multiValueHeaders": map[string][]string{"Host": {"127.0.0.1"}},
		"requestContext": map[string]any{"domainName": "127.0.0.1", "identity": map[string]any{"sourceIp": "127.0.0.1"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return event
}

func TestAFileIsStreamedAndAnEngineThatEndsBreaksItOff(t *testing.T) {
	d := deploy(t)
	agent := d.NewAgent(t)
	film := bytes.Repeat([]byte("0123456789abcdef"), 10<<16) // 10 MiB: more than a buffered answer may be
	p, err := agent.PublishFiles(t.Context(), "Film", "", wire.File{Path: "film.mp4", Body: film})
	if err != nil {
		t.Fatal(err)
	}
	f := d.function(t, "content", env.ResponseMode, "stream")
	got, err := send(t, f, contentEvent(t, p.RevisionContentURL))
	head, body, _ := strings.Cut(got, "\n\n")
	if err != nil || !strings.HasPrefix(head, "200 OK\n") || body != string(film) {
		t.Fatalf("%s: %d of %d bytes, %v", head, len(body), len(film), err)
	}
	broken := brokenS3(t, d.settings[env.S3Endpoint], len(film)/2)
	f = d.function(t, "content", env.ResponseMode, "stream", env.S3Endpoint, broken)
	got, err = send(t, f, contentEvent(t, p.RevisionContentURL))
	var failure *runtime.Failure
	head, body, _ = strings.Cut(got, "\n\n")
	if !errors.As(err, &failure) || failure.Type != "AnswerCut" || !strings.Contains(head, "Content-Length: 10485760") ||
		len(body) >= len(film) {
		t.Errorf("%s: %d bytes, %v", head, len(body), err)
	}
	if again, err := send(t, f, contentEvent(t, d.Origins.Content+"/healthz")); err != nil ||
		!strings.HasPrefix(again, "200 OK\n") {
		t.Errorf("the function did not survive: %s %v", again, err)
	}
	if log := d.log.String(); !strings.Contains(log, `"code":"storage_unavailable"`) ||
		!strings.Contains(log, `"requestId":"`) {
		t.Errorf("the log does not tell: %s", log)
	}
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
	if got, err := send(t, f, contentEvent(t, d.Origins.Content+"/healthz")); err != nil ||
		!strings.HasPrefix(got, "200 OK\n") {
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
