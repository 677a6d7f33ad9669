package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"vitrine/scripts/internal/benchmark/checkout"
	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/wire"
)

// side is one of the two commits that are compared, with a stack of its own.
type side struct {
	name string // for people
	base int    // of the ports
	tree checkout.Tree
	zips checkout.Sizes
	// unbuilt is why the build of the zip files failed. Those of the baseline need not build, because hosts do not.
	unbuilt error

	stack  string // its program
	lifted bool   // the program counts requests up to limits that no load reaches

	api       string // URL of its api host
	pid       int    // of what watches over the program
	input     io.Closer
	log       totals
	ended     chan struct{} // closed when the program has ended
	processes processes     // of hosts and engines
	place     place
	bench     *bench
}

// Offsets of the ports of a stack from its base.
const (
	apiOffset   = 1
	hostOffsets = 4  // api, upload, content and app follow each other; a baseline may have no more
	dynamoDB    = 11 // the DynamoDB engine
	lastOffset  = 12 // the S3 engine
)

const (
	startTimeout = 5 * time.Minute // it builds its S3 engine
	healthPoll   = 100 * time.Millisecond
)

//go:embed lifted.go
var liftedSource string

// build builds the zip files, and the stack with limits that no load reaches, so that requests are counted as in a
// deployment. Where the commit does not allow that, it builds the stack as it is.
func (s *side) build(ctx context.Context, temporary string) error {
	s.stack = filepath.Join(temporary, fmt.Sprint("local-", s.base))
	overlay, err := s.tree.Lift(liftedSource, temporary)
	if err == nil {
		err = s.tree.Stack(ctx, s.stack, overlay)
	}
	if s.lifted = err == nil; !s.lifted && ctx.Err() == nil {
		err = s.tree.Stack(ctx, s.stack, "")
	}
	if err == nil {
		s.zips, s.unbuilt = s.tree.Zips(ctx, temporary)
		if s.name == thisTree || ctx.Err() != nil {
			err = s.unbuilt
		}
	}
	if err != nil {
		err = fmt.Errorf("%s does not build: %w", s.name, err)
	}
	return err
}

// start starts the stack with engines of its own and returns when its hosts are healthy. It keeps no data. The watcher
// ends it when its standard input ends.
func (s *side) start(ctx context.Context, watcher, temporary string, counted bool) error {
	late := fmt.Errorf("its hosts are not healthy after %v", startTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, late)
	defer cancel()
	numbers := "off"
	if counted {
		numbers = "on"
	}
	c := exec.Command(watcher, "-watch", "--", s.stack, "--ports", strconv.Itoa(s.base), "--memory", "--limits", numbers)
	c.Dir = s.tree.Dir
	c.Env = append(os.Environ(), engine.EnvDynamoDB+"=", engine.EnvS3+"=", "TMPDIR="+temporary)
	if err := s.run(c); err != nil {
		return err
	}
	s.api = s.url(apiOffset)
	for n := range hostOffsets {
		if err := s.await(ctx, s.url(apiOffset+n)+"/healthz"); err != nil {
			return fmt.Errorf("%s does not start: %w; it printed: %s", s.name, err, s.log.end())
		}
	}
	for _, stack := range children()[s.pid] { // one
		s.processes = processes{hosts: stack, engines: descendants(stack, 0)}
	}
	s.place = place{tables: "vitrine", engines: &engine.Engines{
		DynamoDB:  fmt.Sprint("http://127.0.0.1:", s.base+dynamoDB),
		S3:        fmt.Sprint("http://127.0.0.1:", s.base+lastOffset),
		S3Domain:  fmt.Sprint("s3.localhost:", s.base+lastOffset),
		Bucket:    "vitrine",
		AccessKey: "vitrine",
		SecretKey: "vitrine-local",
		Region:    "us-east-1",
	}}
	return nil
}

func (s *side) url(offset int) string { return fmt.Sprintf("http://localhost:%d", s.base+offset) }

// run starts a command that ends when its standard input does. It has a process group of its own, so that Ctrl-C in a
// terminal does not reach it.
func (s *side) run(c *exec.Cmd) (err error) {
	c.Stdout, c.Stderr = &s.log, &s.log
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.WaitDelay = time.Second // for its output, which a child of it may hold
	if s.input, err = c.StdinPipe(); err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	s.pid, s.ended = c.Process.Pid, make(chan struct{})
	go func() {
		defer close(s.ended)
		_ = c.Wait() // its output says how it ended
	}()
	return nil
}

// await returns when a URL answers 200.
func (s *side) await(ctx context.Context, target string) error {
	g := &wire.Agent{HTTP: &http.Client{Timeout: time.Second}}
	for {
		_, err := call(ctx, g, http.StatusOK, "GET", target, nil)
		switch {
		case err == nil:
			return nil
		case !s.running():
			return errors.New("it ended at once")
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		pause(ctx, healthPoll)
	}
}

// rows prepares the rows of the bench.
func (s *side) rows(ctx context.Context, of rowsOf) ([]row, error) {
	b := s.bench
	if err := b.discover(ctx, s.api); err != nil {
		return nil, err
	}
	if err := b.provision(ctx); err != nil {
		return nil, err
	}
	rows, err := of(b, ctx)
	return byClients(rows), err
}

// reading is what the stack has used, as its log and the kernel tell.
func (s *side) reading() reading {
	r := s.log.reading()
	r.CPU = s.processes.usage().hosts
	return r
}

// running tells whether the stack has not ended.
func (s *side) running() bool {
	select {
	case <-s.ended:
		return false
	default:
		return true
	}
}

// explain adds to an error what the stack has printed, if it has ended.
func (s *side) explain(err error) error {
	if s.running() {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	return fmt.Errorf("the stack of %s has ended: %w; it printed: %s", s.name, err, s.log.end())
}

// stop lets the stack end with its engines, if it runs. Connections without a request would delay the end of its hosts.
func (s *side) stop() {
	if s == nil || s.ended == nil {
		return
	}
	if s.bench != nil && s.bench.anyone != nil {
		s.bench.anyone.HTTP.CloseIdleConnections()
	}
	s.input.Close() // an error means that it has ended
}

// wait returns when the stack has ended, which its watcher bounds.
func (s *side) wait() {
	if s != nil && s.ended != nil {
		<-s.ended
	}
}

// freePorts fails if a port is taken that the stack needs.
func (s *side) freePorts() error {
	for port := s.base + apiOffset; port <= s.base+lastOffset; port++ {
		l, err := net.Listen("tcp", fmt.Sprint(":", port))
		if err != nil {
			return fmt.Errorf("port %d, which the hosts of %s need, is not free (%w): "+
				"stop what listens there, or choose others with -ports BASE", port, s.name, err)
		}
		l.Close()
	}
	return nil
}
