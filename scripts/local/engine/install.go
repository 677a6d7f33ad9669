package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Root returns the folder of the repository: the nearest one with the go.mod of
// module vitrine, above the working directory or above the running program.
func Root() (string, error) {
	from, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if root, ok := rootAbove(from); ok {
		return root, nil
	}
	if program, err := os.Executable(); err == nil {
		if root, ok := rootAbove(filepath.Dir(program)); ok {
			return root, nil
		}
	}
	return "", fmt.Errorf("no go.mod of module vitrine above %s: run this inside the repository", from)
}

func rootAbove(dir string) (string, bool) {
	for {
		mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(mod, []byte("module vitrine\n")) {
			return dir, true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", false
		}
		dir = parent
	}
}

// findDynoxide returns the program of the npm package for this machine.
func findDynoxide(repository string) (string, error) {
	name := npmPlatform()
	program := filepath.Join(repository, "node_modules", "@dynoxide", name, "dynoxide")
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	install := "npm ci"
	if name != "linux-x64" { // the only one in the lock file
		install = "npm install --no-save @dynoxide/" + name
	}
	return "", fmt.Errorf("it is not installed: run `%s` in %s, or set %s to one that runs", install, repository, EnvDynamoDB)
}

// npmPlatform is this machine in npm's words, for example linux-x64.
func npmPlatform() string {
	if runtime.GOARCH == "amd64" {
		return runtime.GOOS + "-x64"
	}
	return runtime.GOOS + "-" + runtime.GOARCH
}

// buildS3D returns the program of scripts/s3d. It builds it when it is missing
// or older than its sources; test binaries that run at once wait for one build.
func buildS3D(ctx context.Context, repository string, log io.Writer) (string, error) {
	source := filepath.Join(repository, "scripts", "s3d")
	program := filepath.Join(repository, ".vitrine", "bin", "s3d")
	if fresh, err := newerThanSources(program, source); fresh || err != nil {
		return program, err
	}
	if err := os.MkdirAll(filepath.Dir(program), 0o755); err != nil {
		return "", err
	}
	unlock, err := lockFile(ctx, program+".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	if fresh, err := newerThanSources(program, source); fresh || err != nil {
		return program, err
	}
	fmt.Fprintln(log, "building the S3 engine (about a minute the first time)")
	return program, goBuild(ctx, source, program)
}

// newerThanSources reports whether the program exists and no source in the
// folder is newer.
func newerThanSources(program, source string) (bool, error) {
	built, err := os.Stat(program)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	entries, err := os.ReadDir(source)
	if err != nil {
		return false, err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			return false, err
		}
		if !strings.HasSuffix(entry.Name(), "_test.go") && info.ModTime().After(built.ModTime()) {
			return false, nil
		}
	}
	return true, nil
}

// goBuild builds beside the program and renames, so that the program is always
// whole and may be replaced while it runs.
func goBuild(ctx context.Context, source, program string) error {
	build := exec.CommandContext(ctx, "go", "build", "-buildvcs=false", "-o", program+".new", ".")
	build.Dir = source
	build.Env = append(os.Environ(), "GOWORK=off")
	output, err := build.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return errors.New("it has to be built and `go` is not on the PATH: install Go 1.26 or newer")
	}
	if err != nil {
		return fmt.Errorf("`go build` in %s failed (%w): %s", source, err, bytes.TrimSpace(output))
	}
	return os.Rename(program+".new", program)
}

// lockFile waits for the exclusive lock on the file and returns its release.
// The lock ends with the process, so none is ever left behind.
func lockFile(ctx context.Context, path string) (func(), error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			file.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, fmt.Errorf("wait for another build of the S3 engine: %w", context.Cause(ctx))
		case <-tick.C:
		}
	}
}
