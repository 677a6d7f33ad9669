// Package harness runs deployments for tests across hosts: an Env has clients, a BackendEnv also access to its tables,
// and the other ones add what tests of a topic share.
package harness

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/conform"
	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/output"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

// Env is a running deployment, and a client that checks every answer against the golden documents.
type Env struct {
	*stack.Stack
	Options stack.Options
	Anyone  *wire.Agent // without credential
	Log     *output.Buffer
}

// collectSeldom lets garbage wait as long as it does in a function. It may take a GiB, because one process runs many
// deployments: with the memory of one function the collector took half of the processor time.
var collectSeldom = sync.OnceFunc(func() {
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(1 << 30)
})

// NewEnv starts a deployment with tables of its own; change may set options first. It makes every deployment that runs
// in the process of a test, so that the end of each scans its log for secrets.
func NewEnv(t testing.TB, change ...func(*stack.Options)) *Env {
	t.Helper()
	collectSeldom()
	d := &Env{Log: &output.Buffer{}}
	d.Options = stack.Options{
		Engines:     engine.Shared(t),
		Data:        t.TempDir(),
		Tables:      "journey-" + string(id.NewPublic()),
		Limits:      limits.Default(),
		Now:         time.Now,
		Log:         slog.New(slog.NewJSONHandler(d.Log, nil)),
		Output:      d.Log,
		Lambda:      os.Getenv("VITRINE_MODE") == "lambda",
		DisableJobs: true, // what is stored changes by requests alone
	}
	for _, f := range change {
		f(&d.Options)
	}
	var err error
	d.Stack, err = stack.Start(ctx, d.Options)
	if errors.Is(err, stack.ErrInProcess) { // what the test changes cannot be told to functions
		d.Options.Lambda = false
		d.Stack, err = stack.Start(ctx, d.Options)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		closing, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		d.Close(closing)
		said := d.Log.String()
		WantNoSecrets(t, said)
		if t.Failed() {
			logErrors(t, said)
		}
	})
	if d.Anyone, err = wire.Discover(ctx, d.newClient(t), d.Origins.API); err != nil {
		t.Fatal(err)
	}
	return d
}

// logErrors shows the lines of a log that say why a request failed.
func logErrors(t testing.TB, log string) {
	for line := range strings.Lines(log) {
		if strings.Contains(line, `"error":`) {
			t.Log(strings.TrimSpace(line))
		}
	}
}

// newClient returns a client that checks every answer of api, upload, content and mcp against its document. All its
// requests come from one address.
func (env *Env) newClient(t testing.TB) *http.Client {
	t.Helper()
	documents := map[string]*conform.Document{}
	for host, document := range Must(goldenDocuments())(t) {
		documents[strings.TrimPrefix(env.origin(host), "http://")] = document
	}
	dial := func(ctx context.Context, _, address string) (net.Conn, error) {
		if name, port, err := net.SplitHostPort(address); err == nil && strings.HasSuffix(name, ".localhost") {
			address = net.JoinHostPort("127.0.0.1", port) // browsers know these names by themselves, and Go asks for them
		}
		return new(net.Dialer).DialContext(ctx, "tcp4", address)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true, DialContext: dial}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     &conform.Transport{Base: transport, Documents: documents, Fail: func(err error) { t.Error(err) }},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (env *Env) origin(host string) string {
	return map[string]string{"api": env.Origins.API, "upload": env.Origins.Upload, "content": env.Origins.Content,
		"mcp": env.Origins.MCP}[host]
}

// NewAgent provisions a workspace and returns the agent that has its key.
func (env *Env) NewAgent(t testing.TB) *wire.Agent {
	t.Helper()
	g, _, err := env.Anyone.Provision(ctx)
	NoError(t, err)
	return g
}

// Must returns the value of a call that has to succeed: Must(call())(t).
func Must[T any](v T, err error) func(testing.TB) T { return expect.Value(v, err) }

// NoError ends the test on an error.
func NoError(t testing.TB, err error) {
	t.Helper()
	expect.OK(t, err)
}
