package stripe

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"vitrine/scripts/local/engines"
	"vitrine/scripts/local/fresh"
)

// mockModule is the program that validates requests. It is no part of go.mod, where its requirements would move ours.
const mockModule = "github.com/stripe/stripe-mock@v0.203.0"

// StartMock starts stripe-mock on a free port of this machine until stop is called. It installs the program where it is
// missing.
func StartMock(ctx context.Context) (url string, stop func(), err error) {
	program, err := installMock(ctx)
	if err != nil {
		return "", nil, err
	}
	process, url, err := engines.Run(ctx, "stripe-mock", func(address string) []string {
		return []string{program, "-http-addr", address}
	})
	return url, process.End, err
}

// installMock returns the program, which concurrent tests install once.
func installMock(ctx context.Context) (string, error) {
	root, err := engines.Root()
	if err != nil {
		return "", err
	}
	folder := filepath.Join(root, ".vitrine", "bin", "stripe-mock@v0.203.0")
	program := filepath.Join(folder, "stripe-mock")
	return program, fresh.Make(ctx, fresh.File{Path: program, Lock: folder + ".lock"}, func() error {
		install := exec.CommandContext(ctx, "go", "install", mockModule)
		install.Env = append(os.Environ(), "GOBIN="+folder, "GOFLAGS=", "GOWORK=off")
		install.Dir = os.TempDir() // outside this module
		if out, err := install.CombinedOutput(); err != nil {
			return fmt.Errorf("go install %s: %w: %s", mockModule, err, out)
		}
		return nil
	})
}
