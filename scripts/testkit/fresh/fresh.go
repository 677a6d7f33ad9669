// Package fresh makes files anew that are missing or older than what they are made of. Processes that need the same file
// at once wait for each other, and one makes it.
package fresh

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// File is what is made.
type File struct {
	Path    string
	Sources []string // files and folders, a folder with everything below it; tests are no sources
	// Lock is a file that those who make this one hold; nothing that they make may remove it.
	Lock string
}

// pollInterval is how often somebody who waits looks whether the lock is free.
const pollInterval = 25 * time.Millisecond

// Make runs the step that makes a file if that is needed, and dates the file back to the start of the step: a source may
// change while it runs. An error of ctx says that somebody else's step took too long.
func Make(ctx context.Context, f File, step func() error) error {
	if fresh, err := f.fresh(); fresh || err != nil {
		return err
	}
	unlock, err := lock(ctx, f.Lock)
	if err != nil {
		return err
	}
	defer unlock()
	if fresh, err := f.fresh(); fresh || err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
		return err
	}
	started := time.Now()
	if err := step(); err != nil {
		return err
	}
	return os.Chtimes(f.Path, started, started)
}

// fresh tells whether the file is there and no source is newer.
func (f File) fresh() (bool, error) {
	made, err := os.Stat(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	fresh := true
	for _, source := range f.Sources {
		err := filepath.WalkDir(source, func(path string, d fs.DirEntry, err error) error {
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

// lock waits for the exclusive lock on a file and returns its release. It ends with the process, so none is ever left
// behind.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
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
			return nil, fmt.Errorf("wait for another build: %w", context.Cause(ctx))
		case <-tick.C:
		}
	}
}
