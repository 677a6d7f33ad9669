package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// step is a round of tests that all faults go through which none before has caught.
type step struct {
	name  string
	tests func(f fault) []string // arguments of go test, none where the step has no tests for the fault
}

// steps returns the rounds, the cheapest first.
func steps(importers map[string][]string) []step {
	return []step{
		{"short", func(f fault) []string { return []string{"-short", "-timeout", "5m", f.pkg()} }},
		{"own", func(f fault) []string { return []string{f.pkg()} }},
		{"importers", func(f fault) []string { return importers[f.pkg()] }},
		{"journeys", func(fault) []string { return []string{"./scripts/journey/..."} }},
	}
}

// bench is the tree that faults are planted in, by overlays.
type bench struct {
	root    string
	scratch string // a folder for overlays
}

// compiles says whether the package of a fault can be built with it.
func (b bench) compiles(ctx context.Context, f fault) (bool, error) {
	c, err := b.command(ctx, f, "build", "-o", os.DevNull, f.pkg())
	if err != nil {
		return false, err
	}
	return c.Run() == nil, ctx.Err()
}

// failing returns the first test that fails with a fault in place, as "package test", or "" if all pass.
func (b bench) failing(ctx context.Context, f fault, tests []string) (string, error) {
	args := append([]string{"test", "-json", "-vet=off", "-count=1", "-failfast", "-timeout", "15m"}, tests...)
	c, err := b.command(ctx, f, args...)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	c.Stdout = &out
	failed := c.Run() != nil
	if err := ctx.Err(); err != nil || !failed {
		return "", err
	}
	return firstFailure(out.Bytes()), nil
}

// command makes a go command that sees the fault, and so do the go commands that tests run.
func (b bench) command(ctx context.Context, f fault, args ...string) (*exec.Cmd, error) {
	changed, overlay := filepath.Join(b.scratch, "fault.go"), filepath.Join(b.scratch, "overlay.json")
	if err := f.plant(b.root, changed); err != nil {
		return nil, err
	}
	replaced, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(b.root, f.File): changed},
	})
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(overlay, replaced, 0o600); err != nil {
		return nil, err
	}
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir = b.root
	c.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
	// Tests start processes. All of them end when the time is over.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	return c, nil
}

// firstFailure reads the stream of go test -json.
func firstFailure(stream []byte) string {
	var pkg string
	lines := bufio.NewScanner(bytes.NewReader(stream))
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e struct{ Action, Package, Test string }
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Action != "fail" || e.Package == "" {
			continue
		}
		if e.Test != "" {
			top, _, _ := strings.Cut(e.Test, "/")
			return e.Package + " " + top
		}
		if pkg == "" {
			pkg = e.Package
		}
	}
	if pkg == "" {
		pkg = "the build of the tests"
	}
	return pkg
}

// again returns the arguments of go test that run what caught a fault before.
func again(caught string) []string {
	pkg, test, found := strings.Cut(caught, " ")
	if !found || !strings.HasPrefix(test, "Test") {
		return nil
	}
	return []string{"-run", "^" + regexp.QuoteMeta(test) + "$", pkg}
}

// importersOf returns, for each package of the rooms, those packages of the rooms that import it, in code or in tests.
func importersOf(ctx context.Context, root string) (map[string][]string, error) {
	list := exec.CommandContext(ctx, "go", "list", "-json=ImportPath,Module,Imports,TestImports,XTestImports", "./...")
	list.Dir, list.Stderr = root, os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages: %w", err)
	}
	importers := map[string][]string{}
	packages := json.NewDecoder(bytes.NewReader(out))
	for packages.More() {
		var p struct {
			ImportPath                         string
			Module                             struct{ Path string }
			Imports, TestImports, XTestImports []string
		}
		if err := packages.Decode(&p); err != nil {
			return nil, err
		}
		local := func(path string) string { return "." + strings.TrimPrefix(path, p.Module.Path) }
		room, _, _ := strings.Cut(strings.TrimPrefix(local(p.ImportPath), "./"), "/")
		if !slices.Contains(rooms, room) {
			continue
		}
		for _, path := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if strings.HasPrefix(path, p.Module.Path+"/") && path != p.ImportPath &&
				!slices.Contains(importers[local(path)], local(p.ImportPath)) {
				importers[local(path)] = append(importers[local(path)], local(p.ImportPath))
			}
		}
	}
	return importers, nil
}
