package checkout

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
)

func openFolder(t *testing.T, r Repository) *Folder {
	t.Helper()
	f, err := r.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func add(t *testing.T, f *Folder, c Commit) Tree {
	t.Helper()
	tree, err := f.Add(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return tree
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

func TestWorktreesHoldTheirCommitsAndGo(t *testing.T) {
	r := newRepository(t, map[string]string{"a": "1", ".gitignore": "/.vitrine/\nnode_modules\n"})
	first, err := r.Find(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	second := commit(t, r, map[string]string{"a": "2"})
	write(t, r.Root, map[string]string{"node_modules/engine": "program"})
	f := openFolder(t, r)
	if _, err := f.Temporary(); err != nil {
		t.Fatal(err)
	}
	for commit, want := range map[Commit]string{first: "1", second: "2"} {
		tree := add(t, f, commit)
		if again := add(t, f, commit); again != tree {
			t.Errorf("%s is in %v and in %v", commit, tree, again)
		}
		for file, want := range map[string]string{"a": want, "node_modules/engine": "program"} {
			if got, err := os.ReadFile(filepath.Join(tree.Dir, file)); string(got) != want {
				t.Errorf("%s of %s is %q (%v), want %q", file, commit, got, err, want)
			}
		}
		if info, err := os.Lstat(filepath.Join(tree.Dir, "node_modules")); err != nil || !info.IsDir() {
			t.Errorf("the packages are not in a folder of the worktree: %v, %v", info, err)
		}
		write(t, tree.Dir, map[string]string{"a": "changed", "made/anew": "1", ".vitrine/bin/local": "1"})
	}
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
	head, err := r.Find(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	write(t, r.Root, map[string]string{"node_modules/engine": "changed"})
	f := openFolder(t, r)
	tree := add(t, f, head)
	if got, err := os.ReadFile(filepath.Join(tree.Dir, "node_modules", "engine")); string(got) != "committed" {
		t.Errorf("the package is %q (%v)", got, err)
	}
	if err := f.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestTheFolderIsTakenByOneProcess(t *testing.T) {
	r := newRepository(t, map[string]string{"a": "1"})
	f := openFolder(t, r)
	_, err := r.Open(t.Context())
	expect.Error(t, err, "another process", f.path)
	if err := f.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := openFolder(t, r).Close(t.Context()); err != nil {
		t.Error(err)
	}
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
			head, err := r.Find(t.Context(), "HEAD")
			if err != nil {
				t.Fatal(err)
			}
			killed := openFolder(t, r)
			if err := kill(t, add(t, killed, head)); err != nil {
				t.Fatal(err)
			}
			if err := killed.lock.Close(); err != nil {
				t.Fatal(err)
			}
			f := openFolder(t, r)
			tree := add(t, f, head)
			if got, err := os.ReadFile(filepath.Join(tree.Dir, "a")); string(got) != "1" {
				t.Errorf("the file is %q (%v)", got, err)
			}
			if err := f.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantNoWorktree(t, r)
		})
	}
}
