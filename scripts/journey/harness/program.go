package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"vitrine/scripts/local/engines"
	"vitrine/scripts/local/fresh"
)

// builtCommand is the command, which all tests of a process share.
var builtCommand = sync.OnceValues(func() (string, error) {
	return BuildProgram("vitrine", "./cmd/vitrine", "cmd", "shared")
})

// Command prepares vitrine with a home of its own, the API key of an agent or none, and nothing of the developer's
// login.
func (env *Env) Command(t testing.TB, home, key string, args ...string) *exec.Cmd {
	t.Helper()
	run := exec.CommandContext(t.Context(), Must(builtCommand())(t), args...)
	run.Dir = home
	run.Env = append(os.Environ(), "VITRINE_URL="+env.Origins.API, "VITRINE_API_KEY="+key, "XDG_CONFIG_HOME="+home,
		"XDG_STATE_HOME="+home, "HOME="+home, "DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere", "NO_COLOR=1", "BROWSER=", "CI=1")
	return run
}

// BuildProgram builds a command of this repository and returns the program. It looks at every source, folders and files
// of the repository, because the test cache otherwise keeps results of tests whose program has changed since.
func BuildProgram(name, command string, sources ...string) (string, error) {
	root, err := engines.Root()
	if err != nil {
		return "", err
	}
	key, err := fresh.Key(root, append(sources, "go.mod", "go.sum"), command)
	if err != nil {
		return "", err
	}
	program := filepath.Join(root, ".vitrine", "bin", name)
	f := fresh.File{Path: program, Key: key, Lock: program + ".lock"}
	return program, fresh.Make(ctx, f, func() error {
		build := exec.Command("go", "build", "-o", program+".new", command)
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return os.Rename(program+".new", program)
	})
}
