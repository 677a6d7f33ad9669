// Package vault stores logins in the system's keyring, or in a file that only its owner can read if there is no
// keyring.
//
// There is one login for each server. A file entry exists only if the last save found no keyring. So if both exist, the
// file entry is the newer one and is read first. Changes are made under a lock that all processes of the user share.
package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
	"github.com/zalando/go-keyring"

	"vitrine/cmd/vitrine/failure"
)

// Place is where a login is stored.
type Place string

// Places.
const (
	Keyring Place = "keyring"
	File    Place = "file"
)

// service names our entries in the keyring; the user of an entry is the server's address.
const service = "vitrine"

// KeyringTime bounds each call to the keyring, which may wait for a person or for a service that never answers.
const KeyringTime = 3 * time.Second

// errSilent means that the keyring did not answer in time.
var errSilent = errors.New("the keyring does not respond")

// Vault holds the logins of one user on one machine.
type Vault struct {
	// Dir is the configuration folder, "" if there is none. It is made when it is needed.
	Dir string
	// Warn warns the person about a keyring that cannot be used.
	Warn func(format string, args ...any)
	// Deadline of each call to the keyring.
	Deadline time.Duration

	warned  sync.Once
	silent  bool
	waiting sync.WaitGroup // for the lock; an interrupted command does not wait for them
}

// Path returns the name of the file.
func (v *Vault) Path() string { return filepath.Join(v.Dir, fileName) }

// Load returns the login of a server, or nil if there is none.
func (v *Vault) Load(server string) *Record {
	entries, _ := v.entries() // an unreadable file counts as empty
	if r := read(entries[server], server); r != nil {
		return r
	}
	text, err := v.fromRing(server)
	switch {
	case errors.Is(err, errSilent):
		v.warn("The keyring does not respond; a login in it cannot be read")
	case err == nil:
		return read(text, server)
	}
	return nil
}

// fromRing reads an entry of the keyring.
func (v *Vault) fromRing(name string) ([]byte, error) {
	var text string
	err := v.ring(func() (err error) {
		text, err = keyring.Get(service, name)
		return err
	})
	return []byte(text), err
}

// Update replaces the login of a server by what change returns. nil removes the login, and the same pointer keeps it.
// No other process changes logins meanwhile. If change fails, all logins stay as they are.
func (v *Vault) Update(ctx context.Context, server string, change func(*Record) (*Record, error)) (Place, error) {
	unlock, err := v.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	old := v.Load(server)
	next, err := change(old)
	switch {
	case err != nil:
		return "", err
	case next == old:
		return "", nil
	case next == nil:
		return "", v.remove(server)
	}
	return v.save(*next)
}

// save stores a record. With a keyring, no copy stays in the file. Without one, no older entry stays in the keyring.
func (v *Vault) save(r Record) (Place, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return "", err
	}
	if v.toRing(r.BaseURL, text) {
		return Keyring, v.write(r.BaseURL, nil)
	}
	// If the login was already in the file, this only refreshes it, and its owner has seen the warning.
	if all, _ := v.entries(); all[r.BaseURL] == nil {
		v.warn("There is no usable keyring: the login is stored in %s, which only you can read", v.Path())
	}
	return File, v.write(r.BaseURL, text)
}

// toRing stores an entry in the keyring. If it fails, it leaves no older entry there, as far as it can.
func (v *Vault) toRing(name string, text []byte) bool {
	if v.ring(func() error { return keyring.Set(service, name, string(text)) }) == nil {
		return true
	}
	_ = v.ring(func() error { return keyring.Delete(service, name) })
	return false
}

// remove deletes the login of a server from both places. It ignores a keyring that cannot be used, but fails if the
// keyring still returns the entry.
func (v *Vault) remove(server string) error {
	err := v.ring(func() error { return keyring.Delete(service, server) })
	if err != nil && v.ring(func() error { _, err := keyring.Get(service, server); return err }) == nil {
		return errors.Join(unusable("the keyring does not delete the login: %v", err), v.write(server, nil))
	}
	return v.write(server, nil)
}

func (v *Vault) warn(format string, args ...any) {
	v.warned.Do(func() { v.Warn(format, args...) })
}

// ring calls the keyring. After a timeout it makes no further calls. The late call may still finish unnoticed.
func (v *Vault) ring(call func() error) error {
	if v.silent {
		return errSilent
	}
	done := make(chan error, 1)
	go func() { done <- call() }()
	late := time.NewTimer(v.Deadline)
	defer late.Stop()
	select {
	case err := <-done:
		return err
	case <-late.C:
		v.silent = true
		return errSilent
	}
}

// lock waits for the lock file. It does without a lock if the file cannot be made, because the keyring may still work.
func (v *Vault) lock(ctx context.Context) (unlock func(), err error) {
	if v.makeDir() != nil {
		return func() {}, nil
	}
	type turn struct {
		unlock func()
		err    error
	}
	turns := make(chan turn)
	v.waiting.Go(func() {
		var t turn
		t.unlock, t.err = lockedfile.MutexAt(filepath.Join(v.Dir, lockName)).Lock()
		select {
		case turns <- t:
		case <-ctx.Done():
			if t.err == nil {
				t.unlock()
			}
		}
	})
	select {
	case t := <-turns:
		if t.err != nil {
			return func() {}, nil
		}
		return t.unlock, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// unusable returns the failure of a place that cannot store a login.
func unusable(format string, args ...any) error {
	return failure.New(failure.Other, failure.Unstorable, "%s", fmt.Sprintf(format, args...)).
		Advise("Logins are stored in $XDG_CONFIG_HOME/vitrine or ~/.config/vitrine; make that a folder of your own.")
}
