package agent

import (
	"bytes"
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"vitrine/cmd/vitrine/failure"
)

// maxFile bounds the files of clients, in bytes.
const maxFile = 16 << 20

// file is a file of a client as it was read.
type file struct {
	name    string // of the file itself, also where a link leads to it
	text    []byte
	mode    fs.FileMode
	there   bool
	private bool     // a new file is for its user alone
	missing []string // the file and folders that are not there, the outermost first
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// refused is the failure of a file that is left as it is.
func refused(name, format string, args ...any) *failure.Failure {
	f := failure.New(failure.Invalid, failure.ClientFile, format, args...)
	f.Message = name + " was not changed: " + f.Message
	return f.Advise("Correct that, then run the command again; --print shows what to add by hand.")
}

// read reads a file, which need not be there.
func read(name string, private bool) (file, error) {
	f := file{name: name, private: private}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		f.name = real
	} else if _, err := os.Lstat(name); err == nil {
		return f, refused(name, "it is a link that leads nowhere")
	}
	info, err := os.Stat(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		for part := f.name; !exists(part) && part != filepath.Dir(part); part = filepath.Dir(part) {
			f.missing = append([]string{part}, f.missing...)
		}
		return f, nil
	}
	switch {
	case err != nil:
		return f, refused(name, "it cannot be read: %v", failure.Cause(err))
	case !info.Mode().IsRegular():
		return f, refused(name, "it is not a regular file")
	case info.Size() > maxFile:
		return f, refused(name, "it has more than %d MiB", maxFile>>20)
	}
	f.mode, f.there = info.Mode().Perm(), true
	if f.text, err = os.ReadFile(f.name); err != nil {
		return f, refused(name, "it cannot be read: %v", failure.Cause(err))
	}
	return f, nil
}

// writable fails where the person has forbidden changes, which a rename would pass over.
func (f file) writable() error {
	if f.there && f.mode&0o200 == 0 {
		return refused(f.name, "it may only be read")
	}
	if info, err := os.Stat(filepath.Dir(f.name)); err == nil && info.Mode().Perm()&0o200 == 0 {
		return refused(f.name, "its folder may only be read")
	}
	return nil
}

// replace writes a text in the place of the file, in one step, unless the file was changed since it was read. What an
// interrupted run has left is overwritten.
func (f file) replace(text []byte, step func() error) (err error) {
	if err := f.writable(); err != nil {
		return err
	}
	mode := f.mode
	if !f.there {
		mode = 0o644
		if f.private {
			mode = 0o600
		}
	}
	draft, err := f.draft(text, mode, step)
	if err == nil {
		err = f.unchanged()
	}
	if err == nil {
		err = step()
	}
	if err == nil {
		err = os.Rename(draft, f.name)
	}
	if err != nil && !errors.Is(err, errKilled) {
		_ = os.Remove(draft)
	}
	return f.explained(err)
}

// draft writes a text beside the file.
func (f file) draft(text []byte, mode fs.FileMode, step func() error) (name string, err error) {
	folder := filepath.Dir(f.name)
	name = filepath.Join(folder, "."+filepath.Base(f.name)+".vitrine-new")
	dirMode := fs.FileMode(0o755)
	if f.private {
		dirMode = 0o700
	}
	if err = os.MkdirAll(folder, dirMode); err != nil {
		return name, err
	}
	if err = step(); err != nil {
		return name, err
	}
	if err = os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return name, err
	}
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return name, err
	}
	_, err = out.Write(text)
	return name, errors.Join(err, out.Chmod(mode), out.Sync(), out.Close())
}

// unchanged fails if another program has written the file since it was read.
func (f file) unchanged() error {
	now, err := os.ReadFile(f.name)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !f.there:
		return nil
	case err != nil:
		return err
	case !f.there || !bytes.Equal(now, f.text):
		return refused(f.name, "another program is just writing it")
	}
	return nil
}

// delete deletes the file unless it was changed since it was read.
func (f file) delete() error {
	err := cmp.Or(f.writable(), f.unchanged())
	if err == nil {
		err = os.Remove(f.name)
	}
	return f.explained(err)
}

func (f file) explained(err error) error {
	if _, ok := errors.AsType[*failure.Failure](err); ok || err == nil || errors.Is(err, errKilled) {
		return err
	}
	return refused(f.name, "%v", failure.Cause(err))
}

// errKilled ends a run in tests as a kill would: without cleaning up.
var errKilled = errors.New("killed")

// removeFolders removes folders that are empty, the innermost first.
func removeFolders(made []string) {
	for _, name := range slices.Backward(made) {
		if info, err := os.Lstat(name); err == nil && info.IsDir() {
			_ = os.Remove(name) // fails if it is not empty
		}
	}
}
