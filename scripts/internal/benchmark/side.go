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
	"strconv"
	"sync"
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

	api    string // URL of its api host
	client *http.Client

	place place // its engines

	stack     string // its program
	lifted    bool   // the program counts requests up to limits that no load reaches
	pid       int    // of what watches over the program
	input     io.Closer
	said      *tail
	logged    logSum
	processes processes     // of hosts and engines
	ended     chan struct{} // closed when the program has ended
}

// Offsets of the ports of a stack from its base.
const (
	apiOffset   = 1
	hostOffsets = 4  // api, upload, content and app follow each other; a baseline may have no more
	dynamoDB    = 11 // the DynamoDB engine
	lastOffset  = 12 // the S3 engine
)

// Bounds of what a side does once.
const (
	buildTimeout = 15 * time.Minute
	startTimeout = 5 * time.Minute // it builds its S3 engine
	healthPoll   = 100 * time.Millisecond
)

// build builds the stack and the zip files.
func (s *side) build(ctx context.Context, temporary string) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, buildTimeout, fmt.Errorf("it takes more than %v", buildTimeout))
	defer cancel()
	if err = s.buildStack(ctx, temporary); err == nil {
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

//go:embed lifted.go
var liftedSource string

// buildStack builds the stack with limits that no load reaches, so that requests are counted as in a deployment. Where
// the commit does not allow that, it builds the stack as it is.
func (s *side) buildStack(ctx context.Context, temporary string) error {
	overlay, err := s.tree.Lift(liftedSource, temporary)
	if err == nil {
		s.stack, err = s.tree.Stack(ctx, overlay)
	}
	if s.lifted = err == nil; s.lifted || ctx.Err() != nil {
		return err
	}
	s.stack, err = s.tree.Stack(ctx, "")
	return err
}

// counts tells whether both sides count requests.
func (c *comparison) counts() bool { return c.sides[0].lifted && c.sides[1].lifted }

// start starts the stack with engines of its own and returns when its hosts are healthy. It keeps no data.
func (s *side) start(ctx context.Context, temporary string, counted bool) error {
	late := fmt.Errorf("its hosts are not healthy after %v", startTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, late)
	defer cancel()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	numbers := "off"
	if counted {
		numbers = "on"
	}
	c := exec.Command(self, watchWord, s.stack, "--ports", strconv.Itoa(s.base), "--memory", "--limits", numbers)
	c.Dir = s.tree.Dir
	c.Env = append(os.Environ(), engine.EnvDynamoDB+"=", engine.EnvS3+"=", "TMPDIR="+temporary)
	if err := s.run(c); err != nil {
		return err
	}
	s.api = s.url(apiOffset)
	for n := range hostOffsets {
		if err := s.await(ctx, s.url(apiOffset+n)+"/healthz"); err != nil {
			return fmt.Errorf("%s does not start: %w; it printed: %s", s.name, err, s.said)
		}
	}
	s.find()
	return nil
}

// find finds the processes of the stack and its tables.
func (s *side) find() {
	for _, stack := range children()[s.pid] { // one
		s.processes = processes{hosts: stack, engines: descendants(stack, 0)}
	}
	keys := "vitrine" // the engines take any
	s.place = place{tables: "vitrine", engines: &engine.Engines{
		DynamoDB:  fmt.Sprintf("http://127.0.0.1:%d", s.base+dynamoDB),
		AccessKey: keys,
		SecretKey: keys,
		Region:    "us-east-1",
	}}
}

func (s *side) url(offset int) string { return fmt.Sprintf("http://localhost:%d", s.base+offset) }

// run starts a command that ends when its standard input does. It has a process group of its own, so that Ctrl-C in a
// terminal does not reach it.
func (s *side) run(c *exec.Cmd) (err error) {
	s.said = new(tail)
	said := io.MultiWriter(s.said, &s.logged)
	c.Stdout, c.Stderr = said, said
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.WaitDelay = time.Second // for its output, which a child of it may hold
	if s.input, err = c.StdinPipe(); err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	s.pid = c.Process.Pid
	s.ended = make(chan struct{})
	go func() {
		defer close(s.ended)
		_ = c.Wait() // its output says how it ended
	}()
	return nil
}

// await returns when a URL answers 200.
func (s *side) await(ctx context.Context, target string) error {
	client := &http.Client{Timeout: time.Second}
	tick := time.NewTicker(healthPoll)
	defer tick.Stop()
	for {
		answer, err := (&wire.Agent{HTTP: client}).Do(ctx, "GET", target, nil)
		if err == nil && answer.Status == http.StatusOK {
			return nil
		}
		select {
		case <-s.ended:
			return errors.New("it ended at once")
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
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
	return fmt.Errorf("the stack of %s has ended: %w; it printed: %s", s.name, err, s.said)
}

// stop lets the stack end with its engines, if it runs. Connections without a request would delay the end of its hosts.
func (s *side) stop() error {
	if s == nil || s.ended == nil {
		return nil
	}
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
	err := s.input.Close()
	if errors.Is(err, os.ErrClosed) {
		return nil // it had ended before
	}
	return err
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
		for _, address := range []string{"127.0.0.1", "::1"} {
			l, err := net.Listen("tcp", net.JoinHostPort(address, strconv.Itoa(port)))
			if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) {
				continue // a machine without IPv6
			}
			if err != nil {
				return fmt.Errorf("port %d, which the hosts of %s need, is not free (%w): "+
					"stop what listens there, or choose others with -ports BASE", port, s.name, err)
			}
			l.Close()
		}
	}
	return nil
}

// tail keeps the end of what a process prints, however long that is.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

const tailBytes = 2000

// Write keeps the end.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, p...)
	t.kept = t.kept[max(0, len(t.kept)-tailBytes):]
	return len(p), nil
}

// String returns the end.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.kept)
}
