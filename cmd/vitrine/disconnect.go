package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/agent"
	"vitrine/cmd/vitrine/screen"
	"vitrine/cmd/vitrine/secret"
)

func (a *app) disconnectCommand() *cobra.Command {
	var project bool
	cmd := a.command("disconnect [CLIENT...]", "Take back what connect has added", disconnectGuide, cobra.ArbitraryArgs,
		func(ctx context.Context, names []string) error {
			return resumable(ctx, a.disconnect(ctx, names, project))
		})
	cmd.ValidArgs = agent.IDs()
	cmd.Flags().BoolVar(&project, "project", false, "from the files of this folder, not from those of the user")
	return cmd
}

// disconnected is the JSON result of disconnect.
type disconnected struct {
	SchemaVersion string          `json:"schema_version"`
	Server        string          `json:"server"`
	Clients       []agent.Removed `json:"clients"`
}

// disconnect takes out of the files of clients what connect has written, and then the skill.
func (a *app) disconnect(ctx context.Context, names []string, project bool) error {
	for _, name := range names {
		if _, err := usableClient(agent.Machine{}, name, connectFlags{print: true}); err != nil {
			return err
		}
	}
	server, err := a.server()
	if err != nil {
		return err
	}
	agents, err := a.agents()
	if err != nil {
		return err
	}
	unlock, err := a.lockClients(ctx, agents)
	if err != nil {
		return err
	}
	defer unlock()
	all, err := agents.Records(server, project)
	if err != nil {
		return err
	}
	r := disconnected{SchemaVersion: schemaVersion, Server: server, Clients: []agent.Removed{}}
	for _, entry := range all {
		if len(names) > 0 && !slices.Contains(names, entry.Client) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		done, err := agents.Remove(ctx, entry, a.revokeOf)
		if err != nil {
			return err
		}
		for _, note := range done.Notes {
			a.screen.Note("%s", note)
		}
		r.Clients = append(r.Clients, done)
	}
	if err := a.removeSkill(agents, len(r.Clients) < len(all), project); err != nil {
		return err
	}
	return a.tellDisconnected(r)
}

// removeSkill removes the skill once no client needs it.
func (a *app) removeSkill(agents *agent.Agents, needed, project bool) error {
	if needed {
		return nil
	}
	stays, err := agents.RemoveSkill(project)
	if stays != "" {
		a.screen.Note("%s was changed since, and stays", stays)
	}
	return err
}

// revokeOf ends a token that a client has got from the server.
func (a *app) revokeOf(ctx context.Context, clientID, token string) error {
	ctx, stop := context.WithTimeout(ctx, logoutTimeout)
	defer stop()
	d, err := a.discover(ctx)
	if err != nil {
		return err
	}
	authority, err := d.Authority(ctx)
	if err != nil {
		return err
	}
	return authority.RevokeOf(ctx, clientID, secret.Text(token))
}

func (a *app) tellDisconnected(r disconnected) error {
	if a.screen.IsJSON() {
		return a.screen.Object(r)
	}
	if len(r.Clients) == 0 {
		return a.screen.Result("Nothing to take back: vitrine connect has written nothing here for " + r.Server)
	}
	var rows []screen.Row
	gone := 0
	for _, c := range r.Clients {
		client, _ := agent.Find(c.Client)
		text := "removed " + c.Name + " from " + c.File
		if gone++; !c.Gone {
			gone--
			text = c.Name + " stays in " + c.File
		}
		rows = append(rows, screen.Row{Name: cmp.Or(client.Name, c.Client), Value: text})
	}
	return a.screen.Result("Disconnected "+screen.Count(gone, "client")+" from "+r.Server, rows...)
}

const disconnectGuide = `vitrine disconnect takes out of the agents of this machine what vitrine connect has added.

  vitrine disconnect               all clients of the server
  vitrine disconnect codex zed     these
  vitrine disconnect --project     in the files of this folder
  vitrine disconnect --json

A file that nothing else has changed is then as it was before, byte for byte. An entry that leads
elsewhere by now stays, and so does the skill if somebody has changed it. The skill goes with the
last client. Claude Code, Codex and OpenCode are signed out by their own commands, of which the
first alone tells the server; the sign-in of Gemini CLI is ended at the server and taken out of its
file. What could not be ended is said on stderr. It works without the server. An entry that was
there before connect is not touched.

With --json: {"schema_version":"1","server":...,"clients":[{"client":...,"name":...,"file":...,
"removed":...}]}. The exit code is 0 even if there was nothing to take back.

Flags:
  --project  from the files of this folder, not from those of the user
`
