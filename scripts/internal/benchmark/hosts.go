package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"

	"vitrine/shared/platform/address"
)

// hosts is the process that serves, as the load sees it.
type hosts struct {
	Origins address.Origins

	process *exec.Cmd
	input   io.WriteCloser
	answers *json.Decoder
}

// startHosts starts a program, this one anew if it is not named. The process ends when this one does, however it ends.
func startHosts(program string, o order, stderr io.Writer) (*hosts, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	h := &hosts{process: exec.Command(cmp.Or(program, self), serveWord)}
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

// close lets the process end, if there is one.
func (h *hosts) close() error {
	if h == nil {
		return nil
	}
	return errors.Join(h.input.Close(), h.process.Wait())
}

// ask sends a command, and reads beside the answer what memory the process has.
func (h *hosts) ask(command string) (r reading, err error) {
	if _, err = fmt.Fprintln(h.input, command); err == nil {
		err = h.answers.Decode(&r)
	}
	if err != nil {
		return r, fmt.Errorf("the process of the hosts does not answer: %w", err)
	}
	status, _ := os.ReadFile(h.proc("status")) // only Linux has it
	r.Resident, r.Peak = kilobytes(status, "VmRSS"), kilobytes(status, "VmHWM")
	return r, nil
}

// proc is a file of proc(5) about the process.
func (h *hosts) proc(name string) string {
	return fmt.Sprintf("/proc/%d/%s", h.process.Process.Pid, name)
}

// resetPeak forgets the most memory so far, by proc_pid_clear_refs(5). Where that cannot be, the peak is of all rows.
func (h *hosts) resetPeak() { _ = os.WriteFile(h.proc("clear_refs"), []byte("5"), 0) }

// kilobytes is a size of proc_pid_status(5) in bytes, 0 if it is not there.
func kilobytes(status []byte, name string) int64 {
	line := regexp.MustCompile(`(?m)^` + name + `:\s+(\d+) kB$`).FindSubmatch(status)
	if line == nil {
		return 0
	}
	n, _ := strconv.ParseInt(string(line[1]), 10, 64) // it matched
	return n << 10
}
