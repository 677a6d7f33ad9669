package copies

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// copyFile copies a file into a new one that only its owner may read, and describes it.
func copyFile(from, to string) (File, error) {
	source, err := os.Open(from)
	if err != nil {
		return File{}, err
	}
	defer source.Close()
	return writeFile(to, source)
}

// writeFile writes a new file that only its owner may read, and describes it. It returns when the disk has the bytes.
func writeFile(path string, from io.Reader) (File, error) {
	f := File{Name: filepath.Base(path)}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return f, err
	}
	sum := sha256.New()
	f.Size, err = io.Copy(io.MultiWriter(file, sum), from)
	if err == nil {
		err = file.Sync()
	}
	f.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return f, errors.Join(err, file.Close())
}

// describe reads a file through.
func describe(path string) (File, error) {
	f := File{Name: filepath.Base(path)}
	file, err := os.Open(path)
	if err != nil {
		return f, err
	}
	defer file.Close()
	sum := sha256.New()
	f.Size, err = io.Copy(sum, file)
	f.SHA256 = hex.EncodeToString(sum.Sum(nil))
	return f, err
}

// syncFolder makes what was created, linked and renamed in a folder last over a loss of power.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// spareRoom is what has to stay free beside a copy, because a full disk stops the stack that shares it.
const spareRoom = 200 << 20

// haveRoom refuses to write need bytes into a folder whose disk has no room for them.
func haveRoom(path string, need int64) error {
	var disk syscall.Statfs_t
	if err := syscall.Statfs(path, &disk); err != nil {
		return fmt.Errorf("the free space of %s is unknown: %w", path, err)
	}
	free := int64(disk.Bavail) * int64(disk.Bsize)
	if free < need+spareRoom {
		return fmt.Errorf("only %d MB are free where %s is and %d MB are needed: make room, or copy to another disk",
			free>>20, path, (need+spareRoom)>>20)
	}
	return nil
}

func megabytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }
