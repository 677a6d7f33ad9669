// Package upgrade unpacks a release of this program and puts it in the place of the one that runs.
package upgrade

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"vitrine/shared/platform/release"
)

// Limits of what is downloaded, in bytes.
const (
	MaxArchive = 64 << 20
	maxProgram = 256 << 20
)

// Verify compares an archive with the list of checksums.
func Verify(checksums []byte, name string, archive []byte) error {
	sum, listed := release.Sums(checksums)[name]
	if !listed {
		return fmt.Errorf("%s does not list %s", release.Checksums, name)
	}
	if got := sha256.Sum256(archive); hex.EncodeToString(got[:]) != sum {
		return fmt.Errorf("%s has another SHA-256 than %s says", name, release.Checksums)
	}
	return nil
}

// Unpack returns the program in an archive.
func Unpack(name string, archive []byte) ([]byte, error) {
	if strings.HasSuffix(name, ".zip") {
		return unzip(archive)
	}
	packed, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	for files := tar.NewReader(packed); ; {
		head, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("the archive has no program")
		}
		if err != nil {
			return nil, err
		}
		if head.Name == "vitrine" {
			return readProgram(files)
		}
	}
}

func unzip(archive []byte) ([]byte, error) {
	files, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	program, err := files.Open("vitrine.exe")
	if err != nil {
		return nil, err
	}
	defer program.Close()
	return readProgram(program)
}

func readProgram(from io.Reader) ([]byte, error) {
	program, err := io.ReadAll(io.LimitReader(from, maxProgram+1))
	if err == nil && len(program) > maxProgram {
		err = fmt.Errorf("the program has more than %d MiB", maxProgram>>20)
	}
	return program, err
}

// owners are parts of paths below which package managers keep programs.
var owners = map[string]string{
	"/Cellar/": "Homebrew", "/homebrew/": "Homebrew", "/linuxbrew/": "Homebrew", "/nix/store/": "Nix", "/snap/": "snap",
	"/scoop/apps/": "Scoop", "/WinGet/": "winget", "/chocolatey/": "Chocolatey", "/opt/local/": "MacPorts",
	"/node_modules/": "npm",
}

// Manager names what manages the program at a path, and so has to upgrade it; "" if nothing does. Folders of the system
// belong to its package manager.
func Manager(file string) string {
	file = filepath.ToSlash(file)
	for part, name := range owners {
		if strings.Contains(file, part) {
			return name
		}
	}
	for _, folder := range []string{"/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/", "/usr/lib/"} {
		if strings.HasPrefix(file, folder) {
			return "the package manager of the system"
		}
	}
	return ""
}

// Replace puts a program in the place of a file, once check accepts it there under another name. Whoever starts the file
// meanwhile gets the old program or the new one, whole.
func Replace(file string, program []byte, check func(file string) error) (err error) {
	out, err := os.CreateTemp(filepath.Dir(file), ".vitrine-*"+filepath.Ext(file))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(out.Name())
		}
	}()
	_, err = out.Write(program)
	if err = errors.Join(err, out.Chmod(0o755), out.Sync(), out.Close()); err != nil {
		return err
	}
	if err := check(out.Name()); err != nil {
		return err
	}
	if runtime.GOOS != "windows" {
		return os.Rename(out.Name(), file)
	}
	old := file + ".old" // Windows renames the file of a running program, but does not replace it
	_ = os.Remove(old)
	if err := os.Rename(file, old); err != nil {
		return err
	}
	if err := os.Rename(out.Name(), file); err != nil {
		return errors.Join(err, os.Rename(old, file))
	}
	return nil
}
