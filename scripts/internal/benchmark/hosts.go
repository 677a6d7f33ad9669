package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"vitrine/shared/platform/address"
)

// hosts is the process that serves, as the load sees it.
type hosts struct {
	Origins address.Origins

	process *exec.Cmd
	input   io.WriteCloser
	answers *json.Decoder
}

// startHosts starts this program anew. The process ends when this one does, however it ends.
func startHosts(o order, stderr io.Writer) (*hosts, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	h := &hosts{process: exec.Command(self, serveWord)}
	h.process.Stderr = stderr
	if h.input, err = h.process.StdinPipe(); err != nil {
		return nil, err
	}
	output, err := h.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	h.answers = json.NewDecoder(output)
	if err := h.process.Start(); err != nil {
		return nil, err
	}
	if err := errors.Join(json.NewEncoder(h.input).Encode(o), h.answers.Decode(&h.Origins)); err != nil {
		return nil, errors.Join(errors.New("the hosts did not start"), h.close())
	}
	return h, nil
}

// close lets the process end.
func (h *hosts) close() error { return errors.Join(h.input.Close(), h.process.Wait()) }

// ask sends a command.
func (h *hosts) ask(command string) (r reading, err error) {
	if _, err = fmt.Fprintln(h.input, command); err == nil {
		err = h.answers.Decode(&r)
	}
	if err != nil {
		err = fmt.Errorf("the process of the hosts does not answer: %w", err)
	}
	return r, err
}

const (
	settlePause = 2 * time.Millisecond
	settleMost  = 2 * time.Second
)

// settled reads the sums when the log has this many requests: their lines follow their answers.
func (h *hosts) settled(ctx context.Context, requests int) (reading, error) {
	deadline := time.Now().Add(settleMost)
	for {
		r, err := h.ask(readCommand)
		switch {
		case err != nil || r.Requests == requests:
			return r, err
		case ctx.Err() != nil:
			return r, ctx.Err()
		case r.Requests > requests || time.Now().After(deadline):
			return r, fmt.Errorf("the request log has %d requests, expected %d", r.Requests, requests)
		}
		time.Sleep(settlePause)
	}
}

// quiet reads the sums when no request is on its way to the log.
func (h *hosts) quiet() (reading, error) {
	before, err := h.ask(readCommand)
	for err == nil {
		time.Sleep(10 * settlePause)
		var r reading
		if r, err = h.ask(readCommand); r.Requests == before.Requests {
			return r, err
		}
		before = r
	}
	return before, err
}
