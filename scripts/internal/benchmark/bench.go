package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
)

// bench is a stack that is measured, with its clients.
type bench struct {
	options
	stderr io.Writer

	folder string // of all data; goes at the end
	place  place
	hosts  *hosts // in a process of this program
	side   *side  // instead of hosts: the stack of a commit
	bare   totals // of operations that ask engines only
	anyone *wire.Agent
	agents []*wire.Agent
	reads  [2]content // a small and a large file
}

// content is a file that is read, and where it is stored.
type content struct {
	workspace id.Workspace
	artifact  id.Artifact
	object    tree.Object
	url       string
	size      int64
}

// manyClients is how many clients work at the same time in every second row.
const manyClients = 16

func run(ctx context.Context, o options, stdout, stderr io.Writer) error {
	b := &bench{options: o, stderr: stderr}
	err := b.start(ctx)
	if err == nil {
		err = b.runMode(ctx, stdout)
	}
	if ctx.Err() != nil {
		err = ctx.Err() // asked to stop: what else broke broke by that
	}
	return errors.Join(err, b.stop())
}

func (b *bench) runMode(ctx context.Context, stdout io.Writer) error {
	if b.do != nil {
		return b.do(b, ctx, stdout)
	}
	return b.tabled(ctx, stdout)
}

// start brings up engines and hosts, a workspace for each client, and the files to read.
func (b *bench) start(ctx context.Context) error {
	b.say("starting engines and hosts")
	var err error
	if b.folder, err = os.MkdirTemp("", "vitrine-bench-"); err != nil {
		return err
	}
	b.place.tables = "bench"
	at := engine.Options{Dir: b.folder}
	if b.inMemory {
		at.Dir = ""
	}
	if b.place.engines, err = engine.Start(ctx, at); err != nil {
		return err
	}
	if err := b.serve(ctx); err != nil {
		return err
	}
	return b.provision(ctx)
}

// requestLog is the file of the request log.
const requestLog = "requests.log"

// serve starts the process of the hosts, anew if there is one.
func (b *bench) serve(ctx context.Context) error {
	if b.hosts != nil {
		err := b.hosts.close()
		if b.hosts = nil; err != nil {
			return err
		}
	}
	alone := *b.place.engines
	alone.DynamoDBProcess, alone.S3Process = nil, nil // are this process's to stop
	o := order{
		Engines: &alone,
		Data:    b.folder,
		Tables:  b.place.tables,
		Log:     filepath.Join(b.folder, requestLog),
		Counted: b.byName,
	}
	if b.functions {
		o.Functions = b.processes
	}
	var err error
	if b.hosts, err = startHosts(o, b.stderr); err != nil {
		return err
	}
	return b.discover(ctx, b.hosts.Origins.API)
}

func (b *bench) discover(ctx context.Context, api string) (err error) {
	b.anyone, err = wire.Discover(ctx, httpClient(nil), api)
	return err
}

// stop ends the hosts, then the engines, and removes the data.
func (b *bench) stop() error {
	var errs []error
	if b.hosts != nil {
		errs = append(errs, b.hosts.close())
	}
	if b.place.engines != nil {
		errs = append(errs, b.place.engines.Close())
	}
	if b.folder != "" {
		errs = append(errs, os.RemoveAll(b.folder))
	}
	return errors.Join(errs...)
}

// provision makes a workspace for each client, and publishes a small and a large file in the last one.
func (b *bench) provision(ctx context.Context) error {
	if err := b.openGate(ctx); err != nil {
		return err
	}
	clients := manyClients
	if b.functions {
		clients = 1 // a deployment lets one address have ten a minute
	}
	var w id.Workspace
	b.agents = nil
	for range clients {
		agent, made, err := b.anyone.Provision(ctx)
		if err != nil {
			return err
		}
		b.agents, w = append(b.agents, agent), made.WorkspaceID
	}
	g := b.agents[clients-1]
	files := []wire.File{{Path: "small.txt", Body: noise(smallSize)}, {Path: "large.bin", Body: noise(largeSize)}}
	draft, err := g.Draft(ctx, wire.NewKey(), wire.Declare("Read", files...), files...)
	if err != nil {
		return err
	}
	if _, err := g.Publish(ctx, wire.NewKey(), draft.ArtifactID, draft.RevisionID); err != nil {
		return err
	}
	view, err := g.AgentView(ctx, draft.ArtifactID)
	if err == nil && len(view.Files) != len(b.reads) {
		err = fmt.Errorf("the view has %d files, expected %d", len(view.Files), len(b.reads))
	}
	if err != nil {
		return err
	}
	for n, f := range view.Files {
		b.reads[n] = content{
			workspace: w,
			artifact:  draft.ArtifactID,
			object:    tree.Object{Session: draft.UploadSessionID, Entry: n},
			url:       f.URL,
			size:      f.SizeBytes,
		}
	}
	return nil
}

// profiled measures a row, and keeps a CPU profile of the hosts if asked for.
func (b *bench) profiled(ctx context.Context, r *row) error {
	if b.profiles == "" || r.bare {
		return b.measure(ctx, r, b.duration)
	}
	err := os.MkdirAll(b.profiles, 0o755)
	if err != nil {
		return err
	}
	file, err := filepath.Abs(filepath.Join(b.profiles, strings.ReplaceAll(r.id(), "/", "-")+".pprof"))
	if err == nil {
		_, err = b.hosts.ask(file)
	}
	if err == nil {
		err = b.measure(ctx, r, b.duration)
	}
	_, stopped := b.hosts.ask(stopCommand)
	return errors.Join(err, stopped)
}

// counted reads what the hosts have used.
func (b *bench) counted() (reading, error) {
	if b.side != nil {
		return b.side.reading(), nil
	}
	return b.hosts.ask(readCommand)
}

// running are the processes of the stack: all that this process has started.
func (b *bench) running() processes {
	if b.side != nil {
		return b.side.processes
	}
	return b.hosts.known
}

func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.stderr, format+"\n", args...) }
