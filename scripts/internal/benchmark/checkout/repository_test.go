package checkout

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/scripts/testkit/executable"
	"vitrine/scripts/testkit/expect"
)

// newRepository makes a repository with one commit that holds the files.
func newRepository(t *testing.T, files map[string]string) Repository {
	t.Helper()
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL":   os.DevNull,
		"GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME":     "test",
		"GIT_AUTHOR_EMAIL":    "test@localhost",
		"GIT_COMMITTER_NAME":  "test",
		"GIT_COMMITTER_EMAIL": "test@localhost",
	} {
		t.Setenv(name, value)
	}
	r := Repository{Root: t.TempDir()}
	git(t, r.Root, "init", "--quiet")
	commit(t, r, files)
	return r
}

// commit writes files and commits them.
func commit(t *testing.T, r Repository, files map[string]string) Commit {
	t.Helper()
	write(t, r.Root, files)
	git(t, r.Root, "add", "--all")
	git(t, r.Root, "commit", "--quiet", "--message", "files")
	c, err := r.Find(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		executable.Write(t, filepath.Join(dir, name), text)
	}
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	c := exec.Command("git", args...)
	c.Dir = dir
	output, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", args, err, output)
	}
	return strings.TrimSpace(string(output))
}

func TestACommitIsFoundByWhatItIsCalled(t *testing.T) {
	r := newRepository(t, map[string]string{"a": "1"})
	first := git(t, r.Root, "rev-parse", "HEAD")
	git(t, r.Root, "tag", "-a", "-m", "release", "v1")
	commit(t, r, map[string]string{"a": "2"})
	for _, revision := range []string{first, first[:7], "v1", "HEAD~1"} {
		if got, err := r.Find(t.Context(), revision); err != nil || string(got) != first {
			t.Errorf("%s is %s (%v), want %s", revision, got, err, first)
		}
	}
}

func TestAnUnknownCommitIsRefused(t *testing.T) {
	r := newRepository(t, map[string]string{"a": "1"})
	tree := git(t, r.Root, "rev-parse", "HEAD^{tree}")
	for _, revision := range []string{"nowhere", strings.Repeat("0123", 10), "--all", "", tree} {
		_, err := r.Find(t.Context(), revision)
		expect.Error(t, err, "no commit of this repository", `"`+revision+`"`)
	}
}

func TestACommitThatAShallowCloneLacksIsRefused(t *testing.T) {
	r := newRepository(t, map[string]string{"a": "1"})
	first, err := r.Find(t.Context(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	second := commit(t, r, map[string]string{"a": "2"})
	clone := Repository{Root: filepath.Join(t.TempDir(), "clone")}
	git(t, r.Root, "clone", "--quiet", "--depth", "1", "file://"+r.Root, clone.Root)
	_, err = clone.Find(t.Context(), string(first))
	expect.Error(t, err, string(first), "shallow", "git fetch --unshallow")
	if got, err := clone.Find(t.Context(), string(second)); err != nil || got != second {
		t.Errorf("what the clone has is %s (%v), want %s", got, err, second)
	}
}

func TestAFolderWithoutARepositoryIsRefused(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	_, err := Repository{Root: dir}.Find(t.Context(), "HEAD")
	expect.Error(t, err, dir+" is none")
}

func TestACleanTreeIsItsCommit(t *testing.T) {
	r := newRepository(t, map[string]string{"a": "1", ".gitignore": "ignored\n"})
	write(t, r.Root, map[string]string{"ignored": "x"})
	head := git(t, r.Root, "rev-parse", "HEAD")
	if got, err := r.Snapshot(t.Context()); err != nil || string(got) != head {
		t.Errorf("%s (%v), want %s", got, err, head)
	}
}

func TestASnapshotHoldsWhatIsNotCommitted(t *testing.T) {
	r := newRepository(t, map[string]string{"kept": "1", "changed": "1", "removed": "1", ".gitignore": "ignored\n"})
	write(t, r.Root, map[string]string{"changed": "2", "new/file": "3", "ignored": "x"})
	if err := os.Remove(filepath.Join(r.Root, "removed")); err != nil {
		t.Fatal(err)
	}
	before := git(t, r.Root, "status", "--porcelain")
	c, err := r.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, want := git(t, r.Root, "ls-tree", "-r", "--name-only", string(c)), ".gitignore\nchanged\nkept\nnew/file"
	if got != want {
		t.Errorf("it holds %q, want %q", got, want)
	}
	if got := git(t, r.Root, "show", string(c)+":changed"); got != "2" {
		t.Errorf("the changed file says %q", got)
	}
	if after := git(t, r.Root, "status", "--porcelain"); after != before {
		t.Errorf("the status was %q and is %q", before, after)
	}
	if again, err := r.Snapshot(t.Context()); err != nil || again != c {
		t.Errorf("the same files are another commit: %s and %s (%v)", c, again, err)
	}
}

func TestACancelledSearchSaysSo(t *testing.T) {
	r := newRepository(t, map[string]string{"a": "1"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Snapshot(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
