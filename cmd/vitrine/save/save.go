// Package save writes a file either whole or not at all: a downloaded one, which overwrites a file only if allowed, and the
// program's own.
package save

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"vitrine/cmd/vitrine/failure"
)

// File is a file that is being saved. Until Keep it has a temporary name next to its final one.
type File struct {
	name  string
	force bool
	draft *os.File
}

// To prepares a file. It fails before the download if the file exists and force is not set.
func To(name string, force bool) (*File, error) {
	f := &File{name: name, force: force}
	info, err := os.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 && force {
		info, err = os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, failure.New(failure.Invalid, failure.Unsavable, "%s is a broken symbolic link",
				name).Advise("Name another --output, or remove the link.")
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, unusable(name, err)
	case info.IsDir():
		return nil, failure.New(failure.Invalid, failure.Unsavable, "%s is a folder",
			name).Advise("Name a file in it: --output FILE")
	case !force:
		return nil, f.taken()
	case !info.Mode().IsRegular():
		return nil, failure.New(failure.Invalid, failure.Unsavable, "%s is not a regular file, so it is not replaced", name).
			Advise("Name another --output; --output - writes to stdout.")
	}
	if info, err := os.Stat(filepath.Dir(name)); err != nil || !info.IsDir() {
		return nil, failure.New(failure.Invalid, failure.Unsavable, "the folder of %s does not exist",
			name).Advise("Create the folder, or name another --output.")
	}
	return f, nil
}

func (f *File) taken() error {
	return failure.New(failure.Invalid, failure.Unsavable, "%s exists already and was not changed", f.name).
		Advise("Name another --output, or give --force to replace it.")
}

func unusable(name string, err error) error {
	return failure.New(failure.Invalid, failure.Unsavable, "cannot write %s: %v", name, failure.Cause(err)).
		Advise("Name another --output.")
}

// Start returns an empty file to write to, without the output of an earlier attempt.
func (f *File) Start() (io.Writer, error) {
	f.Discard()
	draft, err := os.CreateTemp(filepath.Dir(f.name), ".vitrine-*")
	if err != nil {
		return nil, unusable(f.name, err)
	}
	f.draft = draft
	return writer{f}, nil
}

type writer struct{ *File }

func (w writer) Write(p []byte) (int, error) {
	n, err := w.draft.Write(p)
	if err != nil {
		err = unusable(w.name, err)
	}
	return n, err
}

// fileMode is the mode of a new file, less the umask.
const fileMode = 0o666

// Keep renames the file to its final name. It replaces a file that was created meanwhile only with force.
func (f *File) Keep() error {
	err := f.draft.Close()
	if err == nil {
		err = f.place()
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return f.taken()
	case err != nil:
		return unusable(f.name, err)
	}
	f.draft = nil
	return nil
}

// place renames the temporary file. Without force it first creates the final name, which fails if the file exists by
// now.
func (f *File) place() (err error) {
	draft := f.draft.Name()
	if !f.force {
		if err := reserve(f.name); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				os.Remove(f.name)
			}
		}()
	}
	mode := os.FileMode(fileMode)
	if info, err := os.Stat(f.name); err == nil {
		if !info.Mode().IsRegular() {
			return fs.ErrExist // created meanwhile
		}
		mode = info.Mode().Perm() // mode of the replaced file, or of the new one with the umask applied
	}
	if err := os.Chmod(draft, mode); err != nil {
		return err
	}
	return os.Rename(draft, f.name)
}

func reserve(name string) error {
	r, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
	if err != nil {
		return err
	}
	return r.Close()
}

// Discard removes what was written, unless it was kept.
func (f *File) Discard() {
	if f.draft == nil {
		return
	}
	f.draft.Close()
	os.Remove(f.draft.Name())
	f.draft = nil
}

// Private writes a file that only its user can read. It writes a new one beside it and renames that, so that a reader, or
// a process that dies, sees the old or the new one complete.
func Private(name string, text []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}
