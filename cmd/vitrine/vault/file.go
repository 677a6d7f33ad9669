package vault

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/save"
)

const (
	fileName = "credentials.json"
	lockName = "credentials.lock"
	fileMode = 0o600
	dirMode  = 0o700
	// maxFile bounds the file of logins, in bytes.
	maxFile = 1 << 20
)

// document is the form of the file: one record for each server. It preserves members that other versions have written.
type document struct {
	SchemaVersion string                     `json:"schema_version"`
	Credentials   map[string]json.RawMessage `json:"credentials"`
}

// entries returns the records of the file. A file of another form counts as empty.
func (v *Vault) entries() (map[string]json.RawMessage, error) {
	var d document
	text, err := v.readFile()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || json.Unmarshal(text, &d) != nil {
		return nil, err
	}
	return d.Credentials, nil
}

// Inspect reports whether others on this machine have access to the file of logins, and returns why the file cannot be
// used. A file that is not there is no fault.
func (v *Vault) Inspect() (shared bool, err error) {
	stat, err := os.Lstat(v.Path())
	shared = err == nil && runtime.GOOS != "windows" && stat.Mode().IsRegular() && stat.Mode().Perm()&^fileMode != 0
	text, err := v.readFile()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err == nil && json.Unmarshal(text, &document{}) != nil:
		err = unusable("%s is not JSON of the expected form", v.Path())
	}
	return shared, err
}

// Servers returns the servers that have a login in the file, in order. Those of the keyring cannot be listed.
func (v *Vault) Servers() (all []string) {
	entries, _ := v.entries() // an unreadable file counts as empty
	for server, text := range entries {
		if read(text, server) != nil {
			all = append(all, server)
		}
	}
	slices.Sort(all)
	return all
}

// readFile reads the file if it is a regular one. It removes the access of other users.
func (v *Vault) readFile() ([]byte, error) {
	if v.Dir == "" {
		return nil, fs.ErrNotExist
	}
	for _, part := range []string{v.Dir, v.Path()} {
		if err := unlinked(part); err != nil {
			return nil, err
		}
	}
	f, err := os.Open(v.Path())
	if err != nil {
		return nil, unread(v.Path(), err)
	}
	defer f.Close()
	if stat, err := f.Stat(); err == nil && stat.Mode().Perm()&^fileMode != 0 {
		_ = f.Chmod(fileMode) // best effort: the next save does it again
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, unread(v.Path(), err)
	}
	return text, nil
}

// unread returns the error of a file that cannot be read. It still wraps fs.ErrNotExist.
func unread(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fs.ErrNotExist
	}
	return unusable("cannot read %s: %v", name, failure.Cause(err))
}

// unlinked refuses a link or a special file in place of our folder or file. A link leads elsewhere, and reading a pipe
// may never end.
func unlinked(name string) error {
	stat, err := os.Lstat(name)
	switch {
	case err != nil:
		return unread(name, err)
	case stat.Mode()&fs.ModeSymlink != 0:
		return unusable("%s is a symbolic link; logins are not stored behind one", name)
	case !stat.IsDir() && !stat.Mode().IsRegular():
		return unusable("%s is neither a folder nor a file", name)
	}
	return nil
}

// makeDir makes the folder. It removes the access of other users to an existing one.
func (v *Vault) makeDir() error {
	if v.Dir == "" {
		return unusable("there is no folder to store the login in: neither HOME nor XDG_CONFIG_HOME is set")
	}
	if err := os.MkdirAll(v.Dir, dirMode); err != nil {
		return unusable("cannot create the folder %s: %v", v.Dir, failure.Cause(err))
	}
	if err := unlinked(v.Dir); err != nil {
		return err
	}
	if err := os.Chmod(v.Dir, dirMode); err != nil {
		return unusable("cannot protect the folder %s: %v", v.Dir, failure.Cause(err))
	}
	return nil
}

// write writes the record of a server to the file, or removes it if text is nil.
func (v *Vault) write(server string, text []byte) error {
	all, err := v.entries()
	if _, there := all[server]; text == nil && !there {
		return nil
	}
	if err != nil {
		return err
	}
	if err := v.makeDir(); err != nil {
		return err
	}
	if all == nil {
		all = map[string]json.RawMessage{}
	}
	all[server] = text
	if text == nil {
		delete(all, server)
	}
	if len(all) == 0 {
		return v.discard()
	}
	out, err := json.MarshalIndent(document{"1", all}, "", "  ")
	if err != nil {
		return err
	}
	if err := save.Private(v.Path(), append(out, '\n')); err != nil {
		return unusable("cannot write %s: %v", v.Path(), failure.Cause(err))
	}
	return nil
}

func (v *Vault) discard() error {
	if err := os.Remove(v.Path()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return unusable("cannot remove %s: %v", v.Path(), failure.Cause(err))
	}
	return nil
}

// Folder returns the configuration folder for the environment of a process; "" if there is none. A relative
// XDG_CONFIG_HOME counts as unset, as its specification says.
func Folder(env func(name string) string) string {
	if all := Folders(env); len(all) > 0 {
		return all[0]
	}
	return ""
}

// Folders returns all configuration folders that may hold logins, the current one first. Logins may have been stored in
// another one before XDG_CONFIG_HOME was set or changed.
func Folders(env func(name string) string) (all []string) {
	if base := env("XDG_CONFIG_HOME"); filepath.IsAbs(base) {
		all = append(all, filepath.Join(base, "vitrine"))
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if home := env(name); filepath.IsAbs(home) {
			all = append(all, filepath.Join(home, ".config", "vitrine"))
		}
	}
	return all
}
