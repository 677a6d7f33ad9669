package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"vitrine/scripts/internal/restore/journal"
	"vitrine/scripts/local/engines"
	"vitrine/scripts/local/folder"
	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/adapter/dynamo"
)

// work is a restore whose folders are locked.
type work struct {
	Restore
	journal *journal.Journal
	data    *folder.Lock
	claim   *os.File // of the living folder; nil: there is none
	engines *engines.Engines
	set     invariant.Deployment // on the engines
	gap     string               // why events since the instant may be missing; empty: they are all there
}

// The files of data folders that are read here.
const (
	databaseName = "dynamodb.db"
	claimName    = "restore.lock" // in the living folder: names the folder of the restore that is under way
)

// checkFolders refuses folders that this copy cannot be restored into.
func (r Restore) checkFolders() error {
	if in, err := filepath.Rel(r.Living, r.Data); err == nil && filepath.IsLocal(in) {
		return fmt.Errorf("%s lies in the living folder %s: choose a new folder elsewhere with --data", r.Data, r.Living)
	}
	j, err := journal.Read(r.Data)
	if err != nil {
		return err
	}
	if j == nil {
		return r.wantNew()
	}
	switch {
	case j.State == journal.Switched || j.State == journal.Open:
		return fmt.Errorf("the restore into %s is in use already: choose a new folder with --data", r.Data)
	case j.Copy != r.From.Dir:
		return fmt.Errorf("%s is a restore of the copy %s: go on with that one, or `scripts/restore abandon --data %s`",
			r.Data, j.Copy, r.Data)
	case j.Living != r.Living:
		return fmt.Errorf("the restore into %s replaces the data in %s: go on with --living %[2]s, or `scripts/restore "+
			"abandon --data %[1]s`", r.Data, j.Living)
	}
	return nil
}

// wantNew refuses a folder that holds anything. A run that was killed at its very beginning leaves a lock.
func (r Restore) wantNew() error {
	entries, err := os.ReadDir(r.Data)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the new data folder cannot be read: %w: choose another with --data", err)
	}
	for _, e := range entries {
		if e.Name() != "lock" && e.Name() != journal.File+".new" {
			return fmt.Errorf("%s exists and is no restore: choose a new folder with --data", r.Data)
		}
	}
	return nil
}

// lock makes the new folder and locks it, and claims the living one.
func (r Restore) lock(claims bool) (*work, error) {
	if err := os.MkdirAll(r.Data, 0o700); err != nil {
		return nil, fmt.Errorf("the new data folder cannot be made: %w: choose another with --data", err)
	}
	if err := os.Chmod(r.Data, 0o700); err != nil {
		return nil, err
	}
	lock, err := folder.Take(r.Data, folder.User{PID: os.Getpid()})
	if inUse, ok := errors.AsType[*folder.InUseError](err); ok {
		return nil, fmt.Errorf("scripts/dev or another scripts/restore (process %d) uses %s: stop it or wait", inUse.By.PID,
			r.Data)
	}
	if err != nil {
		return nil, err
	}
	w := &work{Restore: r, data: lock}
	if claims {
		err = w.claimLiving()
	}
	if err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// claimLiving lets no other restore replace the same living folder.
func (w *work) claimLiving() (err error) {
	if w.claim, err = openClaim(w.Living, os.O_CREATE|os.O_RDWR); w.claim == nil || err != nil {
		return err
	}
	if err := w.unclaimed(w.claim); err != nil {
		return err
	}
	if err := w.claim.Truncate(0); err != nil {
		return err
	}
	_, err = w.claim.WriteAt([]byte(w.Data+"\n"), 0)
	return err
}

// openClaim opens the claim of a living folder; nil where there is none.
func openClaim(living string, flag int) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(living, claimName), flag, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the living folder cannot be written: %w", err)
	}
	return file, nil
}

// unclaimed refuses a living folder that another restore is to replace.
func (r Restore) unclaimed(claim *os.File) error {
	err := syscall.Flock(int(claim.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	text, _ := os.ReadFile(claim.Name()) // an empty claim is of no restore
	other := strings.TrimSpace(string(text))
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("another restore of %s is running, into %s: wait until it ends", r.Living, other)
	}
	if err != nil || other == "" || other == r.Data {
		return err
	}
	if j, err := journal.Read(other); err != nil || j != nil && j.State != journal.Open {
		return fmt.Errorf("another restore of %s, into %s, is under way: go on with it, or `scripts/restore abandon --data "+
			"%[2]s`", r.Living, other)
	}
	return nil
}

// open starts engines on the new folder.
func (w *work) open(ctx context.Context) (err error) {
	if w.engines, err = engines.Start(ctx, engines.Options{Dir: w.Data, Own: true}); err == nil {
		w.set = w.deployment(w.engines)
	}
	return err
}

// deployment returns the tables and the bucket of engines.
func (w *work) deployment(e *engines.Engines) invariant.Deployment {
	return invariant.Deployment{
		DynamoDB: e.DynamoDBClient(w.Middleware...),
		S3:       e.S3Client(w.Middleware...),
		Tables:   w.tables(),
		Bucket:   e.Bucket,
		Limits:   w.From.Limits(w.Data),
	}
}

func (w *work) tables() dynamo.Tables {
	if w.journal != nil {
		return w.journal.Tables
	}
	return w.From.Tables
}

// close stops the engines and gives the folders back.
func (w *work) close() error {
	var errs []error
	if w.engines != nil {
		errs = append(errs, w.engines.Close())
	}
	if w.claim != nil {
		errs = append(errs, w.claim.Close())
	}
	if w.data != nil {
		errs = append(errs, w.data.Release())
	}
	return errors.Join(errs...)
}

// haveRoom refuses a disk without room for the copy, and for the tables as they are while they change.
func (r Restore) haveRoom() error {
	err := folder.HaveRoom(r.Data, 2*r.From.DatabaseFile.Size+bytesOf(r.From.Objects))
	if err != nil {
		return fmt.Errorf("%w with --data", err)
	}
	return nil
}

// baseOf returns the base of the ports of the stack that has a folder, or had it last; 0 if it is unknown.
func baseOf(living string) (base int) {
	text, _ := os.ReadFile(filepath.Join(living, "lock")) // a lost folder has none
	var pid int
	_, _ = fmt.Sscan(string(text), &pid, &base)
	return base
}
