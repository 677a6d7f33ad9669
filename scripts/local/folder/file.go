package folder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Replace writes a file that only its owner may read. A crash leaves the old one or the new one, and the new one is on
// the disk when Replace returns.
func Replace(path string, from io.Reader) error {
	file, err := os.OpenFile(path+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, from)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	return Sync(filepath.Dir(path))
}

// ReplaceJSON writes a value as Replace does.
func ReplaceJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return Replace(path, bytes.NewReader(append(text, '\n')))
}

// Sync makes what was created, linked and renamed in a folder last over a loss of power.
func Sync(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// spareRoom is what has to stay free, because a full disk stops a stack.
const spareRoom = 200 << 20

// HaveRoom refuses to write need bytes to a path whose disk has no room for them. The path need not exist.
func HaveRoom(path string, need int64) error {
	above := path
	for _, err := os.Stat(above); errors.Is(err, fs.ErrNotExist); _, err = os.Stat(above) {
		above = filepath.Dir(above)
	}
	var disk syscall.Statfs_t
	if err := syscall.Statfs(above, &disk); err != nil {
		return fmt.Errorf("the free space of %s is unknown: %w", above, err)
	}
	if free := int64(disk.Bavail) * int64(disk.Bsize); free < need+spareRoom {
		return fmt.Errorf("only %d MB are free where %s is and %d MB are needed: make room, or choose another disk",
			free>>20, path, (need+spareRoom)>>20)
	}
	return nil
}
