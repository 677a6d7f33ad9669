package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"vitrine/functions/assembly"
	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/internal/restore/journal"
	"vitrine/scripts/local/engines"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/manual"
	"vitrine/shared/platform/policy"
)

// tablePrefix names the tables of the local stack.
const tablePrefix = "vitrine"

// drainTimeout is how long running requests may take when the stack stops.
const drainTimeout = 10 * time.Second

// local is the running stack, its parts in the order in which they start.
type local struct {
	options
	out, log io.Writer

	folder  *folder
	engines *engines.Engines
	stack   *stack.Stack
	cli     *async.Future[struct{}] // offered; its build ends with endCLI
	endCLI  context.CancelFunc
}

// start starts every part, logs it, and returns when every host is healthy.
func (l *local) start(ctx context.Context) error {
	began := time.Now()
	for _, step := range []func(context.Context) error{l.openFolder, l.startEngines, l.startHosts} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	l.welcome()
	l.say("ready in %.1f s; Ctrl-C stops everything", time.Since(began).Seconds())
	l.startCLI(ctx)
	return nil
}

func (l *local) openFolder(context.Context) error {
	var err error
	if l.folder, err = openFolder(l.data, l.base); err != nil {
		return err
	}
	if err := journal.Serves(l.folder.path); err != nil {
		return err
	}
	if l.folder.temporary {
		l.say("data     in memory and in %s until the end", l.folder.path)
	} else {
		l.say("data     in %s, kept over restarts", l.folder.path)
	}
	return nil
}

func (l *local) startEngines(ctx context.Context) error {
	l.say("engines  DynamoDB and S3 start")
	o := engines.Options{
		Dir:          l.folder.path,
		DynamoDBPort: l.base + engines.DynamoDBOffset,
		S3Port:       l.base + engines.S3Offset,
		Log:          l.log,
	}
	if l.folder.temporary {
		o.Dir = ""
	}
	var err error
	l.engines, err = engines.Start(ctx, o)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w; --ports BASE moves all ports", err)
	}
	return err
}

func (l *local) startHosts(ctx context.Context) error {
	if l.lambda {
		l.say("hosts    tables are made, templates and functions too if they are old, and the hosts start")
	} else {
		l.say("hosts    tables are made and the hosts start")
		assembly.SetMemory(os.Getenv)
	}
	numbers := limits.Default()
	numbers.Off, numbers.Cache = l.limitsOff, l.cache
	numbers.Bundles = stack.JobsEvery
	numbers.Tiers = policy.Default(false).Tiers
	file, err := l.policyFile()
	if err != nil {
		return err
	}
	l.stack, err = stack.Start(ctx, stack.Options{
		Engines:    l.engines,
		BasePort:   l.base,
		Data:       l.folder.path,
		Tables:     tablePrefix,
		Limits:     numbers,
		PolicyFile: file,
		Now:        time.Now,
		Log:        slog.New(slog.NewTextHandler(l.log, nil)),
		Lambda:     l.lambda,
		OwnOrigins: !l.shared,
		JobsWait:   l.jobsWait,
		// a machine may have no way out, and programs that register need none
		NoClientDocuments: true,
		Output:            l.log,
	})
	if err != nil {
		return err
	}
	for _, h := range l.hosts() {
		if err := healthy(ctx, h.url); err != nil {
			return fmt.Errorf("the %s host is not healthy: %w", h.name, err)
		}
	}
	return nil
}

// jobsWait reports whether the data was restored and nothing in it may end yet.
func (l *local) jobsWait() bool { return journal.JobsWait(l.folder.path) }

// policyFile returns a file with the policy; empty without one.
func (l *local) policyFile() (string, error) {
	if l.policy == "" {
		return "", nil
	}
	file := filepath.Join(l.folder.path, "policy.json")
	return file, os.WriteFile(file, []byte(l.policy), 0o600)
}

// healthTimeout bounds the first answer of a host, whose function may have to start.
const healthTimeout = 15 * time.Second

// healthy returns when a host has answered, whose ports are taken already.
func healthy(ctx context.Context, url string) error {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/healthz", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		err = errors.New(response.Status)
	}
	return errors.Join(err, response.Body.Close())
}

// stay returns nil when ctx ends and an error when a part of the stack does. It warns of an old copy once a day.
func (l *local) stay(ctx context.Context) error {
	day := time.NewTicker(limits.Day)
	defer day.Stop()
	for {
		l.warnOfOldCopy(ctx)
		select {
		case <-ctx.Done():
			return nil
		case err := <-l.stack.Failed():
			return fmt.Errorf("a host stopped by itself: %w", err)
		case <-ended(l.engines.DynamoDBProcess):
			return errors.New("the DynamoDB engine ended by itself: see above, then start the stack again")
		case <-ended(l.engines.S3Process):
			return errors.New("the S3 engine ended by itself: see above, then start the stack again")
		case <-day.C:
		}
	}
}

// warnOfOldCopy prints when the data was last copied if that is too long ago. Data that was never copied gives no line.
func (l *local) warnOfOldCopy(ctx context.Context) {
	client := l.engines.DynamoDBClient()
	at, err := dynamo.New(client, dynamo.Named(tablePrefix)).Copies.Newest(ctx)
	if err != nil || at.IsZero() || time.Since(at) <= limits.CopyAge {
		return
	}
	l.say("copy     the newest copy of the data is from %s: run scripts/backup", at.Format("2006-01-02 15:04 MST"))
}

// ended returns a channel that never closes for an engine that the environment names.
func ended(p *engines.Process) <-chan struct{} {
	if p == nil {
		return nil
	}
	return p.Ended()
}

// stop drains the hosts, then closes the engines, then gives the folder back.
func (l *local) stop() error {
	var errs []error
	if l.folder != nil {
		l.say("stopping")
	}
	if l.cli != nil {
		l.endCLI()
		_, err := l.cli.Wait()
		errs = append(errs, err)
	}
	if l.stack != nil {
		ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
		defer cancel()
		errs = append(errs, l.stack.Close(ctx))
	}
	if l.engines != nil {
		errs = append(errs, l.engines.Close())
	}
	if l.folder != nil {
		errs = append(errs, l.folder.close())
	}
	return errors.Join(errs...)
}

// namedURL is one line of the table of addresses.
type namedURL struct{ name, url string }

func (l *local) hosts() []namedURL {
	o := l.stack.Origins
	return []namedURL{{"api", o.API}, {"upload", o.Upload}, {"content", o.Content}, {"app", o.App},
		{"mcp", o.MCP}, {"sign-in", l.stack.Identity.Issuer}}
}

// welcome prints the addresses and the first commands to try.
func (l *local) welcome() {
	all := append(l.hosts(), namedURL{"DynamoDB", l.engines.DynamoDB}, namedURL{"S3", l.engines.S3})
	for _, a := range all {
		l.say("  %-9s%s", a.name, a.url)
	}
	if l.jobsWait() {
		l.say("jobs     wait: nothing expires until `scripts/restore open --expire --data %s`", l.folder.path)
	}
	vitrine := "go run ./cmd/vitrine "
	if l.base != defaultBase {
		vitrine = "VITRINE_URL=" + l.stack.Origins.API + " " + vitrine
	}
	l.say("try      %spublish ./some/folder --ephemeral", vitrine)
	l.say("connect  %sconnect", vitrine)
	for _, c := range manual.Clients(l.stack.Origins.MCP) {
		l.say("         %s", c.Add)
	}
}

func (l *local) say(format string, args ...any) {
	fmt.Fprintln(l.out, strings.TrimRight(fmt.Sprintf(format, args...), "\n"))
}
