// Package config stores the settings of a user in a JSON file beside the logins.
package config

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/save"
)

const (
	fileName = "config.json"
	dirMode  = 0o700
	maxFile  = 1 << 20
)

// File is the settings file in a folder. It preserves members that other versions have written.
type File struct{ Dir string } // Dir is "" if there is none

// Path returns the name of the file, "" without a folder.
func (f File) Path() string {
	if f.Dir == "" {
		return ""
	}
	return filepath.Join(f.Dir, fileName)
}

// Get returns a setting, "" if it is not set.
func (f File) Get(name string) (value string, err error) {
	all, err := f.read()
	if text, there := all[name]; there && json.Unmarshal(text, &value) != nil {
		err = f.unusable("the setting %s in %s is not a string", name, f.Path())
	}
	return value, err
}

// Set changes a setting; "" removes it.
func (f File) Set(name, value string) error {
	all, err := f.read()
	if err != nil {
		return err
	}
	if f.Dir == "" {
		return f.unusable("there is no folder for settings: neither HOME nor XDG_CONFIG_HOME is set")
	}
	changed := maps.Clone(all)
	if changed == nil {
		changed = map[string]json.RawMessage{}
	}
	delete(changed, name)
	if value != "" {
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		changed[name] = text
	}
	return f.write(changed)
}

func (f File) read() (all map[string]json.RawMessage, err error) {
	if f.Dir == "" {
		return nil, nil
	}
	file, err := os.Open(f.Path())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, f.unusable("cannot read %s: %v", f.Path(), failure.Cause(err))
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxFile))
	if err != nil {
		return nil, f.unusable("cannot read %s: %v", f.Path(), failure.Cause(err))
	}
	if json.Unmarshal(text, &all) != nil {
		return nil, f.unusable("%s is not a JSON object", f.Path())
	}
	return all, nil
}

// write keeps the file private, because it chooses the server that keys are sent to. It refuses to replace a link, because
// other machines may share the file through it.
func (f File) write(all map[string]json.RawMessage) (err error) {
	if info, err := os.Lstat(f.Path()); err == nil && !info.Mode().IsRegular() {
		return f.unusable("%s is not a regular file, so it is not changed", f.Path())
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.Dir, dirMode); err != nil {
		return f.unusable("cannot create the folder %s: %v", f.Dir, failure.Cause(err))
	}
	if err := save.Private(f.Path(), append(text, '\n')); err != nil {
		return f.unusable("cannot write %s: %v", f.Path(), failure.Cause(err))
	}
	return nil
}

func (f File) unusable(format string, args ...any) error {
	return failure.New(failure.Invalid, failure.Unsettable, format, args...).
		Advise("Correct or remove the file; vitrine config path names it.")
}
