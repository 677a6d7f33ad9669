package part

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/restore/objects"
	"vitrine/scripts/local/engines"
	"vitrine/scripts/local/folder"
	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/limits"
)

// Machine is a copy of one machine, and the data folder in use.
type Machine struct {
	Copy    copies.Copy
	Data    string
	Base    int // of the ports of the stack on Data; 0: what the stack says
	Out     io.Writer
	endings []func() error
}

// open returns the restore. close ends what it started, whether it succeeds or not.
func (m *Machine) open(ctx context.Context) (Restore, error) {
	living, alone, err := m.living(ctx)
	if err != nil {
		return Restore{}, err
	}
	saved, err := m.saved(ctx)
	if err != nil {
		return Restore{}, err
	}
	r := Restore{
		From:    m.deployment(saved),
		To:      m.deployment(living),
		Instant: m.Copy.At,
		Now:     time.Now,
		Out:     m.Out,
		Wait:    async.Sleep,
		Copy:    objects.Of(m.Copy),
	}
	if alone { // no jobs run that it would wait for
		r.Wait = func(context.Context, time.Duration) error { return nil }
	}
	return r, nil
}

// living returns the engines of the stack on the data folder. If none runs, it locks the folder and starts engines
// there, alone.
func (m *Machine) living(ctx context.Context) (e *engines.Engines, alone bool, err error) {
	lock, err := folder.Take(m.Data, folder.User{PID: os.Getpid()})
	if used, ok := errors.AsType[*folder.InUseError](err); ok {
		base, err := used.Base(m.Base)
		if err != nil {
			return nil, false, err
		}
		e, err = engines.At(base)
		return e, false, err
	}
	if err != nil {
		return nil, false, err
	}
	m.endings = append(m.endings, lock.Release)
	e, err = engines.Start(ctx, engines.Options{Dir: m.Data, Own: true, Log: io.Discard})
	if err == nil {
		m.endings = append(m.endings, e.Close)
	}
	return e, true, err
}

// saved returns engines on the tables of the copy, in a folder of their own, because an engine writes to what it opens.
func (m *Machine) saved(ctx context.Context) (*engines.Engines, error) {
	scratch, err := os.MkdirTemp("", "vitrine-restore-")
	if err != nil {
		return nil, err
	}
	m.endings = append(m.endings, func() error { return os.RemoveAll(scratch) })
	if err := copies.Snapshot(ctx, m.Copy.Dir, filepath.Join(scratch, filepath.Base(m.Copy.Database()))); err != nil {
		return nil, fmt.Errorf("the tables of the copy cannot be read: %w: use another copy", err)
	}
	e, err := engines.Start(ctx, engines.Options{Dir: scratch, Own: true, Log: io.Discard})
	if err == nil {
		m.endings = append(m.endings, e.Close)
	}
	return e, err
}

func (m *Machine) deployment(e *engines.Engines) invariant.Deployment {
	return invariant.Deployment{
		DynamoDB: e.DynamoDBClient(),
		Tables:   m.Copy.Tables,
		S3:       e.S3Client(),
		Bucket:   e.Bucket,
		Limits:   limits.Default(),
	}
}

// close ends what open started, the last first.
func (m *Machine) close() error {
	var failed []error
	for _, end := range slices.Backward(m.endings) {
		failed = append(failed, end())
	}
	return errors.Join(failed...)
}
