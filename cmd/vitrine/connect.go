package main

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/agent"
	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/journal"
	"vitrine/cmd/vitrine/vault"
)

// programTime bounds each run of a client's own program, which may start a server.
const programTime = 60 * time.Second

// turnsOfClients is how much longer than a publish another process may take, because programs of clients take seconds.
const turnsOfClients = 12

// connectFlags are the flags of connect.
type connectFlags struct{ remote, local, project, skill, print bool }

func (a *app) connectCommand() *cobra.Command {
	var w connectFlags
	cmd := a.command("connect [CLIENT...]", "Let the agents of this machine use the server", connectGuide,
		cobra.ArbitraryArgs,
		func(ctx context.Context, names []string) error {
			return resumable(ctx, a.connectClients(ctx, names, w))
		})
	cmd.ValidArgs = agent.IDs()
	cmd.Flags().BoolVar(&w.remote, "remote", false, "the client talks to the server itself")
	cmd.Flags().BoolVar(&w.local, "local", false, "the client starts vitrine mcp on this machine")
	cmd.Flags().BoolVar(&w.project, "project", false, "in the files of this folder, not in those of the user")
	cmd.Flags().BoolVar(&w.skill, "skill", false, "also write the skill")
	cmd.Flags().BoolVar(&w.print, "print", false, "only print what would be added")
	cmd.MarkFlagsMutuallyExclusive("remote", "local")
	cmd.MarkFlagsMutuallyExclusive("skill", "print")
	return cmd
}

// resumable explains the error of an interrupted command.
func resumable(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return failure.New(failure.Interrupted, failure.WasInterrupted, "interrupted before all was done").
		Advise("Run the command again: it goes on.")
}

// connectClients writes the server into the files of clients.
func (a *app) connectClients(ctx context.Context, names []string, w connectFlags) error {
	agents, err := a.agents()
	if err != nil {
		return err
	}
	chosen, err := a.chooseClients(ctx, agents.Machine, names, w)
	if err != nil {
		return err
	}
	server, err := a.server()
	if err != nil {
		return err
	}
	d, err := a.discover(ctx)
	if err != nil {
		return err
	}
	if d.Hosts.MCPURL == "" {
		return failure.New(failure.Invalid, failure.Usage, "%s has no MCP host", server).
			Advise("Whoever runs the server can give it one.")
	}
	wants := map[string]agent.Want{}
	for _, c := range chosen {
		if wants[c.ID], err = a.want(c, server, d.Hosts.MCPURL, w); err != nil {
			return err
		}
	}
	if w.print {
		return a.printClients(agents.Machine, chosen, wants)
	}
	var skill []byte
	if w.skill {
		if skill, err = d.Skill(ctx); err != nil {
			return err
		}
	}
	r := connected{SchemaVersion: schemaVersion, Server: server}
	changes, err := a.writeClients(ctx, agents, chosen, wants, func() (err error) {
		if w.skill {
			r.Skill, err = agents.WriteSkill(skill, w.project)
		}
		return err
	})
	if err != nil {
		return err
	}
	signIn, err := a.signInLocal(ctx, server, wants)
	if err != nil {
		return err
	}
	for _, ch := range changes {
		r.add(ch, agents.Ask(ctx, ch), wants[ch.Client.ID], signIn)
	}
	return a.tellConnected(r)
}

// signInLocal has the person sign in for vitrine mcp if a client starts it. It returns the command that does so where
// there is no person to ask.
func (a *app) signInLocal(ctx context.Context, server string, wants map[string]agent.Want) (command string, err error) {
	for _, w := range wants {
		if w.Command == nil || a.vault().LoadHelper(server) != nil {
			continue
		}
		if a.asks() {
			return "", a.signInForMCP(ctx, server)
		}
		return "vitrine mcp login --server " + server, nil
	}
	return "", nil
}

// agents returns what writes into the files of clients.
func (a *app) agents() (*agent.Agents, error) {
	m, err := a.machine()
	folder := vault.Folder(a.env)
	if err == nil && (m.Home == "" || folder == "") {
		err = errors.New("neither HOME nor USERPROFILE is set")
	}
	if err != nil {
		return nil, failure.New(failure.Invalid, failure.Unsettable, "cannot tell where clients have their files: %v", err).
			Advise("Set HOME to an absolute path, and run the command in a folder that is there.")
	}
	return &agent.Agents{Machine: m, Folder: folder, Run: a.runProgram}, nil
}

func (a *app) machine() (agent.Machine, error) {
	m := agent.Machine{OS: runtime.GOOS, Env: a.env, LookPath: a.lookPath}
	for _, home := range []string{a.env("HOME"), a.env("USERPROFILE")} {
		if m.Home == "" && filepath.IsAbs(home) {
			m.Home = filepath.Clean(home)
		}
	}
	var err error
	m.Dir, err = os.Getwd()
	return m, err
}

// runProgram runs a program of a client, without a terminal.
func (a *app) runProgram(ctx context.Context, program string, args ...string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, programTime)
	defer stop()
	path, err := a.lookPath(program)
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env, cmd.WaitDelay = a.environ, time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// chooseClients returns the clients that are named, else the one that is here, else those that the person names.
func (a *app) chooseClients(
	ctx context.Context, m agent.Machine, names []string, w connectFlags,
) (chosen []agent.Client, err error) {
	var here []string
	for _, c := range agent.All() {
		if c.IsHere(m) && (!w.project || c.HasProjects()) {
			here = append(here, c.ID)
		}
	}
	switch {
	case len(names) > 0:
	case w.print:
		for _, c := range agent.All() {
			if c.TakesRemote() || !w.remote {
				names = append(names, c.ID)
			}
		}
	case len(here) == 1:
		names = here
	case len(here) == 0:
		return nil, failure.New(failure.Invalid, failure.Usage, "none of the clients is on this machine").
			Advise("They are %s. vitrine connect --print prints what to add to each.", strings.Join(agent.IDs(), ", "))
	case a.asks():
		line, err := a.answer(ctx, "Which clients? all, or some of: "+strings.Join(here, ", "))
		if err != nil {
			return nil, err
		}
		if names = strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' }); line == "all" {
			names = here
		}
		if len(names) == 0 {
			return nil, failure.New(failure.Declined, failure.WasDeclined, "no client was named; nothing was changed")
		}
	default:
		return nil, failure.New(failure.Invalid, failure.Usage, "several clients are on this machine: %s",
			strings.Join(here, ", ")).Advise("Name those that are meant, for example: vitrine connect %s", here[0])
	}
	for _, name := range names {
		c, err := usableClient(m, name, w)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, c)
	}
	return chosen, nil
}

// usableClient returns the client with an id, if it can be connected as the flags say.
func usableClient(m agent.Machine, id string, w connectFlags) (agent.Client, error) {
	c, ok := agent.Find(id)
	switch {
	case !ok:
		return c, failure.New(failure.Invalid, failure.Usage, "there is no client %q", id).
			Advise("The clients are %s.", strings.Join(agent.IDs(), ", "))
	case w.print:
	case w.project && !c.HasProjects():
		return c, failure.New(failure.Invalid, failure.Usage, "%s has no servers of a project", c.Name).
			Advise("Leave --project out.")
	case !w.project && !c.IsHere(m):
		return c, failure.New(failure.Invalid, failure.Usage, "%s is not on this machine", c.Name).
			Advise("vitrine connect %s --print prints what to add to it elsewhere.", id)
	}
	return c, nil
}

// want returns what a client should have. Remote is the default where the client can reach the address safely.
func (a *app) want(c agent.Client, server, address string, w connectFlags) (agent.Want, error) {
	want := agent.Want{Server: server, URL: address, Project: w.project && c.HasProjects()}
	if w.remote && !c.TakesRemote() {
		return want, failure.New(failure.Invalid, failure.Usage, "%s takes no remote server from its file", c.Name).
			Advise("Add %s in its settings under Connectors, or give --local.", address)
	}
	if w.remote || !w.local && c.TakesRemote() && client.IsProtected(address) {
		return want, nil
	}
	program, err := a.executable()
	if err == nil {
		program, err = filepath.Abs(program)
	}
	if err == nil && strings.Contains(filepath.ToSlash(program), "/go-build") {
		err = errors.New("go run has built it for this run alone")
	}
	switch {
	case err != nil && w.print:
		program = "vitrine"
	case err != nil:
		return want, failure.New(failure.Invalid, failure.Usage, "%s cannot be told how to start this program: %v",
			c.Name, err).Advise("Install vitrine, or give --remote.")
	}
	want.Command = []string{program, "mcp", "--server", server}
	return want, nil
}

// writeClients plans all changes before it makes the first, and keeps other processes from the files meanwhile. after
// is done at the end.
func (a *app) writeClients(
	ctx context.Context, agents *agent.Agents, chosen []agent.Client, wants map[string]agent.Want, after func() error,
) (changes []agent.Change, err error) {
	unlock, err := a.lockClients(ctx, agents)
	if err != nil {
		return nil, err
	}
	defer unlock()
	for _, c := range chosen {
		ch, err := agents.Plan(c, wants[c.ID])
		if err != nil {
			return nil, err
		}
		changes = append(changes, ch)
	}
	for _, ch := range changes {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err := agents.Write(ctx, ch); err != nil {
			return nil, err
		}
	}
	return changes, after()
}

// lockClients waits until no other process connects or disconnects.
func (a *app) lockClients(ctx context.Context, agents *agent.Agents) (unlock func(), err error) {
	unlock, err = journal.Journal{Dir: agents.Folder}.Lock(ctx, "connect", "", turnsOfClients*a.turn)
	if busy, ok := errors.AsType[journal.Busy](err); ok {
		return nil, failure.New(failure.Conflict, failure.Connecting,
			"process %s is just connecting or disconnecting clients", cmp.Or(busy.PID, "unknown")).
			Advise("Wait until that process has ended, then run the command again.")
	}
	if err != nil && ctx.Err() == nil {
		err = failure.New(failure.Invalid, failure.Unsettable, "cannot record what is written: %v", err).
			Advise("Make %s a folder that you can write to.", agents.Folder)
	}
	return unlock, err
}

const connectGuide = `vitrine connect adds the server to the agents of this machine, as an MCP server.

  vitrine connect                        the client that is here; asks if there are several
  vitrine connect claude-code codex      these
  vitrine connect cursor --local         the client starts vitrine mcp, which has your login
  vitrine connect claude-code --project  in .mcp.json of this folder
  vitrine connect codex --skill          also write the skill
  vitrine connect --print                only print what to add, for all clients
  vitrine connect zed --json

Clients: claude-code, codex, gemini-cli, opencode, copilot-cli, cursor, vscode, claude-desktop,
windsurf, zed. Without a terminal, one of several has to be named (exit code 4, which lists them).

--remote is the default where the address is https or on this machine: the client signs in by a
browser, with the command that is said on stderr. Claude Desktop takes only --local from its file.

The entry is called vitrine; that of a second server has its host in the name. Everything else in
the files stays as it is, byte for byte. An entry of that name that leads elsewhere is exit code 7;
a file that cannot be read or written is exit code 4, client_file. Nothing is changed then. After an
interruption, run the command again. vitrine disconnect takes out what connect has written.

Of each client it says: written, if the entry is in its file; listed, if its own list has the entry;
works, if it has called the server through it.

--skill writes ~/.agents/skills/vitrine, or .agents/skills/vitrine with --project, which Codex,
Gemini CLI and OpenCode read, and a link to it for Claude Code. A changed one is exit code 7.

With --json: {"schema_version":"1","server":...,"clients":[{"client":...,"name":...,"file":...,
"kind":"remote" or "local","state":...,"was_there":...,"next":...}],"skill":...}; with --print
clients[{client, file, key, entry, link, command}].

Flags:
  --remote   the client talks to the server itself
  --local    the client starts vitrine mcp on this machine
  --project  in the files of this folder, not in those of the user
  --skill    also write the skill
  --print    only print what would be added, also for clients that are not here
`
