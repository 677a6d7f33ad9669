package protocol

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
)

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
