package boot

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"vitrine/shared/keyring"
)

// LocalRings reads the key rings of one machine, or makes them where there are none yet: losing them would end every
// credential and URL, so a file that cannot be read is never replaced.
func LocalRings(file string) (keyring.Set, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return makeRings(file)
	}
	if err != nil {
		return keyring.Set{}, fmt.Errorf("read the key rings: %w", err)
	}
	set, err := keyring.Parse(data)
	if err != nil {
		return keyring.Set{}, fmt.Errorf("%s: %w", file, err)
	}
	return set, nil
}

// makeRings writes a fresh set, whole or not at all; of two that start together the first one's set counts.
func makeRings(file string) (keyring.Set, error) {
	data, err := json.MarshalIndent(keyring.New(), "", "  ")
	if err != nil {
		return keyring.Set{}, err
	}
	temporary, err := os.CreateTemp(filepath.Dir(file), ".rings-*") // mode 0600
	if err != nil {
		return keyring.Set{}, fmt.Errorf("make the key rings: %w", err)
	}
	defer os.Remove(temporary.Name())
	_, err = temporary.Write(data)
	if err = errors.Join(err, temporary.Sync(), temporary.Close()); err != nil {
		return keyring.Set{}, fmt.Errorf("make the key rings: %w", err)
	}
	if err := os.Link(temporary.Name(), file); err != nil && !errors.Is(err, fs.ErrExist) {
		return keyring.Set{}, fmt.Errorf("make the key rings: %w", err)
	}
	return LocalRings(file)
}
