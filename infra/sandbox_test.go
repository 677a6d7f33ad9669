package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/scripts/testkit/executable"
)

// sandbox is a folder in which a script of the repository runs beside stand-ins for the programs that it calls. These
// record their calls.
type sandbox struct {
	folder, script string
	env            []string
}

// newSandbox makes a folder with a script, what it sources, and other files, all of which are executable.
func newSandbox(t *testing.T, script string, files map[string]string, env ...string) *sandbox {
	t.Helper()
	s := &sandbox{folder: t.TempDir(), script: filepath.Join("scripts", script)}
	for _, name := range []string{s.script, filepath.Join("scripts", "prepare")} {
		text, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	for name, text := range files {
		executable.Write(t, filepath.Join(s.folder, name), text)
	}
	s.env = append(os.Environ(), "PATH="+filepath.Join(s.folder, "bin")+":"+os.Getenv("PATH"),
		"CALLS="+filepath.Join(s.folder, "calls"), "AWS_REGION=", "AWS_DEFAULT_REGION=")
	s.env = append(s.env, env...)
	return s
}

// run runs the script with changes to its environment and the typed input; calls are all that were recorded.
func (s *sandbox) run(
	t *testing.T,
	env []string,
	typed string,
	args ...string,
) (stdout, stderr, calls string, ok bool) {
	t.Helper()
	c := exec.CommandContext(t.Context(), filepath.Join(s.folder, s.script), args...)
	var out, complaints strings.Builder
	c.Env, c.Stdin, c.Stdout, c.Stderr = append(s.env, env...), strings.NewReader(typed), &out, &complaints
	err := c.Run()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s did not start: %v", s.script, err)
	}
	log, _ := os.ReadFile(filepath.Join(s.folder, "calls")) // there may be none
	return out.String(), complaints.String(), string(log), err == nil
}
