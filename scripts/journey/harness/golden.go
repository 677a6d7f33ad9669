package harness

import (
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"vitrine/scripts/local/engines"
	"vitrine/scripts/testkit/conform"
)

// GoldenPath returns where the golden OpenAPI document of a host is.
func GoldenPath(host string) (string, error) {
	root, err := engines.Root()
	return filepath.Join(root, "openapi", host+".json"), err
}

// ReadGolden unpacks the golden OpenAPI document of a host.
func ReadGolden(t testing.TB, host string, document any) {
	t.Helper()
	NoError(t, json.Unmarshal(Must(os.ReadFile(Must(GoldenPath(host))(t)))(t), document))
}

// goldenDocuments are the documents by host, parsed once for all deployments.
var goldenDocuments = sync.OnceValues(func() (map[string]*conform.Document, error) {
	out := map[string]*conform.Document{}
	for _, host := range []string{"api", "upload", "content", "mcp"} {
		path, err := GoldenPath(host)
		if err != nil {
			return nil, err
		}
		if out[host], err = conform.Load(path); err != nil {
			return nil, err
		}
	}
	return out, nil
})
