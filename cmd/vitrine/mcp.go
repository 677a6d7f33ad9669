package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/secret"
	"vitrine/cmd/vitrine/stdio"
	"vitrine/cmd/vitrine/vault"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// mcpFlags are the flags of mcp.
type mcpFlags struct {
	allow      []string // folders that may be published from besides those of the client
	allSecrets bool     // publish files even though they look like secrets
}

func (a *app) mcpCommand() *cobra.Command {
	var w mcpFlags
	var server string
	at := func(do func(context.Context) error) action {
		return func(ctx context.Context, _ []string) error {
			if server != "" {
				a.environ = append(a.environ, envURL+"="+server)
			}
			return do(ctx)
		}
	}
	cmd := a.command("mcp", "Serve agents' clients on this machine", mcpGuide, cobra.NoArgs,
		at(func(ctx context.Context) error { return a.mcp(ctx, w) }))
	cmd.Flags().StringArrayVar(&w.allow, "allow", nil, "also publish from this folder")
	cmd.Flags().BoolVar(&w.allSecrets, "allow-secret", false, "publish files that look like secrets, too")
	cmd.PersistentFlags().StringVar(&server, "server", "", "the server, instead of VITRINE_URL")
	cmd.AddCommand(a.command("login", "Sign in at the MCP host", mcpGuide, cobra.NoArgs, at(a.mcpLogin)))
	return cmd
}

// mcp serves the client that started this program, on stdin and stdout.
func (a *app) mcp(ctx context.Context, w mcpFlags) error {
	server, err := a.server()
	if err != nil {
		return err
	}
	s := &stdio.Server{
		Host: &stdio.Host{Access: a.helperAccess(server), HTTP: client.NewHTTP(), UserAgent: userAgent()},
		Publish: func(ctx context.Context, in stdio.Arguments, folders []string) (stdio.Published, error) {
			return a.publishPath(ctx, in, folders, w)
		},
		Places:  a.places(w.allow),
		SignIn:  "vitrine mcp login --server " + server,
		Version: version,
		Log:     a.screen.Note,
	}
	return s.Serve(ctx, a.in, a.out)
}

// helperAccess returns the stored token for the MCP host of a server, which it refreshes if need be.
func (a *app) helperAccess(server string) func(context.Context, secret.Text) (stdio.Access, error) {
	logins := a.vault()
	return func(ctx context.Context, refused secret.Text) (stdio.Access, error) {
		h, err := logins.HelperAccess(ctx, server, a.now(), refused, a.refreshHelper)
		return stdio.Access{URL: h.MCPURL, Token: h.Access}, err
	}
}

// refreshHelper refreshes the tokens of a helper, at the host that it was made for only.
func (a *app) refreshHelper(ctx context.Context, h vault.Helper) (vault.Helper, error) {
	b := *a // other requests refresh at the same time
	deployment, err := b.discover(ctx)
	if err != nil {
		return h, err
	}
	if deployment.Hosts.APIURL != h.APIURL || deployment.Hosts.MCPURL != h.MCPURL {
		return h, failure.New(failure.Auth, failure.Moved, "the server now names other hosts than at the sign-in")
	}
	authority, err := deployment.Authority(ctx)
	if err != nil {
		return h, err
	}
	tokens, err := authority.Helper(h.MCPURL).Refresh(ctx, h.Refresh)
	if err == nil {
		h.Access, h.ExpiresAt = tokens.Access, tokens.ExpiresAt
		h.Refresh = cmp.Or(tokens.Refresh, h.Refresh)
	}
	return h, err
}

// places returns the folders from which the client may have something published.
func (a *app) places(allowed []string) stdio.Places {
	p := stdio.Places{Allowed: allowed, Private: append(vault.Folders(a.env), configHomes(a.env)...)}
	if work, err := os.Getwd(); err == nil {
		p.Work = append(p.Work, work)
	}
	if project := a.env("CLAUDE_PROJECT_DIR"); project != "" {
		p.Work = append(p.Work, project)
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if home := a.env(name); home != "" {
			p.Homes = append(p.Homes, home)
		}
	}
	if person, err := user.Current(); err == nil {
		p.Homes = append(p.Homes, person.HomeDir)
	}
	for n, dir := range p.Allowed {
		p.Allowed[n], _ = filepath.Abs(dir) // fails only without a working folder, where it stays relative and matches no file
	}
	return p
}

// configHomes returns the folders of clients and of settings that variables name.
func configHomes(env func(string) string) (all []string) {
	for _, name := range []string{
		"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR", "APPDATA", "LOCALAPPDATA",
	} {
		if dir := env(name); dir != "" {
			all = append(all, dir)
		}
	}
	return all
}

// publishPath is publish for an agent on this machine. It has a screen of its own, because stdout is the agent's.
func (a *app) publishPath(
	ctx context.Context, in stdio.Arguments, folders []string, w mcpFlags,
) (out stdio.Published, err error) {
	path, err := stdio.Locate(in.Path, folders)
	if err != nil {
		return out, err
	}
	var result, notes bytes.Buffer
	b := *a
	b.out, b.err = &result, &notes
	b.terminal = false
	b.stdinTTY, b.stdoutTTY = false, false
	b.flags.json, b.flags.quiet = true, false
	b.open()
	flags := publishFlags{
		artifact:   string(in.Artifact),
		titled:     in.Title != nil,
		entrypoint: in.Entrypoint,
		allSecrets: w.allSecrets,
		within:     folders,
		threads:    in.Addresses,
	}
	for _, t := range in.Addresses {
		flags.addresses = append(flags.addresses, string(t.ThreadID))
	}
	if in.Title != nil {
		flags.title = *in.Title
	}
	if err := b.publish(ctx, path, flags); err != nil {
		return out, forTool(err)
	}
	return publishedPath(result.Bytes(), notes.String())
}

// arguments replaces the options of publish that are arguments of the tool.
var arguments = strings.NewReplacer("--title", "the argument title", "--entrypoint", "the argument entrypoint",
	"--artifact-id", "the argument artifact_id", "--addresses", "the argument addresses")

// forTool says of advice whose the options in it are, because an agent has only the arguments of the tool.
func forTool(err error) *failure.Failure {
	f := failure.Of(err)
	if f.Exit == failure.Auth {
		return f
	}
	if f.Hint = arguments.Replace(f.Hint); strings.Contains(f.Hint, "--") {
		f.Hint = strings.TrimSuffix(f.Hint, ".") + ". Options are those of vitrine publish, for a person at a terminal."
	}
	return f
}

// publishedPath returns the result of publish as that of the tool: ids, link and figures, without what is for programs
// that follow a publish.
func publishedPath(result []byte, notes string) (out stdio.Published, err error) {
	var p published
	if err := json.Unmarshal(result, &p); err != nil {
		return out, err
	}
	out.Value, err = json.Marshal(struct {
		Artifact   id.Artifact `json:"artifact_id"`
		Revision   id.Revision `json:"revision_id"`
		Title      string      `json:"title"`
		PrivateURL string      `json:"private_url"`

		Addressed []id.Thread              `json:"addressed,omitzero"`
		Skipped   []contract.SkippedThread `json:"skipped,omitzero"`
	}{p.ArtifactID, p.RevisionID, p.Title, p.URL, p.Addressed, p.Skipped})
	out.Line = p.Title + ": " + p.URL
	if p.Unchanged {
		out.Line = "Nothing changed, so there is no new revision. " + out.Line
	}
	out.Nudge = arguments.Replace(strings.TrimSpace(notes))
	return out, err
}

const mcpGuide = `vitrine mcp serves an agent's client on this machine by the Model Context Protocol.

  vitrine mcp                                           on stdin and stdout, as clients start it
  vitrine mcp --server https://vitrine.example.com      for an entry in a client's settings
  vitrine mcp login --server https://vitrine.example.com

It forwards all messages to the MCP host of the server, and adds the tool publish_path, which
publishes a file or folder from this machine's disk as vitrine publish does, with the same ignored
files, the same refused secrets, and continuing what was interrupted.

Signing in:
  The command login opens the browser, once for the login of this machine if there is none, and once
  for the tools of the MCP host. Without it the client has publish_path alone, which uses
  VITRINE_API_KEY or the login. The command logout of vitrine ends both.

What publish_path may publish:
  What is below the folders that the client tells (roots), or else below the folder in which the
  client starts this program, and CLAUDE_PROJECT_DIR. Links count as what they lead to. The root of
  a disk, a home folder and what is above it, and folders in which programs keep their settings are
  not allowed in this way; --allow allows any folder.

Only messages of the protocol are written to stdout, everything else to stderr. It ends when stdin
does.

Flags:
  --server URL    the server; takes precedence over VITRINE_URL, which few clients pass on
  --allow DIR     publish from DIR, too; may be repeated
  --allow-secret  publish files that look like secrets, too
  --json, --quiet, --color, --no-color   see vitrine help
`
