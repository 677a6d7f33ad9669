package engines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	startTimeout = 30 * time.Second
	stopTimeout  = 15 * time.Second
	pollInterval = 3 * time.Millisecond
	pollTimeout  = time.Second
	portAttempts = 5
)

// errPortTaken is the failure of an engine whose port another process took between the choice and
// the start.
var errPortTaken = errors.New("port in use")

// Process is one engine. It can be stopped or killed and started again with the
// same port and data (a DynamoDB in memory starts empty).
type Process struct {
	name    string
	health  string // path that answers 200 when the engine is ready; empty: any answer will do
	command func(port int) []string
	log     io.Writer
	port    *heldPort

	mu      sync.Mutex
	running *child
}

// child is one run of the engine.
type child struct {
	cmd    *exec.Cmd
	output *tail
	ended  chan struct{}
}

// Run starts another program that listens on an address of this machine, and returns its URL once it answers there.
func Run(ctx context.Context, name string, command func(address string) []string) (p *Process, url string, err error) {
	p = &Process{
		name:    name,
		log:     io.Discard,
		command: func(port int) []string { return command(address(port)) },
	}
	if url, err = p.open(ctx, 0); err != nil {
		p.End()
	}
	return p, url, err
}

// End kills the engine for good.
func (p *Process) End() {
	p.Kill()
	p.port.release()
}

// open takes the port, starts the engine and returns its URL.
func (p *Process) open(ctx context.Context, port int) (string, error) {
	var err error
	for range portAttempts {
		if p.port, err = holdPort(port); err != nil {
			return "", err
		}
		if err = p.Start(ctx); port != 0 || !errors.Is(err, errPortTaken) {
			break
		}
		p.port.release()
	}
	return p.url(), err
}

func (p *Process) url() string { return "http://" + address(p.port.number) }

// Start starts the engine and returns when it answers. It has no effect when the
// engine runs.
func (p *Process) Start(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running != nil {
		return nil
	}
	c, err := p.spawn()
	if err != nil {
		return err
	}
	if err := p.waitReady(ctx, c); err != nil {
		c.kill()
		return err
	}
	p.running = c
	return nil
}

// Stop asks the engine to end, waits for it, and kills it when it does not.
func (p *Process) Stop() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil {
		return nil
	}
	c := p.running
	p.running = nil
	_ = c.cmd.Process.Signal(syscall.SIGTERM) // fails only when it has ended
	select {
	case <-c.ended:
		return nil
	case <-time.After(stopTimeout):
		c.kill()
		return fmt.Errorf("%s did not stop within %v and was killed", p.name, stopTimeout)
	}
}

// Kill ends the engine with SIGKILL and returns when it is gone.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running != nil {
		p.running.kill()
		p.running = nil
	}
}

// Ended returns a channel that closes when the present run of the engine ends, for any reason.
func (p *Process) Ended() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil {
		ended := make(chan struct{})
		close(ended)
		return ended
	}
	return p.running.ended
}

// close ends the engine for good; p may be nil.
func (p *Process) close(end func(*Process) error) error {
	if p == nil {
		return nil
	}
	defer p.port.release()
	return end(p)
}

// spawn starts the command in a process group of its own, so that a Ctrl-C in the terminal reaches
// only this process, and that one signal can end a whole group.
func (p *Process) spawn() (*child, error) {
	args := p.command(p.port.number)
	c := &child{cmd: exec.Command(args[0], args[1:]...), output: &tail{to: p.log}, ended: make(chan struct{})}
	c.cmd.Stdout, c.cmd.Stderr = c.output, c.output
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.cmd.WaitDelay = pollTimeout
	// The engine ends when the other end of its standard input closes, which the kernel does if
	// this process is killed.
	if _, err := c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	go func() {
		defer close(c.ended)
		_ = c.cmd.Wait() // how it ended is told by its output
	}()
	return c, nil
}

// waitReady polls until the engine answers, ends, or takes too long.
func (p *Process) waitReady(ctx context.Context, c *child) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for !p.answers(ctx) {
		select {
		case <-c.ended:
			return c.failure()
		case <-ctx.Done():
			return fmt.Errorf("no answer from %s: %w; it printed: %s", p.url(), context.Cause(ctx), c.output)
		case <-tick.C:
		}
	}
	select {
	case <-c.ended: // the answer came from another server on this port
		return c.failure()
	default:
		return nil
	}
}

func (p *Process) answers(ctx context.Context) bool {
	status, err := statusOf(ctx, p.url()+p.health)
	return err == nil && (status == http.StatusOK || p.health == "")
}

// failure returns why the engine ended before it was ready.
func (c *child) failure() error {
	said := c.output.String()
	if strings.Contains(said, "in use") {
		return fmt.Errorf("%w: %s", errPortTaken, said)
	}
	return fmt.Errorf("it ended at once (%v) and printed: %s", c.cmd.ProcessState, said)
}

// kill ends the engine and, for DynamoDB, the watcher above it.
func (c *child) kill() {
	_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL) // fails only when it has ended
	<-c.ended
}

// statusOf makes one GET on a connection of its own.
func statusOf(ctx context.Context, url string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	client := http.Client{Timeout: pollTimeout, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}
