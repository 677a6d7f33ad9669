package agent

import (
	"path/filepath"

	"vitrine/cmd/vitrine/agent/document"
)

// Ids of the clients that differ from the others by more than the table says.
const (
	claudeCode = "claude-code"
	codex      = "codex"
	gemini     = "gemini-cli"
	openCode   = "opencode"
	cursor     = "cursor"
	vsCode     = "vscode"
)

var clients = []Client{
	{
		ID:      claudeCode,
		Name:    "Claude Code",
		program: "claude",
		folder:  func(m Machine) string { return m.own("CLAUDE_CONFIG_DIR", ".claude") },
		user:    func(m Machine) []string { return []string{m.own("CLAUDE_CONFIG_DIR", "", ".claude.json")} },
		project: []string{".mcp.json"},
		key:     []string{"mcpServers"},
		format:  document.JSON{},
		remote:  func(url string) entry { return entry{"type", "http", "url", url} },
		local:   func(command []string) entry { return append(entry{"type", "stdio"}, split(command)...) },
		next:    "claude mcp login NAME",
	},
	{
		ID:      codex,
		Name:    "Codex",
		program: "codex",
		folder:  func(m Machine) string { return m.own("CODEX_HOME", ".codex") },
		user:    func(m Machine) []string { return []string{m.own("CODEX_HOME", ".codex", "config.toml")} },
		project: []string{".codex/config.toml"},
		key:     []string{"mcp_servers"},
		format:  document.TOML{},
		remote:  plain,
		local:   split,
		tokens:  func(m Machine) string { return m.own("CODEX_HOME", ".codex", ".credentials.json") },
		next:    "codex mcp login NAME",
	},
	{
		ID:      gemini,
		Name:    "Gemini CLI",
		program: "gemini",
		folder:  func(m Machine) string { return m.in(".gemini") },
		user:    func(m Machine) []string { return []string{m.in(".gemini", "settings.json")} },
		project: []string{".gemini/settings.json"},
		key:     []string{"mcpServers"},
		format:  document.JSON{},
		remote:  func(url string) entry { return entry{"url", url, "type", "http"} },
		local:   split,
		tokens:  func(m Machine) string { return m.in(".gemini", "mcp-oauth-tokens.json") },
		next:    "/mcp auth NAME (in Gemini CLI)",
	},
	{
		ID:      openCode,
		Name:    "OpenCode",
		program: "opencode",
		folder:  func(m Machine) string { return m.xdg("opencode") },
		user: func(m Machine) []string {
			return []string{m.xdg("opencode", "opencode.jsonc"), m.xdg("opencode", "opencode.json")}
		},
		project: []string{"opencode.jsonc", "opencode.json"},
		key:     []string{"mcp"},
		format:  document.JSON{},
		remote:  func(url string) entry { return entry{"type", "remote", "url", url} },
		local:   func(command []string) entry { return entry{"type", "local", "command", command} },
		tokens: func(m Machine) string {
			return m.own("XDG_DATA_HOME", filepath.Join(".local", "share"), "opencode", "mcp-auth.json")
		},
		next: "opencode mcp auth NAME",
	},
	{
		ID:      "copilot-cli",
		Name:    "Copilot CLI",
		program: "copilot",
		folder:  func(m Machine) string { return m.in(".copilot") },
		user:    func(m Machine) []string { return []string{m.in(".copilot", "mcp-config.json")} },
		project: []string{".github/mcp.json"},
		key:     []string{"mcpServers"},
		format:  document.JSON{},
		remote: func(url string) entry {
			return entry{"tools", []string{"*"}, "type", "http", "url", url}
		},
		local: func(command []string) entry {
			return append(entry{"tools", []string{"*"}, "type", "local"}, split(command)...)
		},
	},
	{
		ID:      cursor,
		Name:    "Cursor",
		program: "cursor",
		folder:  func(m Machine) string { return m.in(".cursor") },
		user:    func(m Machine) []string { return []string{m.in(".cursor", "mcp.json")} },
		project: []string{".cursor/mcp.json"},
		key:     []string{"mcpServers"},
		format:  document.JSON{},
		remote:  plain,
		local:   split,
	},
	{
		ID:      vsCode,
		Name:    "VS Code",
		program: "code",
		folder:  func(m Machine) string { return m.settings("Code", "User") },
		user:    func(m Machine) []string { return []string{m.settings("Code", "User", "mcp.json")} },
		project: []string{".vscode/mcp.json"},
		key:     []string{"servers"},
		format:  document.JSON{},
		remote:  func(url string) entry { return entry{"type", "http", "url", url} },
		local:   func(command []string) entry { return append(entry{"type", "stdio"}, split(command)...) },
	},
	{
		ID:      "claude-desktop",
		Name:    "Claude Desktop",
		program: "claude-desktop",
		folder:  func(m Machine) string { return m.settings("Claude") },
		user:    func(m Machine) []string { return []string{m.settings("Claude", "claude_desktop_config.json")} },
		key:     []string{"mcpServers"},
		format:  document.JSON{},
		local:   split,
	},
	{
		ID:      "windsurf",
		Name:    "Windsurf",
		program: "windsurf",
		folder:  func(m Machine) string { return m.in(".codeium", "windsurf") },
		user:    func(m Machine) []string { return []string{m.in(".codeium", "windsurf", "mcp_config.json")} },
		key:     []string{"mcpServers"},
		format:  document.JSON{},
		remote:  func(url string) entry { return entry{"serverUrl", url} },
		local:   split,
	},
	{
		ID:      "zed",
		Name:    "Zed",
		program: "zed",
		folder:  func(m Machine) string { return m.settings(zedFolder(m)) },
		user:    func(m Machine) []string { return []string{m.settings(zedFolder(m), "settings.json")} },
		project: []string{".zed/settings.json"},
		key:     []string{"context_servers"},
		format:  document.JSON{},
		remote: func(url string) entry {
			return entry{"source", "custom", "type", "http", "url", url, "headers", entry{}}
		},
		local: func(command []string) entry {
			return append(append(entry{"source", "custom"}, split(command)...), "env", entry{})
		},
	},
}

// plain is the entry of a remote server that needs no more than its address.
func plain(url string) entry { return entry{"url", url} }

// split is the entry of a program whose arguments are apart from it.
func split(command []string) entry { return entry{"command", command[0], "args", command[1:]} }

func zedFolder(m Machine) string {
	if m.OS == "linux" {
		return "zed"
	}
	return "Zed"
}
