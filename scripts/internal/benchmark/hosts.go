package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"

	"vitrine/shared/platform/address"
)

// hosts is the process that serves, as the load sees it.
type hosts struct {
	Origins address.Origins

	process *exec.Cmd
	known   processes
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
	pid := h.process.Process.Pid
	h.known = processes{hosts: pid, engines: descendants(os.Getpid(), pid)}
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
