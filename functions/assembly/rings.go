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

// LocalRings reads the key rings of one machine. It makes them if there are none, and adds a ring that an older set
// lacks. It never replaces a file that cannot be read, because losing the rings would end every credential and URL.
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

// ChangeRings changes the existing key rings of one machine. It waits for another process that changes them at the same
// time. It replaces the file as a whole, or not at all if change fails. Running processes keep what they have read.
func ChangeRings(file string, change func(*keyring.Set) error) (keyring.Set, error) {
	return writeRings(file, func(data []byte) error {
		if data == nil {
			return fmt.Errorf("there are no key rings in %s", file)
		}
		return nil
	}, change)
}

// writeRings reads, completes, changes and writes the rings under a lock. admit gets the content of the file, nil if
// there is none, and may refuse it. change may be nil.
func writeRings(file string, admit func([]byte) error, change func(*keyring.Set) error) (keyring.Set, error) {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real // otherwise the link would be replaced by a file, and its target would stay old
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
		_, err = keyring.Parse(data) // never write what cannot be read back
	}
	if err == nil {
		err = replaceFile(file, data)
	}
	if err != nil {
		return keyring.Set{}, fmt.Errorf("write the key rings: %w", err)
	}
	return set, nil
}

// lockFolder locks a folder against other processes that change rings there, and waits for the lock. The lock ends with
// the process and leaves no file.
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

// replaceFile writes a new file of mode 0600 next to the old one and renames it. It syncs both file and folder, so that
// the rings survive a crash of the machine.
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
