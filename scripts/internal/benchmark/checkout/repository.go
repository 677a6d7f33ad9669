// Package checkout holds commits of a repository in worktrees of their own and builds them.
package checkout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Commit is the full hash of a commit.
type Commit string

// Short returns the beginning of the hash.
func (c Commit) Short() string { return string(c[:min(len(c), 7)]) }

// Repository is a git repository with its working tree.
type Repository struct {
	Root string // of the working tree

	settings []string // more environment variables for git
}

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

// Snapshot returns a commit of the working tree as it is, also with what is not committed, but without ignored files.
// It is HEAD if nothing differs, and otherwise a child of HEAD that no branch holds. The index stays as it is.
func (r Repository) Snapshot(ctx context.Context) (Commit, error) {
	head, err := r.Find(ctx, "HEAD")
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "vitrine-index-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	r.settings = []string{"GIT_INDEX_FILE=" + filepath.Join(folder, "index")}
	var tree string
	for _, step := range [][]string{{"read-tree", "HEAD"}, {"add", "--all"}, {"write-tree"}} {
		if tree, err = r.git(ctx, step...); err != nil {
			return "", err
		}
	}
	if committed, err := r.git(ctx, "rev-parse", "HEAD^{tree}"); err != nil || committed == tree {
		return head, err
	}
	return r.commit(ctx, tree, head)
}

// commit makes a commit that has the same hash whenever it is made of the same files.
func (r Repository) commit(ctx context.Context, tree string, parent Commit) (Commit, error) {
	const name, mail, date = "scripts/bench", "bench@localhost", "@0 +0000"
	for _, role := range []string{"GIT_AUTHOR_", "GIT_COMMITTER_"} {
		r.settings = append(r.settings, role+"NAME="+name, role+"EMAIL="+mail, role+"DATE="+date)
	}
	hash, err := r.git(ctx, "commit-tree", tree, "-p", string(parent), "-m", "the working tree")
	return Commit(hash), err
}

// git runs git in the working tree, without hooks, and returns what it prints.
func (r Repository) git(ctx context.Context, args ...string) (string, error) {
	c := command(ctx, r.Root, "git", append([]string{"-c", "core.hooksPath=/dev/null"}, args...)...)
	c.Env = append(os.Environ(), r.settings...)
	output, err := c.Output()
	var failed *exec.ExitError
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, exec.ErrNotFound):
		err = errors.New("git is not on the PATH")
	case errors.As(err, &failed):
		err = fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(failed.Stderr))
	}
	return string(bytes.TrimSpace(output)), err
}
