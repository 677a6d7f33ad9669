// Package files writes files that a crash or a loss of power leaves whole.
package files

import (
	"errors"
	"io"
	"os"
	"path/filepath"
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
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
