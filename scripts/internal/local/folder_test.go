package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"testing"

	"vitrine/scripts/testkit/expect"
)

func TestAFolderServesOneStackAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	first, err := openFolder(path, 8700)
	if err != nil {
		t.Fatal(err)
	}
	_, err = openFolder(path, 8700)
	expect.Error(t, err, fmt.Sprintf("process %d", os.Getpid()), path, "--data")
	if err := first.close(); err != nil {
		t.Fatal(err)
	}
	second, err := openFolder(path, 8700)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.close(); err != nil {
		t.Fatal(err)
	}
}

func TestATemporaryFolderGoesAway(t *testing.T) {
	f, err := openFolder("", 8700)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(f.path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is still there: %v", f.path, err)
	}
}

func TestAFolderThatCannotBeMadeIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := openFolder(filepath.Join(file, "data"), 8700)
	expect.Error(t, err, file, "--data")
}

func TestTooLittleSpaceIsRefused(t *testing.T) {
	dir := t.TempDir()
	if err := enoughSpace(dir, 0); err != nil {
		t.Error(err)
	}
	expect.Error(t, enoughSpace(dir, math.MaxUint64), dir, "make room", "--data")
}
