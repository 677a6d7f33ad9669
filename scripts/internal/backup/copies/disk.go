package copies

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
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

func megabytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }
