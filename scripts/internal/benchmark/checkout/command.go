package checkout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// endTimeout is how long a command may take to end when it is asked to.
const endTimeout = 5 * time.Second

// command is a command that ends with ctx, together with what it has started. It has a process group of its own,
// because Ctrl-C in a terminal would otherwise reach it before the caller decides what ends first.
func command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay = endTimeout
	return c
}

// build runs a command that builds something, and quotes its output when it fails.
func build(ctx context.Context, dir string, settings []string, name string, args ...string) error {
	c := command(ctx, dir, name, args...)
	c.Env = append(os.Environ(), settings...)
	output, err := c.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("%s is not on the PATH", name)
	}
	return fmt.Errorf("%w\n%s", err, bytes.TrimSpace(output))
}
