// Package folder locks the data folder of one machine, and tells on which ports the stack that has it listens.
package folder

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// User is a process that uses a folder. Older code did not write its ports.
type User struct {
	PID  int
	Base int // of the ports of a stack; 0 for a process that is none
}

// InUseError means that another process has the folder.
type InUseError struct {
	Path string
	By   User
}

// Error implements error.
func (e *InUseError) Error() string {
	return fmt.Sprintf("another stack or program (process %d) uses the data in %s: stop it, or choose another folder "+
		"with --data and other ports with --ports", e.By.PID, e.Path)
}

// Base returns the base of the ports of the stack that has the folder: given, unless it is 0, or what the stack wrote.
func (e *InUseError) Base(given int) (int, error) {
	if base := cmp.Or(given, e.By.Base); base != 0 {
		return base, nil
	}
	return 0, fmt.Errorf("process %d uses %s and does not tell its ports: name them with --ports, or stop it", e.By.PID,
		e.Path)
}

// Lock is the exclusive use of a folder.
type Lock struct{ file *os.File }

// Take locks the folder until Release or the end of this process, kill -9 included. It returns an *InUseError while
// another process has the folder.
func Take(path string, by User) (*Lock, error) {
	file, err := os.OpenFile(filepath.Join(path, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the data folder cannot be written: %w: choose another with --data", err)
	}
	l := &Lock{file}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errors.Join(&InUseError{Path: path, By: readUser(file)}, l.Release())
	}
	if err == nil {
		err = l.write(by)
	}
	if err != nil {
		return nil, fmt.Errorf("the data folder %s cannot be locked: %w", path, errors.Join(err, l.Release()))
	}
	return l, nil
}

// Release gives the folder back.
func (l *Lock) Release() error { return l.file.Close() }

func (l *Lock) write(by User) error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := fmt.Fprintln(l.file, by.PID, by.Base)
	return err
}

// readUser reads what write wrote. Anything else gives zeros, because the file only informs.
func readUser(file *os.File) (by User) {
	_, _ = fmt.Fscan(file, &by.PID, &by.Base)
	return by
}
