package address

import (
	"encoding/json"
	"testing"
)

func TestDiscoveryNamesAnMCPHostOnlyWhereThereIsOne(t *testing.T) {
	const api, mcp = "https://api.example.com", "https://mcp.example.com"
	for name, c := range map[string]struct {
		origin string
		named  any
	}{
		"a host of its own":                    {mcp, mcp},
		"none":                                 {"", nil},
		"the api's origin, for want of a host": {api, nil},
	} {
		b := URLBuilder{Origins: Origins{API: api, MCP: c.origin}}
		text, err := json.Marshal(b.Discovery())
		var document map[string]any
		if err == nil {
			err = json.Unmarshal(text, &document)
		}
		got, told := document["mcp_url"]
		if err != nil || got != c.named || told != (c.named != nil) || document["api_url"] != api {
			t.Errorf("%s: %s %v", name, text, err)
		}
	}
}
