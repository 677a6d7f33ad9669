package main

import (
	"strings"

	"vitrine/cmd/vitrine/agent"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
)

// connected is the JSON result of connect.
type connected struct {
	SchemaVersion string            `json:"schema_version"`
	Server        string            `json:"server"`
	Clients       []connectedClient `json:"clients"`
	Skill         string            `json:"skill,omitempty"` // its file
}

type connectedClient struct {
	Client string      `json:"client"`
	Name   string      `json:"name"` // of the server in the client
	File   string      `json:"file"`
	Kind   string      `json:"kind"`
	State  agent.State `json:"state"`
	Known  bool        `json:"was_there"`
	Next   string      `json:"next,omitempty"`

	title string
}

// add adds a client. signIn is what signs local ones in.
func (r *connected) add(ch agent.Change, s agent.State, w agent.Want, signIn string) {
	c := connectedClient{
		Client: ch.Client.ID,
		Name:   ch.Name,
		File:   ch.File,
		Kind:   "remote",
		State:  s,
		Known:  ch.Known,
		title:  ch.Client.Name,
	}
	if w.Command != nil {
		c.Kind, c.Next = "local", signIn
		if signIn != "" && s == agent.Works { // vitrine mcp answers by itself, and calls no server without a sign-in
			c.State = agent.Listed
		}
	} else if s != agent.Works {
		c.Next = ch.Client.SignIn(ch.Name)
	}
	r.Clients = append(r.Clients, c)
}

func (a *app) tellConnected(r connected) error {
	if a.screen.IsJSON() {
		return a.screen.Object(r)
	}
	rows := make([]screen.Row, 0, len(r.Clients)+2)
	for _, c := range r.Clients {
		text := string(c.State) + ": " + c.Name + " (" + c.Kind + ") in " + c.File
		if c.Known {
			text += ", which had it before"
		}
		rows = append(rows, screen.Row{Name: c.title, Value: text})
		if c.Next != "" {
			a.screen.Note("%s signs in with: %s", c.title, c.Next)
		}
	}
	if r.Skill != "" {
		rows = append(rows, screen.Row{Name: "Skill", Value: r.Skill})
	}
	a.screen.Note("Start clients that are running again, so that they see it; vitrine disconnect takes it back")
	return a.screen.Result("Connected "+screen.Count(len(r.Clients), "client")+" to "+r.Server, rows...)
}

// printed is the JSON result of connect --print.
type printed struct {
	SchemaVersion string               `json:"schema_version"`
	Clients       []agent.Instructions `json:"clients"`
}

func (a *app) printClients(m agent.Machine, chosen []agent.Client, wants map[string]agent.Want) error {
	r := printed{SchemaVersion: schemaVersion}
	text := ""
	for _, c := range chosen {
		i, err := c.Instructions(m, wants[c.ID])
		if err != nil {
			return err
		}
		r.Clients = append(r.Clients, i)
		text += c.Name + ": " + i.File + "\n\n" + indented(i.Text) + "\n"
		if len(i.Command) > 0 {
			var words []string
			for _, word := range i.Command {
				if !strings.HasPrefix(word, "-") {
					word = failure.Quoted(word)
				}
				words = append(words, word)
			}
			text += "  or run:   " + strings.Join(words, " ") + "\n\n"
		}
		if i.Link != "" {
			text += "  or open:  " + i.Link + "\n\n"
		}
	}
	if a.screen.IsJSON() {
		return a.screen.Object(r)
	}
	return a.screen.Text(text)
}

func indented(text string) (lines string) {
	for line := range strings.Lines(text) {
		lines += "    " + line
	}
	return lines
}
