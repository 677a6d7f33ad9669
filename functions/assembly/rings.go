package assembly

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"vitrine/shared/platform/keyring"
)

// LocalRings reads the key rings of one machine, or makes them where there are none yet; a set that is older than one
// of the rings gets that one. Losing rings would end every credential and URL, so a file that cannot be read is never
// replaced.
func LocalRings(file string) (keyring.Set, error) {
	data, err := os.ReadFile(file)
	if err == nil {
		set, added, err := keyring.Complete(data)
		if err != nil {
			return keyring.Set{}, fmt.Errorf("%s: %w", file, err)
		}
		if len(added) == 0 {
			return set, nil
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return keyring.Set{}, fmt.Errorf("read the key rings: %w", err)
	}
	return writeRings(file, func([]byte) error { return nil }, nil)
}

// ChangeRings changes the key rings of one machine, which have to be there. Another process that changes them at the
// same time waits; the file is replaced as a whole or not at all, and not if change fails. Processes that have read it
// keep what they read.
func ChangeRings(file string, change func(*keyring.Set) error) (keyring.Set, error) {
	return writeRings(file, func(data []byte) error {
		if data == nil {
			return fmt.Errorf("there are no key rings in %s", file)
		}
		return nil
	}, change)
}

// writeRings reads, completes, changes and writes the rings under a lock. Admit sees the file as it is, nil if there is
// none; change may be nil.
func writeRings(file string, admit func([]byte) error, change func(*keyring.Set) error) (keyring.Set, error) {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real // a new file in place of the link would leave the one behind it old
	}
	unlock, err := lockFolder(filepath.Dir(file))
	if err != nil {
		return keyring.Set{}, fmt.Errorf("lock the key rings: %w", err)
	}
	defer unlock()
	data, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return keyring.Set{}, fmt.Errorf("read the key rings: %w", err)
	}
	if err := admit(data); err != nil {
		return keyring.Set{}, err
	}
	set := keyring.New()
	if data != nil {
		if set, _, err = keyring.Complete(data); err != nil {
			return keyring.Set{}, fmt.Errorf("%s: %w", file, err)
		}
	}
	if change != nil {
		if err := change(&set); err != nil {
			return keyring.Set{}, err
		}
	}
	if data, err = set.Over(data); err == nil {
		_, err = keyring.Parse(data) // what is written can be read
	}
	if err == nil {
		err = replaceFile(file, data)
	}
	if err != nil {
		return keyring.Set{}, fmt.Errorf("write the key rings: %w", err)
	}
	return set, nil
}

// lockFolder waits until no other process changes the rings in a folder. The lock ends with the process and leaves no
// file.
func lockFolder(path string) (unlock func(), err error) {
	folder, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	for {
		if err = syscall.Flock(int(folder.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		folder.Close()
		return nil, err
	}
	return func() { folder.Close() }, nil
}

// replaceFile writes a file of mode 0600 beside the old one and puts it in its place, also if the machine dies
// meanwhile.
func replaceFile(file string, data []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(file), ".rings-*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(data)
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return err
	}
	if err := os.Rename(temporary.Name(), file); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
