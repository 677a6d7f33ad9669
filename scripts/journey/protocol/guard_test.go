package protocol

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

// TestAFinishedReplayIsFreeAndComesBeforeTheLimits also repeats keys with other bodies, which are compared before they
// are judged.
func TestAFinishedReplayIsFreeAndComesBeforeTheLimits(t *testing.T) {
	t.Parallel()
	const uploads, commands = 4, 3 // create and finalize twice; publish twice and delete
	// The clock stands, so that no window ends in between.
	p := harness.NewBackendEnv(t, func(o *stack.Options) { o.Limits.Actor.Limit = uploads })
	g := p.NewAgent(t)
	done := harness.NewReplays(t, g)
	for range 3 {
		for name, a := range done.Repeat(t, g) {
			if a.Status != http.StatusOK {
				t.Errorf("replay of %s answers %d %s", name, a.Status, a.Code())
			}
		}
	}
	for range uploads - commands {
		harness.Do(t, g, "GET", p.Origins.API+"/v1/whoami", nil)
	}
	harness.WantRefused(t, harness.Do(t, g, "GET", p.Origins.API+"/v1/whoami", nil), 429, fault.RateLimitedActor)
	harness.WantRefused(t, harness.Must(harness.Create(g, wire.NewKey(), done.Create))(t), 429, fault.RateLimitedActor)
	before := p.Snapshot(t)
	for name, a := range done.Repeat(t, g) {
		if a.Status != http.StatusOK {
			t.Errorf("beyond the limit the replay of %s answers %d %s", name, a.Status, a.Code())
		}
	}
	for _, other := range []any{wire.Declare("other", harness.Page("p")), `{"title":"no files"}`} {
		harness.WantRefused(t, harness.Must(harness.Create(g, done.CreateKey, other))(t), 400, fault.InvalidIdempotencyKey)
	}
	large := strings.Repeat("x", limits.JSONBody+1)
	harness.WantRefused(t, harness.Must(harness.Create(g, done.CreateKey, large))(t), 400, fault.InvalidRequest)
	p.WantUnchanged(t, before)
}

var update = flag.Bool("update", false, "write the golden OpenAPI documents anew")

// TestTheDocumentsAreTheGoldenOnes compares what the hosts serve with openapi/; servers name this run's ports and are
// replaced by the documented defaults.
func TestTheDocumentsAreTheGoldenOnes(t *testing.T) {
	s := harness.NewEnv(t)
	g := &wire.Agent{HTTP: http.DefaultClient}
	for name, host := range map[string]struct{ origin, documented string }{
		"api":     {s.Origins.API, "http://localhost:8701"},
		"upload":  {s.Origins.Upload, "http://localhost:8702"},
		"content": {s.Origins.Content, "http://127.0.0.1:8703"},
		"mcp":     {s.Origins.MCP, "http://localhost:8705"},
	} {
		a, err := g.Do(ctx, "GET", host.origin+"/openapi.json", nil)
		if err != nil || a.Status != http.StatusOK {
			t.Fatal(name, a.Status, err)
		}
		var got bytes.Buffer
		if err := json.Indent(
			&got, bytes.ReplaceAll(a.Body, []byte(host.origin), []byte(host.documented)), "", "  ",
		); err != nil {
			t.Fatal(err)
		}
		got.WriteByte('\n')
		file := harness.Must(harness.GoldenPath(name))(t)
		if *update {
			if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(got.Bytes(), want) {
			t.Errorf(
				"%s: the document changed (%v); look at the change, then: go test ./scripts/journey/protocol -run Golden -update",
				name,
				err,
			)
		}
	}
}
