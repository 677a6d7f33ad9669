package engines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"vitrine/scripts/local/fresh"
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
	return "", fmt.Errorf("it is not installed: run `%s` in %s, or set %s to one that runs", install, repository,
		EnvDynamoDB)
}

// npmPlatform is this machine in npm's words, for example linux-x64.
func npmPlatform() string {
	if runtime.GOARCH == "amd64" {
		return runtime.GOOS + "-x64"
	}
	return runtime.GOOS + "-" + runtime.GOARCH
}

// buildS3D returns the program of scripts/s3d.
func buildS3D(ctx context.Context, repository string, log io.Writer) (string, error) {
	return build(ctx, log, nested{repository, "scripts/s3d", "the S3 engine"})
}

// BuildSnapshot returns the program of scripts/internal/snapshot.
func BuildSnapshot(ctx context.Context, log io.Writer) (string, error) {
	repository, err := Root()
	if err != nil {
		return "", err
	}
	return build(ctx, log, nested{repository, "scripts/internal/snapshot", "the program that copies databases"})
}

// nested is a program that is a module of its own.
type nested struct{ repository, folder, what string }

// build returns the program. It builds it when it is missing or older than its sources; concurrent processes wait for
// one build.
func build(ctx context.Context, log io.Writer, n nested) (string, error) {
	source := filepath.Join(n.repository, filepath.FromSlash(n.folder))
	program := filepath.Join(n.repository, ".vitrine", "bin", filepath.Base(source))
	f := fresh.File{Path: program, Sources: []string{source}, Lock: program + ".lock"}
	return program, fresh.Make(ctx, f, func() error {
		fmt.Fprintf(log, "building %s (about a minute the first time)\n", n.what)
		return goBuild(ctx, source, program)
	})
}

// goBuild builds next to the program and renames, so that the program is always complete and may be
// replaced while it runs.
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
