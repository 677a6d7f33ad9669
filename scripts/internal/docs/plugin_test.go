package docs_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/manual"
)

// registrySchema is for entries in the registry of the Model Context Protocol.
//
// Source: internal/validators/schemas/2025-12-11.json of github.com/modelcontextprotocol/registry, v1.8.9 (MIT).
const registrySchema = "testdata/server.schema.json"

// judgeEntry holds an entry against the schema of the registry.
func judgeEntry(t *testing.T, text string) error {
	t.Helper()
	schema := expect.Value(jsonschema.NewCompiler().Compile(registrySchema))(t)
	return schema.Validate(expect.Value(jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text))))(t))
}

func TestTheEntryForTheRegistryFitsItsSchema(t *testing.T) {
	text := read(t, "server.json")
	if err := judgeEntry(t, text); err != nil {
		t.Error(err)
	}
	var entry struct {
		Schema  string `json:"$schema"`
		Version string
		Remotes []struct {
			URL       string
			Variables map[string]struct{ IsRequired bool }
		}
	}
	expect.OK(t, json.Unmarshal([]byte(text), &entry))
	if !strings.Contains(read(t, "scripts/internal/docs/"+registrySchema), `"$id": "`+entry.Schema+`"`) {
		t.Errorf("the schema of server.json is %s", entry.Schema)
	}
	if entry.Version != contract.Release || len(entry.Remotes) != 1 || entry.Remotes[0].URL != "https://{host}/" ||
		!entry.Remotes[0].Variables["host"].IsRequired {
		t.Errorf("%+v", entry)
	}
}

func TestTheSchemaRefusesEntriesThatTheRegistryDoes(t *testing.T) {
	text := read(t, "server.json")
	for what, change := range map[string][2]string{
		"a name without a namespace": {`"io.github.vitrine/vitrine"`, `"vitrine"`},
		"a description of 101":       {`"Publish files as`, `"` + strings.Repeat("x", 101)},
		"an address without scheme":  {`"https://{host}/"`, `"{host}/"`},
		"another transport":          {`"streamable-http"`, `"stdio"`},
		"no version":                 {`"version"`, `"versions"`},
	} {
		if changed := strings.Replace(text, change[0], change[1], 1); changed == text || judgeEntry(t, changed) == nil {
			t.Errorf("%s is not refused", what)
		}
	}
}

// TestThePluginHoldsTheSkill checks what programs that install plugins require.
func TestThePluginHoldsTheSkill(t *testing.T) {
	type named struct{ Name, Version, Description, Source string }
	var plugin named
	var market struct {
		Name, Description string
		Owner             struct{ Name string }
		Plugins           []named
	}
	expect.OK(t, json.Unmarshal([]byte(read(t, ".claude-plugin/plugin.json")), &plugin),
		json.Unmarshal([]byte(read(t, ".claude-plugin/marketplace.json")), &market))
	if plugin.Name != manual.Name || plugin.Version != contract.Release || plugin.Description == "" {
		t.Errorf("the plugin is %+v, want the name %s and the version %s", plugin, manual.Name, contract.Release)
	}
	if market.Name == "" || market.Owner.Name == "" || market.Description == "" || len(market.Plugins) != 1 ||
		market.Plugins[0].Name != plugin.Name || market.Plugins[0].Source != "./" {
		t.Errorf("the marketplace is %+v", market)
	}
	if _, err := fs.Stat(root, "skills/"+plugin.Name+"/SKILL.md"); err != nil {
		t.Error(err)
	}
}

func TestTheDocumentOfTheMCPHostHasTheClientsOfTheManual(t *testing.T) {
	expect.Has(t, "docs/mcp.md", read(t, "docs/mcp.md"), "\n"+manual.ClientTable("{mcp_url}")+"\n", "vitrine connect")
}
