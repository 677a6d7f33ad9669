package agent

import (
	"encoding/base64"
	"net/url"
	"strings"

	"vitrine/cmd/vitrine/agent/document"
)

// serverName is the name of our entry.
const serverName = "vitrine"

// Want is what should stand in the files of clients.
type Want struct {
	Server  string   // base address of the deployment
	URL     string   // of its MCP host
	Command []string // that runs a server on this machine; nil for the remote one
	Project bool     // in the files of the project, else in those of the user
}

func (w Want) isLocal() bool { return w.Command != nil }

// entry returns the entry of a client.
func (w Want) entry(c Client) entry {
	if w.isLocal() {
		return c.local(w.Command)
	}
	return c.remote(w.URL)
}

// target returns what the entry leads to, in the form of the function target.
func (w Want) target() string {
	if w.isLocal() {
		return strings.Join(w.Command, " ")
	}
	return strings.TrimRight(w.URL, "/")
}

// otherName is the name of the entry for a deployment where another one has the usual name.
func otherName(server string) string {
	host := server
	if u, err := url.Parse(server); err == nil {
		host = u.Host
	}
	return serverName + "-" + strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(host))
}

// Instructions are the ways to add a server to a client by hand.
type Instructions struct {
	Client  string          `json:"client"`
	File    string          `json:"file"`
	Key     string          `json:"key"`
	Entry   document.Object `json:"entry"`             // the member of Key named vitrine
	Text    string          `json:"-"`                 // the entry as it would be written into an empty file
	Link    string          `json:"link,omitempty"`    // which the client opens and then asks
	Command []string        `json:"command,omitempty"` // which adds the entry
}

// Instructions returns how to add what is wanted to a client. It changes no file.
func (c Client) Instructions(m Machine, w Want) (Instructions, error) {
	e := w.entry(c)
	path := append(append([]string{}, c.key...), serverName)
	text, _, err := c.format.Add(nil, path, e)
	if err != nil {
		return Instructions{}, err
	}
	i := Instructions{
		Client: c.ID,
		File:   c.File(m, w.Project),
		Key:    strings.Join(c.key, "."),
		Entry:  e,
		Text:   string(text),
	}
	if i.Link, err = c.link(e); err == nil {
		i.Command, err = c.command(serverName, w)
	}
	return i, err
}

// link returns the address that installs an entry when it is opened; "" if the client has none.
func (c Client) link(e entry) (string, error) {
	switch c.ID {
	case cursor:
		text, err := document.Encode(e)
		return "cursor://anysphere.cursor-deeplink/mcp/install?name=" + serverName + "&config=" +
			url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(text))), err
	case vsCode:
		text, err := document.Encode(named(e))
		if strings.Contains(text, "%") { // VS Code decodes the link twice
			return "", err
		}
		return "vscode:mcp/install?" + strings.ReplaceAll(url.QueryEscape(text), "+", "%20"), err
	}
	return "", nil
}

// named is an entry with its name in it.
func named(e entry) entry { return append(entry{"name", serverName}, e...) }

// command returns the client's own command that adds an entry for the user; nil if it has none.
func (c Client) command(name string, w Want) ([]string, error) {
	switch {
	case w.Project:
		return nil, nil
	case c.ID == vsCode:
		text, err := document.Encode(named(w.entry(c)))
		return []string{c.program, "--add-mcp", text}, err
	}
	remote := map[string][]string{
		claudeCode: {"--transport", "http", "--scope", "user", name, w.URL},
		codex:      {name, "--url", w.URL},
		gemini:     {"-s", "user", "-t", "http", name, w.URL},
		openCode:   {name, "--url", w.URL},
	}
	local := map[string][]string{
		claudeCode: {"-s", "user", name, "--"},
		codex:      {name, "--"},
		gemini:     {"-s", "user", name},
		openCode:   {name, "--"},
	}
	args, ok := remote[c.ID]
	if w.isLocal() {
		args = append(local[c.ID], w.Command...)
	}
	if !ok {
		return nil, nil
	}
	return append([]string{c.program, "mcp", "add"}, args...), nil
}
