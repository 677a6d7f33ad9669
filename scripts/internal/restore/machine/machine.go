// Package machine restores a copy of one machine into a new data folder, step by step. The living data folder, which
// the new one is to replace, is only read.
package machine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/aws/smithy-go/middleware"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/restore/journal"
	"vitrine/scripts/internal/restore/replay"
)

// Restore is a restore into a data folder. Plan and Run need all fields; the other commands know what Run stored.
type Restore struct {
	From   copies.Copy
	Data   string             // the new data folder
	Living string             // the data folder that it is to replace; it may be lost
	Except []replay.Exception // what is not done again; nil: not decided
	Now    func() time.Time
	Out    io.Writer
	// Middleware is added to the clients of the restored set, for faults.
	Middleware []func(*middleware.Stack) error
}

// ErrLeft means that a restored set has breaches that cannot be repaired. They were listed.
var ErrLeft = errors.New("not everything is whole")

// Run makes the new data folder. It may stop anywhere and be run again, with the same copy; it goes on then. After it
// has ended, it applies what was done since, until Switch.
func (r Restore) Run(ctx context.Context) (err error) {
	if r, err = r.absolute(); err != nil {
		return err
	}
	w, err := r.begin()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	for _, s := range []step{
		{"database", true, w.copyDatabase},
		{"files", false, w.copyFiles},
		{"engines", false, w.open},
		{"objects", true, w.loadObjects},
		{"torn", true, w.dropTorn},
		{"events", false, w.replayAll},
		{"credentials", true, w.endCredentials},
		{"archives", false, w.settleArchives},
	} {
		if err := w.take(ctx, s); err != nil {
			return err
		}
	}
	w.journal.State = journal.Ready
	if err := w.journal.Write(w.Data); err != nil {
		return err
	}
	if err := w.check(ctx); err != nil {
		return err
	}
	w.say("next     stop scripts/dev, then scripts/restore switch --data %s", w.Data)
	return nil
}

// absolute returns the restore with whole paths, which the journal keeps.
func (r Restore) absolute() (Restore, error) {
	var errs [3]error
	r.From.Dir, errs[0] = filepath.Abs(r.From.Dir)
	r.Data, errs[1] = filepath.Abs(r.Data)
	r.Living, errs[2] = filepath.Abs(r.Living)
	return r, errors.Join(errs[:]...)
}

// step is a part of a run.
type step struct {
	name string
	once bool // it is not taken again when it has ended
	do   func(context.Context) error
}

// take takes a step, and stores that it has ended.
func (w *work) take(ctx context.Context, s step) error {
	if s.once && w.journal.Ended(s.name) {
		return nil
	}
	if err := s.do(ctx); err != nil || !s.once {
		return err
	}
	w.journal.Done = append(w.journal.Done, s.name)
	return w.journal.Write(w.Data)
}

// begin locks the folders and reads the journal, or makes both.
func (r Restore) begin() (*work, error) {
	if err := r.checkFolders(); err != nil {
		return nil, err
	}
	w, err := r.lock(true)
	if err != nil {
		return nil, err
	}
	if err := w.prepare(); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// prepare stores what the run is about.
func (w *work) prepare() error {
	j, err := journal.Read(w.Data)
	if err != nil {
		return err
	}
	if j == nil {
		if err := w.haveRoom(); err != nil {
			return err
		}
		j = &journal.Journal{
			State:  journal.Begun,
			Copy:   w.From.Dir,
			At:     w.From.At,
			Living: w.Living,
			Tables: w.From.Tables,
		}
	}
	if w.Except != nil {
		if j.Except, err = json.Marshal(w.Except); err != nil {
			return err
		}
		if len(j.Done) > 1 {
			w.say("note     what an earlier run has applied already stays applied; to have it back, abandon and run anew")
		}
	}
	if base := baseOf(w.Living); base != 0 {
		j.Base = base
	}
	w.journal = j
	return j.Write(w.Data)
}

func (r Restore) say(format string, args ...any) { fmt.Fprintf(r.Out, format+"\n", args...) }
