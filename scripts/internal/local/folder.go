package main

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	data "vitrine/scripts/local/folder"
)

// minFree is the disk space below which a start is refused, because a full disk causes misleading
// failures of both engines.
const minFree = 200 << 20

// folder is the data folder, locked for this process.
type folder struct {
	path      string
	temporary bool
	lock      *data.Lock
}

// openFolder makes and locks the folder for the stack on the ports of base; an empty path is a new temporary one.
func openFolder(path string, base int) (_ *folder, err error) {
	f := &folder{path: path, temporary: path == ""}
	if f.temporary {
		f.path, err = os.MkdirTemp("", "vitrine-")
	} else {
		err = os.MkdirAll(path, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("the data folder cannot be made: %w: choose another with --data", err)
	}
	if f.lock, err = data.Take(f.path, data.User{PID: os.Getpid(), Base: base}); err == nil {
		err = enoughSpace(f.path, minFree)
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// close gives the folder back and removes a temporary one.
func (f *folder) close() error {
	var err error
	if f.temporary {
		err = os.RemoveAll(f.path)
	}
	if f.lock != nil {
		err = errors.Join(err, f.lock.Release())
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
