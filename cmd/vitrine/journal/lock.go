package journal

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/lockedfile"
)

// Busy is the error for a path that another process publishes. PID names that process, "" if it is unknown.
type Busy struct{ PID string }

// Error describes the refusal.
func (b Busy) Error() string { return "process " + cmp.Or(b.PID, "unknown") + " publishes it" }

// Lock waits until no other process publishes a path on a server, and keeps others from it until unlock is called.
// After wait it fails with Busy. The system releases the lock of a process that dies.
func (j Journal) Lock(ctx context.Context, server, path string, wait time.Duration) (unlock func(), err error) {
	if err := j.makeDir(); err != nil {
		return nil, err
	}
	name := filepath.Join(j.Dir, hash(server, path))
	waiting, stop := context.WithTimeout(ctx, wait)
	defer stop()
	type turn struct {
		lock *lockedfile.File
		err  error
	}
	turns := make(chan turn)
	go func() { // waiting for a lock cannot be cancelled
		var t turn
		t.lock, t.err = take(name + lockEnding)
		select {
		case turns <- t:
		case <-waiting.Done():
			if t.err == nil {
				_ = t.lock.Close() // an error would leave the lock to the end of this process
			}
		}
	}()
	select {
	case t := <-turns:
		if t.err != nil {
			return nil, t.err
		}
		return hold(name, t.lock), nil
	case <-waiting.Done():
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		pid, _ := os.ReadFile(name + pidEnding) // an unknown process is not named
		return nil, Busy{strings.TrimSpace(string(pid))}
	}
}

// The process is named in a file of its own, because no other process can read a locked one on Windows.
const (
	lockEnding = ".lock"
	pidEnding  = ".pid"
)

// take locks a file. It tries again if the process before has removed the file.
func take(name string) (*lockedfile.File, error) {
	for {
		f, err := lockedfile.OpenFile(name, os.O_RDWR|os.O_CREATE, fileMode)
		if err != nil {
			return nil, err
		}
		held, err := f.Stat()
		if err != nil {
			return nil, cmp.Or(err, f.Close())
		}
		if now, err := os.Stat(name); err == nil && os.SameFile(held, now) {
			return f, nil
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// hold names this process as the one that has the lock, and returns what releases it. All of that is best effort: the
// lock itself does not depend on it.
func hold(name string, lock *lockedfile.File) (unlock func()) {
	_ = os.WriteFile(name+pidEnding, []byte(strconv.Itoa(os.Getpid())+"\n"), fileMode)
	return func() {
		_ = os.Remove(name + pidEnding)
		_ = os.Remove(name + lockEnding) // fails on Windows as long as the file is open
		_ = lock.Close()
	}
}
