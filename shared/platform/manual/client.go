package manual

import "strings"

// Client is a program that speaks the Model Context Protocol, and the commands with which its person connects it.
type Client struct {
	Name   string
	Add    string // for all folders, not only for the one where it is run
	SignIn string // what follows Add; empty: Add signs in itself
	Inside bool   // SignIn is typed into the program, not into a shell
}

// Clients returns the programs that have commands of their own for an MCP host. The commands were run with
// @anthropic-ai/claude-code 2.1.330, @openai/codex 0.169.0, @google/gemini-cli 0.61.0 and opencode-ai 1.18.33.
func Clients(mcp string) []Client {
	return []Client{
		{
			Name:   "Claude Code",
			Add:    "claude mcp add --transport http --scope user " + Name + " " + mcp,
			SignIn: "claude mcp login " + Name,
		},
		{Name: "Codex", Add: "codex mcp add " + Name + " --url " + mcp},
		{
			Name:   "Gemini CLI",
			Add:    "gemini mcp add -s user -t http " + Name + " " + mcp,
			SignIn: "/mcp auth " + Name,
			Inside: true,
		},
		{
			Name:   "OpenCode",
			Add:    "opencode mcp add " + Name + " --url " + mcp,
			SignIn: "opencode mcp auth " + Name,
		},
	}
}

// Connect returns the command of our own command line that connects the programs of a machine to a deployment.
func Connect(api string) string { return "VITRINE_URL=" + api + " vitrine connect" }

// ClientTable returns the rows of a table of the clients in markdown: name, how to add it, how to sign in.
func ClientTable(mcp string) string {
	var to strings.Builder
	for _, c := range Clients(mcp) {
		signIn := "`" + c.SignIn + "`"
		switch {
		case c.SignIn == "":
			signIn = "the command does it"
		case c.Inside:
			signIn += ", typed into it"
		}
		to.WriteString("| " + c.Name + " | `" + c.Add + "` | " + signIn + " |\n")
	}
	return strings.TrimSuffix(to.String(), "\n")
}
