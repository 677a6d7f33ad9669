package mcp

import (
	"net/http"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
)

// stateless is the newest revision of the protocol, which has no handshake.
const stateless = "2026-07-28"

// revisions are all that clients may speak.
var revisions = []string{"2025-03-26", "2025-06-18", "2025-11-25", stateless}

// TestTheClientOfTheSDKSpeaksEveryRevision connects as clients of each revision do. Older ones also ask for a stream of
// messages, which this host does not have.
func TestTheClientOfTheSDKSpeaksEveryRevision(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	p.Anyone.HTTP.Transport = http.DefaultTransport // the document lists no 405
	for _, revision := range revisions {
		c, who := connected(t, p)
		s := c.session(t, revision)
		var me contract.MCPWhoami
		if use(t, s, "whoami", nil, &me); me.WorkspaceMember.ID != who.ID {
			t.Errorf("in %s it acts for %+v", revision, me)
		}
	}
}

// FuzzMessages sends bodies that are nearly messages: none breaks the host.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"whoami","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"multi_edit","arguments":{"artifact_id":"art_00000000000000000000000000","path":"a","edits":[{"old_string":"a","new_string":"b"}]}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"artifact://art_00000000000000000000000000/a"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"publish-report","arguments":{"topic":"x"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"skills/get","params":{"name":"vitrine"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		`[{"jsonrpc":"2.0"}]`, `{"jsonrpc":"2.0","id":null}`, `{"id":1.5}`, "\xff", `{"a":{"a":{"a":[`, "",
	} {
		f.Add(seed)
	}
	p := harness.NewBackendEnv(f, harness.Unlimited)
	c, _ := connected(f, p)
	f.Fuzz(func(t *testing.T, body string) {
		newest := []string{"MCP-Protocol-Version", stateless, "Mcp-Method", "tools/call", "Mcp-Name", "whoami"}
		for _, headers := range [][]string{nil, newest} {
			if a := c.send(t, body, headers...); a.Status >= http.StatusInternalServerError || a.Status < http.StatusOK {
				t.Errorf("%q answers %d %.300s", body, a.Status, a.Body)
			}
		}
	})
}
