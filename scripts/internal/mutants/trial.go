package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
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

// steps returns the rounds, the cheapest first. Journeys begin with those that took least so far.
func (b bench) steps(importers map[string][]string, journeys []string) []step {
	return []step{
		{"short", func(f fault) []string { return []string{"-short", "-timeout", "5m", f.pkg()} }},
		{"own", func(f fault) []string { return []string{f.pkg()} }},
		{"importers", func(f fault) []string { return importers[f.pkg()] }},
		{"journeys", func(fault) []string {
			slices.SortStableFunc(journeys, func(p, q string) int { return cmp.Compare(b.seconds[p], b.seconds[q]) })
			return journeys
		}},
	}
}

// bench is the tree that faults are planted in, by overlays.
type bench struct {
	root    string
	scratch string             // a folder for overlays and for what tests leave
	seconds map[string]float64 // that the tests of a package took when they passed
}

// newBench returns the bench of a tree.
func newBench(root, scratch string) bench {
	return bench{root: root, scratch: scratch, seconds: map[string]float64{}}
}

// compiles says whether the package of a fault can be built with it.
func (b bench) compiles(ctx context.Context, f fault) (bool, error) {
	c, err := b.command(ctx, f, "build", "-o", os.DevNull, f.pkg())
	if err != nil {
		return false, err
	}
	return c.Run() == nil, ctx.Err()
}

// failing returns the first test that fails with a fault in place, as "package test", or "" if all pass. It ends all
// tests with the first failure, because the others would tell nothing more.
func (b bench) failing(ctx context.Context, f fault, tests []string) (string, error) {
	args := append([]string{"test", "-json", "-vet=off", "-count=1", "-failfast", "-timeout", "15m"}, tests...)
	c, err := b.command(ctx, f, args...)
	if err != nil {
		return "", err
	}
	// Tests that are killed leave their files.
	left := filepath.Join(b.scratch, "left")
	if err := os.MkdirAll(left, 0o700); err != nil {
		return "", err
	}
	defer os.RemoveAll(left)
	c.Env = append(c.Env, "TMPDIR="+left)
	stream, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return "", err
	}
	caught := b.firstFailure(stream)
	if caught != "" {
		_ = c.Cancel() // fails only when all have ended
	}
	failed := c.Wait() != nil
	if err := ctx.Err(); err != nil || !failed {
		return "", err
	}
	return cmp.Or(caught, "the build of the tests"), nil
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

// firstFailure reads the stream of go test -json until a test fails, and returns that test. A package that fails
// without a test, because it panics or is not built, counts if no test fails in the whole stream.
func (b bench) firstFailure(stream io.Reader) string {
	var pkg string
	lines := bufio.NewScanner(stream)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e struct {
			Action, Package, Test, Output string
			Elapsed                       float64
		}
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Package == "" {
			continue
		}
		switch {
		case e.Action == "pass" && e.Test == "":
			b.seconds[e.Package] = e.Elapsed
		case e.Test != "" && (e.Action == "fail" || saysFailed(e.Output, e.Test)):
			top, _, _ := strings.Cut(e.Test, "/")
			return e.Package + " " + top
		case e.Action == "fail" && pkg == "":
			pkg = e.Package
		}
	}
	_, _ = io.Copy(io.Discard, stream) // after a line that is too long, so that the command can end
	return pkg
}

// saysFailed reports whether a line of output is the verdict on a test. It comes at once, and the event of it only
// before the next one.
func saysFailed(line, test string) bool {
	return strings.HasPrefix(strings.TrimLeft(line, " "), "--- FAIL: "+test+" (")
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

// journeysOf returns the packages of journeys.
func journeysOf(ctx context.Context, root string) ([]string, error) {
	list := exec.CommandContext(ctx, "go", "list", "./scripts/journey/...")
	list.Dir, list.Stderr = root, os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("list journeys: %w", err)
	}
	return strings.Fields(string(out)), nil
}
