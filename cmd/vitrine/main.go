// Command vitrine publishes files as Artifacts and shares them by URL.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
	"vitrine/cmd/vitrine/vault"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/id"
)

// Environment variables of the program, in addition to those that describe terminal, browser and home (NO_COLOR, CI,
// TERM, BROWSER, DISPLAY, WAYLAND_DISPLAY, XDG_CONFIG_HOME, XDG_STATE_HOME, HOME). Secrets are never accepted as flags.
const (
	envURL = "VITRINE_URL"     // base URL of the server, where all other addresses are discovered
	envKey = "VITRINE_API_KEY" // takes precedence over a stored login
)

const defaultURL = "http://localhost:8701"

// browserTime is how long a person has to sign in through a browser on this machine.
const browserTime = 5 * time.Minute

func main() { os.Exit(int(run(system()))) }

// app is one invocation of the program: its environment, and the screen once flags are parsed.
type app struct {
	args       []string
	environ    []string
	in         io.Reader
	out, err   io.Writer
	now        func() time.Time
	pause      func(context.Context, time.Duration) error // waits, or returns early when the context ends
	beside     func(step func())                          // runs a step while the command goes on
	newUUID    func() string                              // an RFC 4122 UUID
	executable func() (string, error)                     // the path of this program
	lookPath   func(program string) (string, error)       // finds the program of a client
	retry      client.RetryPolicy
	keyring    time.Duration // bounds each call to the keyring
	browse     time.Duration // how long login waits for a browser
	turn       time.Duration // how long publish waits for another one of the same path
	terminal   bool          // stdin and stderr are terminals
	stdoutTTY  bool          // out is a terminal
	stdinTTY   bool          // in is a terminal

	flags      flags
	screen     *screen.Screen
	deployment *client.Deployment // nil unless a command has asked for it
}

// flags are the global flags.
type flags struct{ json, quiet, color, noColor, insecureHTTP bool }

// system returns the invocation with the environment of the process.
func system() *app {
	return &app{
		args:       os.Args[1:],
		environ:    os.Environ(),
		in:         os.Stdin,
		out:        os.Stdout,
		err:        os.Stderr,
		now:        time.Now,
		pause:      async.Sleep,
		beside:     func(step func()) { async.Start(func() error { step(); return nil }) },
		newUUID:    func() string { return string(id.NewWorkspace()) },
		executable: os.Executable,
		lookPath:   exec.LookPath,
		retry:      client.DefaultRetryPolicy(),
		keyring:    vault.KeyringTime,
		browse:     browserTime,
		turn:       turnTime,
		terminal:   term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd())),
		stdinTTY:   term.IsTerminal(int(os.Stdin.Fd())),
		stdoutTTY:  term.IsTerminal(int(os.Stdout.Fd())),
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
	if !errors.Is(err, errStopped) && !errors.Is(err, errUnhealthy) {
		a.screen.Fail(f)
	}
	if s, ok := errors.AsType[signalled](context.Cause(ctx)); ok && s.by == syscall.SIGTERM &&
		f.Exit == failure.Interrupted {
		return failure.Terminated
	}
	return f.Exit
}

// signalled is the cause of a context that a signal ended.
type signalled struct{ by os.Signal }

func (s signalled) Error() string { return s.by.String() }

// notifyContext returns a context that the first of these signals cancels. A second signal ends the program.
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

// open creates the screen. It is also called before flags are parsed, so that a bad flag is reported in the requested
// form.
func (a *app) open() {
	color, noColor := a.colors()
	a.screen = screen.New(screen.Options{
		Out:      a.out,
		Err:      a.err,
		Terminal: a.stdoutTTY,
		Environ:  a.environ,
		Quiet:    a.flags.quiet,
		JSON:     a.flags.json || a.asksForJSON(),
		Color:    color,
		NoColor:  noColor,
	})
}

// asksForJSON reports whether --json is among the arguments, even if others are invalid.
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

// caller returns the client of this invocation. All its calls share one request id.
func (a *app) caller() *client.Caller {
	return &client.Caller{
		HTTP:      client.NewHTTP(),
		UserAgent: userAgent(),
		RequestID: "cli_" + rand.Text(),
		Patience:  a.retry,
		Note:      a.screen.Note,
		PlainHTTP: a.flags.insecureHTTP,
	}
}

// discover finds the hosts of the deployment.
func (a *app) discover(ctx context.Context) (*client.Deployment, error) {
	base, err := a.server()
	if err != nil {
		return nil, err
	}
	a.deployment, err = a.caller().Discover(ctx, base)
	return a.deployment, err
}
