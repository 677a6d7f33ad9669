package localapi

import (
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

	"vitrine/scripts/package/bootstrap"
)

// Sources is the repository, from which templates and programs are made when they are missing or older than what they
// are made of. Test binaries that do so at once wait for each other.
type Sources struct {
	Root string
	Log  io.Writer // gets what takes long
}

// What templates and programs are made of. A folder counts with everything below it.
var (
	templateSources = []string{"infra", "cdk.json", "scripts/synth"}
	programSources  = []string{"functions", "shared", "go.mod", "go.sum", "scripts/package/bootstrap"}
)

// Templates returns the folder of the templates.
func (s Sources) Templates(ctx context.Context) (string, error) {
	folder := filepath.Join(s.Root, "cdk.out")
	return folder, s.make(filepath.Join(folder, "manifest.json"), templateSources, func() error {
		if _, err := exec.LookPath("node"); err != nil {
			return errors.New("the templates in cdk.out are missing or old, and the CDK makes them with Node.js: " +
				"install Node.js 20 or newer, then run this again")
		}
		fmt.Fprintln(s.Log, "the templates in cdk.out are missing or old: scripts/synth makes them")
		synth := exec.CommandContext(ctx, filepath.Join(s.Root, "scripts", "synth"))
		synth.Dir, synth.Stdout, synth.Stderr = s.Root, s.Log, s.Log
		if err := synth.Run(); err != nil {
			return fmt.Errorf("scripts/synth failed, see above: %w", err)
		}
		return nil
	})
}

// Programs returns the program of each host's function, built for this machine and otherwise as it is deployed.
func (s Sources) Programs(ctx context.Context) (map[string]string, error) {
	programs := map[string]string{}
	for _, host := range bootstrap.Hosts {
		program := filepath.Join(s.Root, ".vitrine", "bin", "lambda", host)
		err := s.make(program, programSources, func() error {
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

// make runs the step that makes a file if a source is newer, and dates the file back to the start of the step: a source
// may change while it runs.
func (s Sources) make(file string, sources []string, step func() error) error {
	if fresh, err := s.fresh(file, sources); fresh || err != nil {
		return err
	}
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if fresh, err := s.fresh(file, sources); fresh || err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	started := time.Now()
	if err := step(); err != nil {
		return err
	}
	return os.Chtimes(file, started, started)
}

// fresh tells whether the file is there and no source is newer. Tests are no sources.
func (s Sources) fresh(file string, sources []string) (bool, error) {
	made, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	fresh := true
	for _, source := range sources {
		err := filepath.WalkDir(filepath.Join(s.Root, source), func(path string, d fs.DirEntry, err error) error {
			if err != nil || strings.HasSuffix(path, "_test.go") {
				return err
			}
			info, err := d.Info()
			if err == nil && info.ModTime().After(made.ModTime()) {
				fresh = false
				return fs.SkipAll
			}
			return err
		})
		if err != nil {
			return false, err
		}
	}
	return fresh, nil
}

// lock waits for the lock on what is made. It ends with the process, so none is ever left behind.
func (s Sources) lock() (unlock func(), err error) {
	folder := filepath.Join(s.Root, ".vitrine")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(folder, "make.lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); err != nil {
		file.Close()
		return nil, fmt.Errorf("lock %s: %w", file.Name(), err)
	}
	return func() { file.Close() }, nil
}
