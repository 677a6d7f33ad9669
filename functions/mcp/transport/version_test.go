package transport_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"vitrine/functions/mcp/transport"
	"vitrine/scripts/testkit/expect"
)

const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

const discover = `{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{` + meta + `}}`

// initialize is the handshake of a client of a revision.
func initialize(revision string) string {
	return `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"` + revision +
		`","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
}

// stateless sends a call as a client of the revision without handshake does.
func stateless(t *testing.T, body, method, name string, headers ...string) answer {
	t.Helper()
	return post(t, newHandler(), body, append([]string{
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name,
	}, headers...)...)
}

func TestRevisionsWithAHandshakeAreServedAlike(t *testing.T) {
	for _, revision := range transport.Handshakes {
		t.Run(revision, func(t *testing.T) {
			a := post(t, newHandler(), initialize(revision))
			wantResult(t, a, "0")
			var begun struct{ ProtocolVersion string }
			if err := json.Unmarshal(a.Result, &begun); err != nil || begun.ProtocolVersion != revision {
				t.Errorf("initialize answers %s", a.Result)
			}
			initialized := post(t, newHandler(), `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
				"Mcp-Protocol-Version", revision)
			if initialized.Code != http.StatusAccepted {
				t.Errorf("the notification is answered %d %s", initialized.Code, initialized.Body)
			}
			wantResult(t, post(t, newHandler(), ping, "Mcp-Protocol-Version", revision), "1")
			a = post(t, newHandler(), call, "Mcp-Protocol-Version", revision)
			wantResult(t, a, "7")
			if !strings.Contains(string(a.Result), `"structuredContent":{"text":"<b>"}`) ||
				strings.Contains(string(a.Result), "resultType") {
				t.Errorf("the tool answers %s", a.Result)
			}
		})
	}
}

func TestTheVersionHeaderOfAnOlderClientIsIgnored(t *testing.T) {
	for _, header := range []string{"2024-11-05", "2025-06-18", "2026-07-27", "2999-01-01", "x", ""} {
		wantResult(t, post(t, newHandler(), call, "Mcp-Protocol-Version", header), "7")
	}
}

func TestNegotiationNamesARevisionThatBeginsWithAHandshake(t *testing.T) {
	expect.Results(t, transport.Negotiated, map[string]string{
		"2025-03-26": "2025-03-26",
		"2025-06-18": "2025-06-18",
		"2025-11-25": "2025-11-25",
		"2024-11-05": "2025-06-18",
		"2026-07-28": "2025-06-18",
		"":           "2025-06-18",
	})
}

func TestTheRevisionWithoutAHandshakeIsServedWhereTheCallNamesIt(t *testing.T) {
	a := stateless(t, discover, "server/discover", "")
	wantResult(t, a, `"d"`)
	var found struct {
		ResultType        string
		SupportedVersions []string
	}
	err := json.Unmarshal(a.Result, &found)
	if err != nil || found.ResultType != "complete" || !slices.Contains(found.SupportedVersions, "2026-07-28") {
		t.Errorf("server/discover answers %s", a.Result)
	}
	body := strings.Replace(call, `"params":{`, `"params":{`+meta+`,`, 1)
	a = stateless(t, body, "tools/call", "echo")
	if wantResult(t, a, "7"); !strings.Contains(string(a.Result), `"resultType":"complete"`) {
		t.Errorf("the tool answers %s", a.Result)
	}
	for _, removed := range []string{"initialize", "ping"} {
		body := `{"jsonrpc":"2.0","id":7,"method":"` + removed + `","params":{` + meta + `}}`
		a := stateless(t, body, removed, "")
		wantRefused(t, a, http.StatusNotFound, transport.CodeMethodNotFound, "method_not_found")
		if string(a.ID) != "7" {
			t.Errorf("%s has the id %s", removed, a.ID)
		}
	}
}

func TestACallOfTheRevisionWithoutAHandshakeIsComplete(t *testing.T) {
	bare := `{"jsonrpc":"2.0","id":"d","method":"server/discover"`
	for _, body := range []string{
		bare + `}`,
		bare + `,"params":{}}`,
		bare + `,"params":{"_meta":{}}}`,
		bare + `,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
	} {
		a := stateless(t, body, "server/discover", "")
		wantRefused(t, a, http.StatusBadRequest, transport.CodeInvalidParams, "invalid_params")
		if string(a.ID) != `"d"` {
			t.Errorf("%s is answered with the id %s", body, a.ID)
		}
	}
}

func TestHeadersThatContradictTheCallAreRefused(t *testing.T) {
	body := strings.Replace(call, `"params":{`, `"params":{`+meta+`,`, 1)
	version := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "echo"}
	for name, headers := range map[string][]string{
		"no headers":       nil,
		"another revision": {"Mcp-Protocol-Version", "2025-11-25", "Mcp-Method", "tools/call", "Mcp-Name", "echo"},
		"no method":        {"Mcp-Protocol-Version", "2026-07-28", "Mcp-Name", "echo"},
		"another method":   {"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list", "Mcp-Name", "echo"},
		"another tool":     {"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "other"},
	} {
		a := post(t, newHandler(), body, headers...)
		wantRefused(t, a, http.StatusBadRequest, transport.CodeHeaderMismatch, "header_mismatch")
		if string(a.ID) != "7" {
			t.Errorf("%s: the id is %s", name, a.ID)
		}
	}
	wantResult(t, post(t, newHandler(), body, version...), "7")
}

func TestARevisionThatIsNotSpokenIsRefused(t *testing.T) {
	for _, revision := range []string{"2099-01-01", "2025-11-25", "x"} {
		body := strings.Replace(discover, "2026-07-28", revision, 1)
		a := post(t, newHandler(), body, "Mcp-Protocol-Version", revision, "Mcp-Method", "server/discover")
		var data struct {
			Supported []string
			Requested string
		}
		err := json.Unmarshal(a.Error.Data, &data)
		if a.Code != http.StatusBadRequest || a.Error.Code != transport.CodeUnsupportedVersion || err != nil ||
			data.Requested != revision || !slices.Equal(data.Supported, []string{"2026-07-28"}) || string(a.ID) != `"d"` {
			t.Errorf("%s is answered %d %s", revision, a.Code, a.Body)
		}
	}
}
