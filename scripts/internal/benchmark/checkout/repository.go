// Package checkout holds a commit of a repository in a worktree of its own and builds it.
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

// Commit is the full hash of a commit.
type Commit string

// Short returns the beginning of the hash.
func (c Commit) Short() string { return string(c[:min(len(c), 7)]) }

// Repository is a git repository with its working tree.
type Repository struct{ Root string }

// Find returns the commit that a branch, a tag or a hash, shortened or not, stands for.
func (r Repository) Find(ctx context.Context, revision string) (Commit, error) {
	hash, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", revision+"^{commit}")
	if err == nil {
		return Commit(hash), nil
	}
	shallow, cause := r.git(ctx, "rev-parse", "--is-shallow-repository")
	switch {
	case cause != nil:
		return "", fmt.Errorf("commits are read from a git repository, and %s is none: %w", r.Root, cause)
	case shallow == "true":
		return "", fmt.Errorf("commit %q is not in this clone, which is shallow: "+
			"run `git fetch --unshallow`, then this again", revision)
	}
	return "", fmt.Errorf("%q is no commit of this repository: "+
		"`git log` shows what there is, and `git fetch` gets the rest", revision)
}

// git runs git in the working tree, without hooks, and returns what it prints.
func (r Repository) git(ctx context.Context, args ...string) (string, error) {
	output, err := run(ctx, r.Root, nil, "git", append([]string{"-c", "core.hooksPath=/dev/null"}, args...)...)
	return string(bytes.TrimSpace(output)), err
}

// endTimeout is how long a command may take to end when it is asked to.
const endTimeout = 5 * time.Second

// run runs a command that ends with ctx, together with what it has started, and quotes its output when it fails. It has
// a process group of its own, because Ctrl-C in a terminal would otherwise reach it before the caller decides what ends
// first.
func run(ctx context.Context, dir string, settings []string, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), settings...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	c.WaitDelay = endTimeout
	output, err := c.CombinedOutput()
	switch {
	case err == nil:
		return output, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		return nil, fmt.Errorf("%s is not on the PATH", name)
	}
	return nil, fmt.Errorf("%s: %w\n%s", name, err, bytes.TrimSpace(output))
}
