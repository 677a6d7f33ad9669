package manual_test

import (
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/manual"
)

func TestEachClientAddsTheHostForAllFolders(t *testing.T) {
	const mcp = "https://mcp.test"
	for _, c := range manual.Clients(mcp) {
		program, _, _ := strings.Cut(c.Add, " ")
		expect.Has(t, c.Name, c.Add, program+" mcp add ", " vitrine", " "+mcp)
		if (program == "claude" || program == "gemini") && !strings.Contains(c.Add, " user ") {
			t.Errorf("%s adds it for one folder: %s", c.Name, c.Add)
		}
		if c.SignIn != "" && !c.Inside {
			expect.Has(t, c.Name, c.SignIn, program+" mcp ", " vitrine")
		}
	}
	expect.Has(t, "the set-up", textsOf(deployment())["/agents.md"], "    vitrine connect\n",
		manual.ClientTable(mcp)+"\n| Cursor, ",
		"| Gemini CLI | `gemini mcp add -s user -t http vitrine https://mcp.test` | `/mcp auth vitrine`, typed into it |",
		"| Codex | `codex mcp add vitrine --url https://mcp.test` | the command does it |")
}
