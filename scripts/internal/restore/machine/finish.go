package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/restore/journal"
	"vitrine/scripts/internal/restore/repair"
	"vitrine/scripts/internal/restore/replay"
	"vitrine/scripts/local/folder"
	"vitrine/scripts/testkit/invariant"
)

// tokenLife is how long assertions and ID tokens live that an agent may have used before the tables were lost.
const tokenLife = 15 * time.Minute

// resume reads the journal of the new folder, and locks it.
func (r Restore) resume() (*work, error) {
	j, err := r.read()
	if err != nil {
		return nil, err
	}
	r.Living = j.Living
	if r.From, err = copies.Open(j.Copy); err != nil { // only its rings are of use
		r.From.Dir = j.Copy
	}
	w, err := r.lock(false)
	if err == nil {
		w.journal = j
	}
	return w, err
}

// read returns the journal of the new folder.
func (r *Restore) read() (*journal.Journal, error) {
	all, err := r.absolute()
	if err != nil {
		return nil, err
	}
	r.Data = all.Data
	j, err := journal.Read(r.Data)
	if err == nil && j == nil {
		err = fmt.Errorf("%s is no restore: name the folder that scripts/restore run made with --data", r.Data)
	}
	return j, err
}

// Check repairs what it can in the restored set, and lists the rest.
func (r Restore) Check(ctx context.Context) error {
	return r.finish(func(w *work) error {
		if w.journal.State != journal.Ready {
			return w.refuse("checked")
		}
		if err := w.open(ctx); err != nil {
			return err
		}
		return w.check(ctx)
	})
}

// refuse returns why a restore in this state cannot be checked or switched to.
func (w *work) refuse(done string) error {
	if w.journal.State == journal.Begun {
		return fmt.Errorf("the run into %s has not ended: run it again, it goes on", w.Data)
	}
	return fmt.Errorf("the restore into %s is in use already and cannot be %s", w.Data, done)
}

// finish gives a function the restore with its folder locked.
func (r Restore) finish(do func(*work) error) error {
	w, err := r.resume()
	if err != nil {
		return err
	}
	return errors.Join(do(w), w.close())
}

// Switch makes the new folder the one that serves. It refuses while a stack runs on the living one. It applies what was
// done since the run.
func (r Restore) Switch(ctx context.Context) error {
	j, err := r.read()
	if err != nil {
		return err
	}
	if j.State == journal.Switched || j.State == journal.Open {
		r.tell(j)
		return nil
	}
	return r.finish(func(w *work) error {
		if w.journal.State != journal.Ready {
			return w.refuse("switched to")
		}
		release, err := w.stopLiving()
		if err != nil {
			return err
		}
		return errors.Join(w.change(ctx), release())
	})
}

// stopLiving keeps scripts/dev from running on the living folder during the switch.
func (w *work) stopLiving() (release func() error, err error) {
	if _, err := os.Stat(w.Living); errors.Is(err, fs.ErrNotExist) {
		return func() error { return nil }, nil
	}
	lock, err := folder.Take(w.Living, folder.User{PID: os.Getpid(), Base: w.journal.Base})
	if inUse, ok := errors.AsType[*folder.InUseError](err); ok {
		return nil, fmt.Errorf("scripts/dev (process %d) still runs on %s: stop it, then switch", inUse.By.PID, w.Living)
	}
	if err != nil {
		return nil, err
	}
	return lock.Release, nil
}

// change is the switch itself.
func (w *work) change(ctx context.Context) error {
	if err := w.open(ctx); err != nil {
		return err
	}
	if w.From.Format == 0 {
		w.say("note     the copy %s is not there any more: the key rings are those of the run", w.From.Dir)
	} else if err := w.copyFiles(ctx); err != nil {
		return err
	}
	if _, err := w.replay(ctx, w.journal.Applied); err != nil {
		return err
	}
	now := w.Now()
	if err := replay.Finish(ctx, w.set, w.instant(), now); err != nil {
		return err
	}
	w.journal.State, w.journal.SwitchedAt = journal.Switched, now
	if err := w.journal.Write(w.Data); err != nil {
		return err
	}
	w.tell(w.journal)
	if w.gap != "" {
		w.say("wait     until %s before you start it: until then tokens may come again that were used already, because the "+
			"list of these is lost", stamp(now.Add(tokenLife)))
	}
	return nil
}

// tell says how to start the new folder.
func (r Restore) tell(j *journal.Journal) {
	base := "the same BASE as before"
	if j.Base != 0 {
		base = fmt.Sprint(j.Base)
	}
	r.say("start    scripts/dev --data %s --ports %s", r.Data, base)
	r.say("         with the same options as before; with other ports nobody gets into their workspace")
	if j.State == journal.Switched {
		r.say("jobs     wait: nothing expires until scripts/restore open --expire --data %s", r.Data)
	}
}

// Open lets the jobs run again. Without expire it only says how much would end at once.
func (r Restore) Open(ctx context.Context, expire bool) error {
	j, err := r.read()
	if err != nil {
		return err
	}
	switch j.State {
	case journal.Open:
		r.say("open     since %s", stamp(j.OpenedAt))
		return nil
	case journal.Begun, journal.Ready:
		return fmt.Errorf("the restore into %s is not in use yet: switch first", r.Data)
	}
	if expire {
		j.State, j.OpenedAt = journal.Open, r.Now()
		if err := j.Write(r.Data); err != nil {
			return err
		}
		r.say("open     jobs run again; a running scripts/dev notices within a second")
		return nil
	}
	w := &work{Restore: r, journal: j}
	return w.withTables(ctx, r.Data, func(set invariant.Deployment) error {
		c, err := repair.Count(ctx, set, r.Now())
		if err == nil {
			w.say("due      %d of %d live artifacts would end at once or lose their draft; nothing was changed", c.Due, c.Live)
			w.say("next     scripts/restore open --expire --data %s", r.Data)
		}
		return err
	})
}

// Abandon deletes the new folder, unless there are events of after the switch in it.
func (r Restore) Abandon(ctx context.Context) error {
	return r.finish(func(w *work) error {
		if w.journal.State == journal.Open {
			return fmt.Errorf("the restore into %s is open, and its data is the only one: nothing was deleted", r.Data)
		}
		if w.journal.State == journal.Switched {
			if err := w.unused(ctx); err != nil {
				return err
			}
		}
		if err := r.remove(); err != nil {
			return err
		}
		r.say("gone     %s; %s stays as it was", r.Data, w.Living)
		return nil
	})
}

// unused refuses a folder with events of after the switch.
func (w *work) unused(ctx context.Context) error {
	return w.withTables(ctx, w.Data, func(set invariant.Deployment) error {
		events, err := replay.Read(ctx, set, w.journal.SwitchedAt)
		if err != nil {
			return err
		}
		n := 0
		for _, e := range events {
			if e.At.After(w.journal.SwitchedAt) {
				n++
			}
		}
		if n > 0 {
			return fmt.Errorf("people have worked in %s since the switch (%d events): nothing was deleted", w.Data, n)
		}
		return nil
	})
}

// remove deletes the folder, the journal last, so that a removal that was interrupted can be taken up.
func (r Restore) remove() error {
	entries, err := os.ReadDir(r.Data)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == journal.File {
			continue
		}
		if err := os.RemoveAll(filepath.Join(r.Data, e.Name())); err != nil {
			return err
		}
	}
	return os.RemoveAll(r.Data)
}
