package checkout

import (
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
	return head(t, r)
}

func head(t *testing.T, r Repository) Commit { return Commit(git(t, r.Root, "rev-parse", "HEAD")) }

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

func TestACommitThatIsNotThereIsRefused(t *testing.T) {
	r := newRepository(t, map[string]string{"a": "1"})
	first := string(head(t, r))
	tree := git(t, r.Root, "rev-parse", "HEAD^{tree}")
	for _, revision := range []string{"nowhere", strings.Repeat("0123", 10), "--all", "", tree} {
		_, err := r.Find(t.Context(), revision)
		expect.Error(t, err, "no commit of this repository", `"`+revision+`"`)
	}
	commit(t, r, map[string]string{"a": "2"})
	clone := Repository{Root: filepath.Join(t.TempDir(), "clone")}
	git(t, r.Root, "clone", "--quiet", "--depth", "1", "file://"+r.Root, clone.Root)
	_, err := clone.Find(t.Context(), first)
	expect.Error(t, err, first, "shallow", "git fetch --unshallow")
	dir := t.TempDir()
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	_, err = Repository{Root: dir}.Find(t.Context(), "HEAD")
	expect.Error(t, err, dir+" is none")
}
