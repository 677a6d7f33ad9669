// Command vitrine publishes files as Artifacts and shares them by URL.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
	"vitrine/cmd/vitrine/vault"
	"vitrine/shared/platform/id"
)

// The environment that the program reads, beside what describes terminal, browser and home (NO_COLOR, CI, TERM, BROWSER,
// DISPLAY, WAYLAND_DISPLAY, XDG_CONFIG_HOME, HOME). Secrets are never accepted as flags.
const (
	envURL = "VITRINE_URL"     // {base_url}; all other addresses are discovered there
	envKey = "VITRINE_API_KEY" // API key that goes before a stored login
)

const defaultURL = "http://localhost:8701"

// browserTime is how long a person has to sign in through a browser of this machine.
const browserTime = 5 * time.Minute

func main() { os.Exit(int(run(system()))) }

// app is one invocation of the program: what it reads of its surroundings, and the screen once flags are known.
type app struct {
	args      []string
	environ   []string
	in        io.Reader
	out, err  io.Writer
	now       func() time.Time
	newUUID   func() string // an RFC 4122 UUID
	retry     client.RetryPolicy
	keyring   time.Duration // bounds each call to the keyring
	browse    time.Duration // how long login waits for a browser
	terminal  bool          // a person sits in front of it
	stdoutTTY bool          // out is a terminal
	stdinTTY  bool          // in is a keyboard

	flags  flags
	screen *screen.Screen
}

// flags are the flags that every command has.
type flags struct{ json, quiet, color, noColor, insecureHTTP bool }

// system is the invocation as the operating system gives it.
func system() *app {
	return &app{
		args:      os.Args[1:],
		environ:   os.Environ(),
		in:        os.Stdin,
		out:       os.Stdout,
		err:       os.Stderr,
		now:       time.Now,
		newUUID:   func() string { return string(id.NewWorkspace()) },
		retry:     client.DefaultRetryPolicy(),
		keyring:   vault.KeyringTime,
		browse:    browserTime,
		terminal:  term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd())),
		stdinTTY:  term.IsTerminal(int(os.Stdin.Fd())),
		stdoutTTY: term.IsTerminal(int(os.Stdout.Fd())),
	}
}

// run executes the command and returns the exit code.
func run(a *app) failure.Exit {
	ctx, stop := notifyContext(os.Interrupt, syscall.SIGTERM)
	defer stop(nil)
	a.open()
	err := a.execute(ctx)
	if err == nil {
		return failure.OK
	}
	f := failure.Of(err)
	a.screen.Fail(f)
	if s, ok := errors.AsType[signalled](context.Cause(ctx)); ok && s.by == syscall.SIGTERM && f.Exit == failure.Interrupted {
		return failure.Terminated
	}
	return f.Exit
}

// signalled is why a command ends before its work is done.
type signalled struct{ by os.Signal }

func (s signalled) Error() string { return s.by.String() }

// notifyContext is a context that the first of these signals ends; the second one ends the program.
func notifyContext(signals ...os.Signal) (context.Context, context.CancelCauseFunc) {
	ctx, stop := context.WithCancelCause(context.Background())
	came := make(chan os.Signal, 1)
	signal.Notify(came, signals...)
	go func() {
		defer signal.Stop(came)
		select {
		case s := <-came:
			stop(signalled{s})
		case <-ctx.Done():
		}
	}()
	return ctx, stop
}

// open makes the screen; once before flags are parsed, so that a bad flag can be reported in the wished form.
func (a *app) open() {
	a.screen = screen.New(screen.Options{
		Out:      a.out,
		Err:      a.err,
		Terminal: a.stdoutTTY,
		Environ:  a.environ,
		Quiet:    a.flags.quiet,
		JSON:     a.flags.json || a.asksForJSON(),
		Color:    a.flags.color,
		NoColor:  a.flags.noColor,
	})
}

// asksForJSON tells whether --json stands among the arguments, whatever else is wrong with them.
func (a *app) asksForJSON() bool {
	for _, arg := range a.args {
		switch arg {
		case "--":
			return false
		case "--json", "--json=true":
			return true
		}
	}
	return false
}

func (a *app) env(name string) (value string) {
	for _, e := range a.environ {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = strings.TrimSpace(v)
		}
	}
	return value
}

// caller makes the client of this invocation; all its calls share one request id.
func (a *app) caller() *client.Caller {
	return &client.Caller{
		HTTP:      client.NewHTTP(),
		UserAgent: userAgent(),
		RequestID: "cli_" + rand.Text(),
		Patience:  a.retry,
		Tell:      a.screen.Note,
		PlainHTTP: a.flags.insecureHTTP,
	}
}

// discover finds the hosts of the deployment.
func (a *app) discover(ctx context.Context) (*client.Deployment, error) {
	base, err := a.server()
	if err != nil {
		return nil, err
	}
	return a.caller().Discover(ctx, base)
}
