package checkout

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
)

func openFolder(t *testing.T, r Repository, c Commit) *Folder {
	t.Helper()
	f, err := r.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func closeFolder(t *testing.T, f *Folder) {
	t.Helper()
	if err := f.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// wantNoWorktree checks that git and the folder know the working tree alone.
func wantNoWorktree(t *testing.T, r Repository) {
	t.Helper()
	if list := git(t, r.Root, "worktree", "list", "--porcelain"); strings.Count(list, "worktree ") != 1 {
		t.Errorf("git knows worktrees: %s", list)
	}
	left, err := filepath.Glob(filepath.Join(r.Root, ".vitrine", "against", "*"))
	if err != nil || len(left) != 1 || filepath.Base(left[0]) != "lock" {
		t.Errorf("left behind: %v (%v)", left, err)
	}
}

func TestAWorktreeHoldsItsCommitAndGoes(t *testing.T) {
	r := newRepository(t, map[string]string{"a": "1", ".gitignore": "/.vitrine/\nnode_modules\n"})
	first := head(t, r)
	commit(t, r, map[string]string{"a": "2"})
	write(t, r.Root, map[string]string{"node_modules/engine": "program"})
	f := openFolder(t, r, first)
	for file, want := range map[string]string{"a": "1", "node_modules/engine": "program"} {
		if got, err := os.ReadFile(filepath.Join(f.Tree.Dir, file)); string(got) != want {
			t.Errorf("%s is %q (%v), want %q", file, got, err, want)
		}
	}
	if info, err := os.Lstat(filepath.Join(f.Tree.Dir, "node_modules")); err != nil || !info.IsDir() {
		t.Errorf("the packages are not in a folder of the worktree: %v, %v", info, err)
	}
	write(t, f.Tree.Dir, map[string]string{"a": "changed", "made/anew": "1", ".vitrine/bin/local": "1"})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Close(ended); err != nil {
		t.Fatal(err)
	}
	wantNoWorktree(t, r)
	if _, err := os.Stat(filepath.Join(r.Root, "node_modules", "engine")); err != nil {
		t.Error(err)
	}
}

func TestPackagesThatACommitHoldsAreItsOwn(t *testing.T) {
	r := newRepository(t, map[string]string{"node_modules/engine": "committed"})
	write(t, r.Root, map[string]string{"node_modules/engine": "changed"})
	f := openFolder(t, r, head(t, r))
	if got, err := os.ReadFile(filepath.Join(f.Tree.Dir, "node_modules", "engine")); string(got) != "committed" {
		t.Errorf("the package is %q (%v)", got, err)
	}
	closeFolder(t, f)
}

func TestTheFolderIsTakenByOneProcess(t *testing.T) {
	r := newRepository(t, map[string]string{"a": "1"})
	f := openFolder(t, r, head(t, r))
	_, err := r.Open(t.Context(), head(t, r))
	expect.Error(t, err, "another process", f.path)
	closeFolder(t, f)
	closeFolder(t, openFolder(t, r, head(t, r)))
}

func TestWhatAKilledProcessHasLeftIsRemoved(t *testing.T) {
	for name, kill := range map[string]func(t *testing.T, tree Tree) error{
		"a worktree": func(*testing.T, Tree) error { return nil },
		"a worktree whose files are gone": func(_ *testing.T, tree Tree) error {
			return os.RemoveAll(tree.Dir)
		},
		"a folder that became no worktree": func(_ *testing.T, tree Tree) error {
			return os.Remove(filepath.Join(tree.Dir, ".git"))
		},
		"a worktree that was being made": func(t *testing.T, tree Tree) error {
			git(t, tree.Dir, "worktree", "lock", tree.Dir)
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepository(t, map[string]string{"a": "1"})
			killed := openFolder(t, r, head(t, r))
			if err := errors.Join(kill(t, killed.Tree), killed.lock.Close()); err != nil {
				t.Fatal(err)
			}
			f := openFolder(t, r, head(t, r))
			if got, err := os.ReadFile(filepath.Join(f.Tree.Dir, "a")); string(got) != "1" {
				t.Errorf("the file is %q (%v)", got, err)
			}
			closeFolder(t, f)
			wantNoWorktree(t, r)
		})
	}
}
