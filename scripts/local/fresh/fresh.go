// Package fresh remakes files that are missing or older than their sources, or were made of others. Of the processes
// that need the same file at once, one makes it and the others wait.
package fresh

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// File is a file to make.
type File struct {
	Path    string
	Sources []string // files and folders, a folder with everything below it; tests do not count
	// Key counts instead of the dates of sources if it is given; see the function Key.
	Key string
	// Lock is a file that is locked while this one is made; the step must not remove it.
	Lock string
}

// made is where the key of the sources is kept that a file was made of.
func (f File) made() string { return f.Path + ".key" }

// pollInterval is how often a waiting process checks whether the lock is free.
const pollInterval = 25 * time.Millisecond

// Make runs the step that makes a file if needed, and dates the file back to the start of the step,
// because a source may change while it runs. An error of ctx means that another process's step took
// too long.
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
	if err := os.RemoveAll(f.made()); err != nil {
		return err
	}
	if err := step(); err != nil {
		return err
	}
	if f.Key != "" {
		if err := os.WriteFile(f.made(), []byte(f.Key), 0o644); err != nil {
			return err
		}
	}
	return os.Chtimes(f.Path, started, started)
}

// fresh reports whether the file exists and was made of these sources, which means that no source is newer if they have
// no key.
func (f File) fresh() (bool, error) {
	made, err := os.Stat(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if f.Key != "" {
		key, err := os.ReadFile(f.made())
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return string(key) == f.Key, err
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

// lock waits for the exclusive lock on a file and returns its release. The kernel releases it with
// the process, so that none is ever left behind.
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

// Key returns a digest of sources, which are relative to a root, and of what else decides the result. As in File, a
// folder stands for everything below it but tests and what npm installs.
func Key(root string, sources []string, rest ...string) (string, error) {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q\n", rest)
	for _, source := range sources {
		top := filepath.Join(root, source)
		err := filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "node_modules":
				return fs.SkipDir
			case d.IsDir(), file != top && strings.HasSuffix(file, "_test.go"):
				return nil
			}
			text, err := os.ReadFile(file)
			name, _ := filepath.Rel(root, file) // it is below the root
			fmt.Fprintf(sum, "%q %d\n", name, len(text))
			sum.Write(text)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
