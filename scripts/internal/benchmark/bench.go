package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"vitrine/scripts/local/engines"
	"vitrine/scripts/testkit/wire"
)

// bench is a stack that is measured, with its clients.
type bench struct {
	options
	stderr  io.Writer
	program string // that serves; empty: this one

	folder  string // of all data; goes at the end
	engines *engines.Engines
	tables  string // the prefix of their names
	hosts   *hosts // in a process of their own
	own     totals // of operations that ask the engines only
	anyone  *wire.Agent
	agents  []*wire.Agent
}

// manyClients is how many clients work at the same time in every second row.
const manyClients = 16

// start brings up engines and hosts, and a workspace for each client.
func (b *bench) start(ctx context.Context) error {
	b.say("starting engines and hosts")
	var err error
	if b.folder, err = os.MkdirTemp("", "vitrine-bench-"); err != nil {
		return err
	}
	at := engines.Options{Dir: b.folder}
	if b.inMemory {
		at.Dir = ""
	}
	if b.engines, err = engines.Start(ctx, at); err != nil {
		return err
	}
	return b.serve(ctx, "bench")
}

// requestLog is the file of the request log.
const requestLog = "requests.log"

// serve starts the process of the hosts on tables, anew if there is one, and makes a workspace for each client.
func (b *bench) serve(ctx context.Context, tables string) error {
	if err := b.hosts.close(); err != nil {
		return err
	}
	b.tables = tables
	alone := *b.engines
	alone.DynamoDBProcess, alone.S3Process = nil, nil // are this process's to stop
	var err error
	b.hosts, err = startHosts(b.program, order{
		Engines: &alone,
		Data:    b.folder,
		Tables:  b.tables,
		Log:     filepath.Join(b.folder, requestLog),
		Counted: b.byName,
	}, b.stderr)
	if err != nil {
		return err
	}
	if b.anyone, err = wire.Discover(ctx, httpClient(), b.hosts.Origins.API); err != nil {
		return err
	}
	if err := b.openGate(ctx); err != nil {
		return err
	}
	b.agents, err = prepare(ctx, b, manyClients, func(m *maker) *wire.Agent { return m.provision().Agent })
	return err
}

// stop ends the hosts, then the engines, and removes the data.
func (b *bench) stop() error {
	errs := []error{b.hosts.close()}
	if b.engines != nil {
		errs = append(errs, b.engines.Close())
	}
	if b.folder != "" {
		errs = append(errs, os.RemoveAll(b.folder))
	}
	return errors.Join(errs...)
}

// profiled measures a row, and keeps a CPU profile of the hosts if asked for.
func (b *bench) profiled(ctx context.Context, r *row) error {
	if b.profiles == "" || r.own {
		return b.measure(ctx, r)
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
		err = b.measure(ctx, r)
	}
	_, stopped := b.hosts.ask(stopCommand)
	return errors.Join(err, stopped)
}

func (b *bench) say(format string, args ...any) { fmt.Fprintf(b.stderr, format+"\n", args...) }
