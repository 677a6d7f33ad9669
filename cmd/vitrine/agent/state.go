package agent

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// State is what can be told of an entry.
type State string

// States.
const (
	Written State = "written" // it is in the file, and the client cannot be asked
	Listed  State = "listed"  // the client's own list has it
	Works   State = "works"   // the client has called the server through it
)

// Ask has a client list its servers, and tells what that says of an entry. It changes no file.
func (a *Agents) Ask(ctx context.Context, ch Change) State {
	c := ch.Client
	if _, err := a.LookPath(c.program); err != nil {
		return Written
	}
	args := []string{"mcp", "list"}
	switch c.ID {
	case codex:
		if listed, _ := a.codexEntry(ctx, ch.Name); listed == ch.want.target() {
			return Listed
		}
		return Written
	case claudeCode:
		args = []string{"mcp", "get", ch.Name}
	case gemini, openCode:
	default:
		return Written
	}
	text, err := a.Run(ctx, c.program, args...)
	if err != nil {
		return Written
	}
	if c.ID == claudeCode {
		text = strings.ReplaceAll(text, "\n", " ") // it is about this entry alone
	}
	return stateIn(escapes.ReplaceAllString(text, ""), ch.Name)
}

var (
	escapes   = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
	connected = regexp.MustCompile(`(?i)[✓✔].*\bconnected\b`)
)

// stateIn reads a list that has the name of an entry and its state in one line.
func stateIn(list, name string) State {
	for line := range strings.Lines(list) {
		words := strings.FieldsFunc(line, func(r rune) bool { return unicode.IsSpace(r) || r == ':' })
		switch {
		case !slices.Contains(words, name):
		case connected.MatchString(line):
			return Works
		default:
			return Listed
		}
	}
	return Written
}

// codexEntry returns what an entry leads to in the list of Codex, and whether it is signed in.
func (a *Agents) codexEntry(ctx context.Context, name string) (leadsTo, auth string) {
	text, err := a.Run(ctx, "codex", "mcp", "list", "--json")
	var all []struct {
		Name      string         `json:"name"`
		Transport map[string]any `json:"transport"`
		Auth      string         `json:"auth_status"`
	}
	start := strings.Index(text, "[\n")
	if err != nil || start < 0 || json.Unmarshal([]byte(text[start:]), &all) != nil {
		return "", ""
	}
	for _, e := range all {
		if e.Name == name {
			return target(e.Transport), e.Auth
		}
	}
	return "", ""
}
