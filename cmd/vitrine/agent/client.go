// Package agent knows the programs in which agents run, and writes an MCP server into their lists of servers.
//
// The forms of files and entries are those of November 2026; docs/mcp.md says for which versions they were tried.
package agent

import (
	"path/filepath"
	"slices"
	"strings"

	"vitrine/cmd/vitrine/agent/document"
)

// Client is a program in which agents run.
type Client struct {
	ID, Name string

	program string                   // its command
	folder  func(m Machine) string   // which is there where the program has run
	user    func(m Machine) []string // files with the servers of a user; the first that is there counts, else the first
	project []string                 // the same of a project, from its folder; none if there are no such servers
	key     []string                 // of the servers in a file
	format  document.Format          // of a file
	remote  func(url string) entry   // nil if the client takes no remote server from a file
	local   func(command []string) entry
	tokens  func(m Machine) string // file in which it keeps what it got at sign-ins; nil if unknown or elsewhere
	next    string                 // what signs in after a remote server was added; NAME is that of the server
}

type entry = document.Object

// Machine is where clients are looked for.
type Machine struct {
	OS       string // as in runtime.GOOS
	Home     string
	Dir      string // the folder of the project
	Env      func(name string) string
	LookPath func(program string) (string, error) // exec.LookPath
}

func (m Machine) in(parts ...string) string {
	return filepath.Join(append([]string{m.Home}, parts...)...)
}

// xdg returns a path in the folder of settings of programs that follow the XDG specification on every system.
func (m Machine) xdg(parts ...string) string {
	base := m.Env("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		base = m.in(".config")
	}
	return filepath.Join(append([]string{base}, parts...)...)
}

// settings returns a path in the system's folder of settings.
func (m Machine) settings(parts ...string) string {
	switch appData := m.Env("APPDATA"); {
	case m.OS == "darwin":
		return m.in(append([]string{"Library", "Application Support"}, parts...)...)
	case m.OS == "windows" && appData != "":
		return filepath.Join(append([]string{appData}, parts...)...)
	}
	return m.xdg(parts...)
}

// own returns a path in the folder that a variable of the environment names, else in one of the home folder.
func (m Machine) own(variable, folder string, parts ...string) string {
	if base := m.Env(variable); filepath.IsAbs(base) {
		return filepath.Join(append([]string{base}, parts...)...)
	}
	return m.in(append([]string{folder}, parts...)...)
}

// Find returns the client with an id.
func Find(id string) (Client, bool) {
	i := slices.IndexFunc(clients, func(c Client) bool { return c.ID == id })
	if i < 0 {
		return Client{}, false
	}
	return clients[i], true
}

// All returns all clients.
func All() []Client { return slices.Clone(clients) }

// IDs returns the ids of all clients.
func IDs() (all []string) {
	for _, c := range clients {
		all = append(all, c.ID)
	}
	return all
}

// IsHere reports whether a client is on a machine.
func (c Client) IsHere(m Machine) bool {
	_, err := m.LookPath(c.program)
	return err == nil || exists(c.folder(m))
}

// HasProjects reports whether the client has servers of a project.
func (c Client) HasProjects() bool { return len(c.project) > 0 }

// TakesRemote reports whether the client takes remote servers from its file.
func (c Client) TakesRemote() bool { return c.remote != nil }

// SignIn returns what signs the client in at a server of a name; "" if it asks by itself.
func (c Client) SignIn(name string) string { return strings.ReplaceAll(c.next, "NAME", name) }

// File returns the file in which servers are listed.
func (c Client) File(m Machine, project bool) string {
	files := c.user(m)
	if project {
		files = nil
		for _, name := range c.project {
			files = append(files, filepath.Join(m.Dir, filepath.FromSlash(name)))
		}
	}
	if i := slices.IndexFunc(files, exists); i >= 0 {
		return files[i]
	}
	return files[0]
}

// path returns the path of an entry in a file. OpenCode may have its servers in one map more.
func (c Client) path(text []byte, name string) ([]string, error) {
	key := c.key
	if c.ID == openCode {
		inner, err := c.format.Find(text, append(slices.Clone(key), "servers"))
		if err != nil {
			return nil, err
		}
		if servers, ok := inner.(map[string]any); ok && servers["type"] == nil { // a server of that name has a type
			key = append(slices.Clone(key), "servers")
		}
	}
	return append(slices.Clone(key), name), nil
}

// target returns what an entry leads to: an address, or a command with its arguments.
func target(value any) string {
	members, _ := value.(map[string]any)
	for _, name := range []string{"url", "serverUrl", "httpUrl"} {
		if url, ok := members[name].(string); ok {
			return strings.TrimRight(url, "/")
		}
	}
	words, _ := members["args"].([]any)
	switch command := members["command"].(type) {
	case string:
		words = append([]any{command}, words...)
	case []any:
		words = command
	}
	var all []string
	for _, w := range words {
		if text, ok := w.(string); ok {
			all = append(all, text)
		}
	}
	return strings.Join(all, " ")
}
