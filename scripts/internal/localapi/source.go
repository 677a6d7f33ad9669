package localapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"vitrine/scripts/internal/package/bootstrap"
	"vitrine/scripts/local/fresh"
	"vitrine/shared/platform/env"
)

// Sources is the repository, from which templates and programs are made when they are missing or
// out of date. Concurrent test binaries wait for each other.
type Sources struct {
	Root string
	Log  io.Writer // logs slow steps
}

// Templates returns the folder of the templates.
func (s Sources) Templates(ctx context.Context) (string, error) {
	folder := filepath.Join(s.Root, "cdk.out")
	f := fresh.File{
		Path: filepath.Join(folder, "manifest.json"),
		Sources: []string{
			filepath.Join(s.Root, "infra"), filepath.Join(s.Root, "cdk.json"), filepath.Join(s.Root, "scripts", "synth"),
		},
		Lock: filepath.Join(s.Root, ".vitrine", "make.lock"),
	}
	return folder, fresh.Make(ctx, f, func() error {
		if _, err := exec.LookPath("node"); err != nil {
			return errors.New("the templates in cdk.out are missing or old, and the CDK makes them with Node.js: " +
				"install Node.js 20 or newer, then run this again")
		}
		fmt.Fprintln(s.Log, "the templates in cdk.out are missing or old: scripts/synth makes them")
		// Only a deployment runs programs for another machine than this one, and it makes templates of its own.
		args := []string{"-c", "dist=.vitrine/dist"}
		if runtime.GOARCH == "amd64" {
			args = append(args, "-c", "arch=x86_64")
		}
		synth := exec.CommandContext(ctx, filepath.Join(s.Root, "scripts", "synth"), args...)
		synth.Dir = s.Root
		synth.Stdout = s.Log
		synth.Stderr = s.Log
		if err := synth.Run(); err != nil {
			return fmt.Errorf("scripts/synth failed, see above: %w", err)
		}
		return nil
	})
}

// Programs returns the program of each function that answers requests.
func (s Sources) Programs(ctx context.Context) (map[string]string, error) {
	programs := map[string]string{}
	for _, host := range append(slices.Clone(env.Hosts), env.Pages) {
		program, err := bootstrap.Program(ctx, host, runtime.GOARCH, s.Log)
		if err != nil {
			return nil, err
		}
		programs[host] = program
	}
	return programs, nil
}
