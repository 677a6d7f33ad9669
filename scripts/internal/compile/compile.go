// Package compile builds programs of the repository. The same sources and the same Go give the same bytes, wherever the
// repository is and whatever machine builds them.
package compile

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
)

// Program is a program for a system.
type Program struct {
	Name     string // in errors
	Package  string // as ./cmd/vitrine
	OS, Arch string
	Linker   string // flags
	Compiler string // flags, as PATTERN=FLAGS for some packages alone
	Tags     string // with commas between them
}

// Build writes the program to a file. Settings of whoever builds do not reach it.
func (p Program) Build(ctx context.Context, root, file string) error {
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags", p.Linker, "-tags", p.Tags,
		"-gcflags="+p.Compiler, "-o", file, p.Package)
	build.Dir = root
	build.Env = append(os.Environ(), "GOOS="+p.OS, "GOARCH="+p.Arch, "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=",
		"GOWORK=off", "GOARM64=", "GOAMD64=")
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("`go build` of %s failed (%w): %s", p.Name, err, bytes.TrimSpace(output))
	}
	return nil
}

// Version returns the version of Go that builds the repository.
func Version(ctx context.Context, root string) (string, error) {
	version := exec.CommandContext(ctx, "go", "env", "GOVERSION")
	version.Dir = root
	text, err := version.Output()
	if err != nil {
		return "", fmt.Errorf("`go env` in %s failed: %w", root, err)
	}
	return string(text), nil
}
