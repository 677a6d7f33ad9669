package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// minFree is the disk space below which a start is refused, because a full disk causes misleading
// failures of both engines.
const minFree = 200 << 20

// folder is the data folder, locked for this process.
type folder struct {
	path      string
	temporary bool
	lock      *os.File
}

// openFolder makes and locks the folder; an empty path is a new temporary one.
func openFolder(path string) (_ *folder, err error) {
	f := &folder{path: path, temporary: path == ""}
	if f.temporary {
		f.path, err = os.MkdirTemp("", "vitrine-")
	} else {
		err = os.MkdirAll(path, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("the data folder cannot be made: %w: choose another with --data", err)
	}
	if err = f.takeLock(); err == nil {
		err = enoughSpace(f.path, minFree)
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// takeLock locks the folder until this process ends, kill -9 included.
func (f *folder) takeLock() error {
	lock, err := os.OpenFile(filepath.Join(f.path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("the data folder cannot be written: %w: choose another with --data", err)
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		owner, _ := os.ReadFile(lock.Name()) // only for the message
		lock.Close()
		return fmt.Errorf(
			"another stack (process %s) runs on the data in %s: stop it, or choose another folder with --data and other "+
				"ports with --ports",
			strings.TrimSpace(string(owner)), f.path)
	}
	if err == nil {
		err = lock.Truncate(0)
	}
	if err == nil {
		_, err = fmt.Fprintln(lock, os.Getpid())
	}
	if err != nil {
		lock.Close()
		return fmt.Errorf("the data folder %s cannot be locked: %w", f.path, err)
	}
	f.lock = lock
	return nil
}

// close gives the folder back and removes a temporary one.
func (f *folder) close() error {
	var err error
	if f.temporary {
		err = os.RemoveAll(f.path)
	}
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
	}
	return err
}

// enoughSpace fails if fewer than need bytes are free at path.
func enoughSpace(path string, need uint64) error {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(path, &disk); err != nil {
		return fmt.Errorf("the free space of %s is unknown: %w", path, err)
	}
	free := uint64(disk.Bavail) * uint64(disk.Bsize)
	if free < need {
		return fmt.Errorf(
			"only %d MB are free where %s is and at least %d MB are needed: make room, or choose another folder with --data",
			free>>20, path, need>>20)
	}
	return nil
}
