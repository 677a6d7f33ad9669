package localapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"vitrine/scripts/internal/package/bootstrap"
	"vitrine/scripts/testkit/fresh"
	"vitrine/shared/platform/env"
)

// Sources is the repository, from which templates and programs are made when they are missing or
// out of date. Concurrent test binaries wait for each other.
type Sources struct {
	Root string
	Log  io.Writer // logs slow steps
}

// The sources of templates and programs. A folder includes everything below it.
var (
	templateSources = []string{"infra", "cdk.json", "scripts/synth"}
	programSources  = []string{"functions", "shared", "go.mod", "go.sum", "scripts/internal/package/bootstrap"}
)

// Templates returns the folder of the templates.
func (s Sources) Templates(ctx context.Context) (string, error) {
	folder := filepath.Join(s.Root, "cdk.out")
	return folder, s.make(ctx, filepath.Join(folder, "manifest.json"), templateSources, func() error {
		if _, err := exec.LookPath("node"); err != nil {
			return errors.New("the templates in cdk.out are missing or old, and the CDK makes them with Node.js: " +
				"install Node.js 20 or newer, then run this again")
		}
		fmt.Fprintln(s.Log, "the templates in cdk.out are missing or old: scripts/synth makes them")
		synth := exec.CommandContext(ctx, filepath.Join(s.Root, "scripts", "synth"))
		synth.Dir = s.Root
		synth.Stdout = s.Log
		synth.Stderr = s.Log
		if err := synth.Run(); err != nil {
			return fmt.Errorf("scripts/synth failed, see above: %w", err)
		}
		return nil
	})
}

// Programs returns the program of each function that answers requests, built for this machine and otherwise as it is deployed.
func (s Sources) Programs(ctx context.Context) (map[string]string, error) {
	programs := map[string]string{}
	for _, host := range append(slices.Clone(env.Hosts), env.Pages) {
		program := filepath.Join(s.Root, ".vitrine", "bin", "lambda", host)
		err := s.make(ctx, program, programSources, func() error {
			fmt.Fprintf(s.Log, "building the function of host %s\n", host)
			if err := bootstrap.Build(ctx, host, runtime.GOARCH, program+".new"); err != nil {
				return err
			}
			return os.Rename(program+".new", program)
		})
		if err != nil {
			return nil, err
		}
		programs[host] = program
	}
	return programs, nil
}

// make makes a file of the repository if it is missing or out of date.
func (s Sources) make(ctx context.Context, file string, sources []string, step func() error) error {
	f := fresh.File{Path: file, Lock: filepath.Join(s.Root, ".vitrine", "make.lock")}
	for _, source := range sources {
		f.Sources = append(f.Sources, filepath.Join(s.Root, source))
	}
	return fresh.Make(ctx, f, step)
}
