package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/browser"
	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/loopback"
	"vitrine/cmd/vitrine/screen"
	"vitrine/cmd/vitrine/vault"
)

// cleanupTimeout bounds the cleanup after an interrupt or a login, which leaves no unused key.
const cleanupTimeout = 15 * time.Second

func (a *app) loginCommand() *cobra.Command {
	var onDevice, fresh bool
	cmd := a.command("login", "Sign in", loginGuide, cobra.NoArgs,
		func(ctx context.Context, _ []string) error {
			if onDevice && fresh {
				return failure.New(failure.Invalid, failure.Usage, "--fresh needs a browser on this machine").
					Advise("Leave --device-code out: what a code allows never counts as a fresh sign-in.")
			}
			return a.login(ctx, onDevice, fresh)
		})
	cmd.Flags().BoolVar(&onDevice, "device-code", false, "sign in with a browser on any other device")
	cmd.Flags().BoolVar(&fresh, "fresh", false, "prove who you are again, also in a browser that is signed in")
	return cmd
}

// login exchanges a sign-in for an API key of this machine and stores it.
func (a *app) login(ctx context.Context, onDevice, fresh bool) error {
	server, err := a.server()
	if err != nil {
		return err
	}
	e := &loginFlow{app: a, server: server, fresh: fresh}
	if err := e.run(ctx, onDevice); err != nil {
		return err
	}
	return e.report()
}

// run signs in, stores the login, and revokes the one that it replaces.
func (f *loginFlow) run(ctx context.Context, onDevice bool) error {
	err := f.begin(ctx)
	if err != nil {
		return err
	}
	if onDevice {
		err = f.byDevice(ctx)
	} else {
		err = f.byBrowser(ctx)
	}
	if ctx.Err() != nil && !f.stored() {
		return failure.New(failure.Interrupted, failure.WasInterrupted, "interrupted before the login was complete").
			Advise("Nothing was stored; run the login again.")
	}
	if err != nil {
		return err
	}
	f.retire(ctx)
	if r := f.replaced; r != nil && (r.WorkspaceID != f.record.WorkspaceID || r.MemberEmail != f.record.MemberEmail) {
		_ = f.app.endHelper(ctx, f.server) // vitrine mcp must not go on as somebody else; its tokens are removed at least
	}
	return nil
}

// loginFlow is one login.
type loginFlow struct {
	app        *app
	server     string
	fresh      bool                                        // the person must prove their identity again
	first      func(context.Context, *client.Member) error // called first with the person's token; nil: no call
	deployment *client.Deployment
	authority  *client.Authority

	record   vault.Record
	place    vault.Place   // "" until the record is stored
	replaced *vault.Record // the previous record
}

func (f *loginFlow) stored() bool { return f.place != "" }

func (f *loginFlow) begin(ctx context.Context) (err error) {
	if f.deployment, err = f.app.discover(ctx); err == nil {
		f.authority, err = f.deployment.Authority(ctx)
	}
	return err
}

func (f *loginFlow) byBrowser(ctx context.Context) error {
	return f.app.byBrowser(ctx, browserSignIn{
		authority: f.authority,
		fresh:     f.fresh,
		ask:       "Open this page to sign in" + to(f.deployment) + ":",
		keep:      f.keep,
		page:      f.page,
	})
}

// browserSignIn is a sign-in in a browser on this machine.
type browserSignIn struct {
	authority *client.Authority
	fresh     bool   // the person must prove their identity again
	ask       string // what the person is asked to do, above the link
	keep      func(context.Context, client.Tokens) error
	page      func(ctx context.Context, err error) loopback.Page // what the browser shows at the end
}

// byBrowser waits for the redirect in a browser on this machine. It answers the browser last, so that the page can show
// the outcome.
func (a *app) byBrowser(ctx context.Context, s browserSignIn) error {
	state := rand.Text()
	l, err := loopback.Listen(state)
	if err != nil {
		return failure.New(failure.Other, failure.Network, "cannot listen on 127.0.0.1: %v", err).
			Advise("Sign in with vitrine login --device-code instead.")
	}
	attempt := s.authority.Begin(l.RedirectURI(), state, s.fresh)
	a.screen.Prompt(s.ask, "  "+attempt.URL)
	if a.environment().Open(attempt.URL) == nil {
		a.screen.Prompt("It opens in your browser now.")
	}
	tokens, err := a.waitForBrowser(ctx, l, attempt)
	if err == nil {
		err = s.keep(ctx, tokens)
	}
	l.Close(s.page(ctx, err))
	return err
}

func (a *app) waitForBrowser(
	ctx context.Context, l *loopback.Listener, attempt *client.Attempt,
) (tokens client.Tokens, err error) {
	late := failure.New(failure.Auth, failure.TimedOut, "no one signed in within %s", a.browse).
		Advise("Run vitrine login again, or vitrine login --device-code if the browser is on another machine.")
	waiting, stop := context.WithTimeoutCause(ctx, a.browse, late)
	defer stop()
	answer, err := l.Wait(waiting)
	if err != nil {
		return tokens, err
	}
	return attempt.Finish(ctx, answer)
}

// page returns the page that the browser shows at the end.
func (f *loginFlow) page(ctx context.Context, err error) loopback.Page {
	switch {
	case ctx.Err() != nil && !f.stored():
		return loopback.Page{Heading: "Sign-in interrupted", Text: "The command was stopped before the sign-in was complete."}
	case err != nil:
		return loopback.Page{Heading: "Sign-in failed", Text: screen.Scrub(failure.Of(err).Message)}
	}
	return loopback.Page{Done: true, Heading: "You are signed in", Text: summary(f.record) + "."}
}

// byDevice shows a code and waits until the person has entered it on another device.
func (f *loginFlow) byDevice(ctx context.Context) error {
	d, err := f.authority.StartDevice(ctx, hostname())
	if err != nil {
		return err
	}
	lines := []string{
		"Open this page on any device to sign in" + to(f.deployment) + ":", "  " + d.URI, "and type the code:", "  " + d.UserCode,
	}
	if d.Complete != "" {
		lines = append(lines, "or open it with the code filled in:", "  "+d.Complete)
	}
	f.app.screen.Prompt(append(lines, "Waiting; the code expires in "+
		screen.Count(int(d.Life.Round(time.Minute)/time.Minute), "minute")+".")...)
	tokens, err := f.authority.Await(ctx, d)
	if err != nil {
		return err
	}
	return f.keep(ctx, tokens)
}

// to names a deployment in a sentence, if its owner gave it a name.
func to(d *client.Deployment) string {
	if d.Hosts.Name == "" {
		return ""
	}
	return " to " + d.Hosts.Name
}

// keep creates the key and stores it. From the call that creates the key on, an interrupt is delayed. So the key is
// known and can be revoked: a login that is not stored leaves no key at the server.
func (f *loginFlow) keep(ctx context.Context, tokens client.Tokens) error {
	uninterrupted, stop := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer stop()
	key, err := f.createKey(ctx, uninterrupted, tokens)
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	if err == nil {
		err = f.store(ctx)
	}
	if err == nil || f.stored() {
		return err
	}
	f.undo(ctx, key, tokens)
	return err
}

// createKey reads who signed in and creates an API key for this machine. The login succeeds even if the server cannot
// say who signed in.
func (f *loginFlow) createKey(ctx, uninterrupted context.Context, tokens client.Tokens) (client.Key, error) {
	member := f.deployment.As(tokens.Access)
	if f.first != nil {
		if err := f.first(ctx, member); err != nil {
			return client.Key{}, err
		}
	}
	who, err := member.Workspace(ctx)
	if err != nil && failure.Of(err).Exit != failure.NotFound {
		return client.Key{}, explainForbidden(err)
	}
	made, key, err := member.CreateKey(uninterrupted, "cli_login_"+f.app.newUUID(), "CLI ("+hostname()+")", 0)
	if err != nil {
		return client.Key{}, explainForbidden(err)
	}
	f.record = recordOf(f.server, f.deployment, made, tokens, who.WorkspaceMember.Email)
	return key, nil
}

// explainForbidden explains a refusal right after a sign-in.
func explainForbidden(err error) error {
	if f := failure.Of(err); f.Exit == failure.Auth {
		_ = f.Advise("You may not create API keys in this workspace; ask its owner.") // f points into err
	}
	return err
}

func (f *loginFlow) store(ctx context.Context) (err error) {
	f.place, err = f.app.vault().Update(ctx, f.server, func(old *vault.Record) (*vault.Record, error) {
		f.replaced = old
		return &f.record, nil
	})
	if err != nil {
		f.place = ""
	}
	return err
}

// undo revokes the tokens and the key of a login that is not stored.
func (f *loginFlow) undo(ctx context.Context, key client.Key, tokens client.Tokens) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer stop()
	var errs error
	if key != (client.Key{}) {
		errs = f.deployment.With(key).RevokeKey(ctx)
	}
	token := tokens.Refresh
	if token == "" {
		token = tokens.Access
	}
	if errs = errors.Join(errs, f.authority.Revoke(ctx, token)); errs != nil {
		f.app.screen.Prompt("The unfinished login could not be ended at the server; look for it among your API keys there.")
	}
}

// retire revokes the login that was replaced.
func (f *loginFlow) retire(ctx context.Context) {
	if f.replaced == nil {
		return
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer stop()
	if reason := f.app.end(ctx, f.deployment, f.replaced); reason != "" && reason != keyRejected {
		f.app.screen.Note(
			"Warning: the API key %s of the previous login could not be revoked (%s); revoke it at the server",
			f.replaced.KeyID, reason)
	}
}

// environment describes whether and how a browser can be opened.
func (a *app) environment() browser.Environment {
	return browser.Environment{
		OS:       runtime.GOOS,
		Terminal: a.terminal,
		Env:      a.env,
		LookPath: exec.LookPath,
	}
}

// hostname returns the name of this machine, short enough for the name of a key.
func hostname() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "unknown host"
	}
	const most = 80
	if runes := []rune(screen.Clean(name)); len(runes) > most {
		return string(runes[:most])
	}
	return screen.Clean(name)
}

// loggedIn is the JSON result of login.
type loggedIn struct {
	SchemaVersion string      `json:"schema_version"`
	Status        string      `json:"status"`
	MemberEmail   string      `json:"member_email,omitempty"`
	WorkspaceID   string      `json:"workspace_id"`
	APIKeyID      string      `json:"api_key_id"`
	PublicID      string      `json:"public_id"`
	ExpiresAt     *time.Time  `json:"expires_at"`
	Storage       vault.Place `json:"storage"`
	Server        string      `json:"server"`
}

func (f *loginFlow) report() error {
	r, s := f.record, f.app.screen
	if f.app.env(envKey) != "" {
		s.Note("VITRINE_API_KEY is set and takes precedence over this login; unset it to use the login")
	}
	if s.IsJSON() {
		return s.Object(loggedIn{
			schemaVersion, "logged_in", r.MemberEmail, string(r.WorkspaceID), string(r.KeyID), string(r.PublicID),
			r.ExpiresAt, f.place, f.server,
		})
	}
	rows := []screen.Row{
		{Name: "Workspace", Value: string(r.WorkspaceID)},
		{Name: "API key", Value: fmt.Sprintf("%s (ap_pk_…_%s_…)", r.KeyID, r.PublicID)},
	}
	if r.ExpiresAt != nil {
		rows = append(rows, screen.Row{Name: "Expires", Value: screen.When(*r.ExpiresAt, f.app.now())})
	}
	kept := "the keyring of this system"
	if f.place == vault.File {
		kept = f.app.vault().Path()
	}
	return s.Result(summary(r),
		append(rows, screen.Row{Name: "Kept in", Value: kept}, screen.Row{Name: "Server", Value: f.server})...)
}

const loginGuide = `vitrine login signs in and stores an API key for this machine.

  vitrine login                 opens a browser on this machine, and prints the link of the page
  vitrine login --device-code   prints a link and a code for a browser on any other device
  vitrine login --fresh         asks you to prove who you are again, as vitrine export needs it
  vitrine login --device-code --json

Agents in a sandbox: run vitrine login --device-code, show the person the address and the code that
it prints on stderr, keep the command running until it ends, then run vitrine whoami --json.
It needs no terminal and reads nothing from stdin.

What it does:
  The person signs in on the page and allows access. The command then creates an API key named after
  this machine, which may publish and read and expires after 90 days, and stores it with the token
  that acts for the person. The key of an earlier login is revoked.

Where it is stored:
  In the keyring of the system, or without one in credentials.json, which only you can read, in
  $XDG_CONFIG_HOME/vitrine or ~/.config/vitrine. There is one login for each server.
  VITRINE_API_KEY takes precedence over it. vitrine logout ends it.

Result with --json, one object on stdout:
  {"schema_version":"1","status":"logged_in","member_email":...,"workspace_id":...,
   "api_key_id":...,"public_id":...,"expires_at":...,"storage":"keyring" or "file","server":...}
  The link and the code are lines of text on stderr; an error is the last line there.

Exit codes:
  0 signed in and stored      2 refused, not for this login, or no sign-in in time
  6 server or network         8 a person declined it        130 interrupted; nothing is stored

Flags:
  --device-code   sign in with a browser on any other device
  --fresh         prove who you are again, also in a browser that is signed in
  --json, --quiet, --color, --no-color   see vitrine help
`
