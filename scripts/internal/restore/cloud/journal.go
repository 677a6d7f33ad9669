package cloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"vitrine/scripts/internal/restore/replay"
	"vitrine/scripts/local/folder"
)

// journalFormat is raised when an older program could misread a journal.
const journalFormat = 1

// journal is what a restore must know to go on, to be abandoned, or to be opened. It holds no secret.
type journal struct {
	Format  int
	Instant time.Time // that the tables return to
	Began   time.Time
	Living  set               // what the deployment ran on
	Set     set               // what is restored
	Backups map[string]string // ARNs of system backups, by the table that was deleted
	HotLost bool
	Filled  bool               // the bytes come from Files
	Context []string           // arguments of scripts/deploy
	Except  []replay.Exception // what is not done again; nil: not decided
	Done    []string
	// Rules are the schedules that were disabled, and whether they had been enabled.
	Rules map[string]bool
	// Reserved is the concurrency that each function had; nil: none was reserved.
	Reserved map[string]*int
	Applied  time.Time // of the newest event that Run did again
	Drained  time.Time // when the last function was stopped
	Deploys  bool      // functions may name the restored set
	Markers  []marker  // delete markers that were taken away, or are about to be

	file string
}

func (j *journal) did(step string) bool { return slices.Contains(j.Done, step) }

// finish records that a step is done.
func (j *journal) finish(step string) error {
	j.Done = append(j.Done, step)
	return j.save()
}

// save writes the journal so that a crash leaves the old one or the new one.
func (j *journal) save() error {
	if err := os.MkdirAll(filepath.Dir(j.file), 0o700); err != nil {
		return err
	}
	if err := folder.ReplaceJSON(j.file, j); err != nil {
		return fmt.Errorf("the journal cannot be written, so nothing more is done: %w", err)
	}
	return nil
}

// archive ends the restore: its journal gets a name that no command reads.
func (j *journal) archive(how string) error {
	return os.Rename(j.file, filepath.Join(filepath.Dir(j.file), fmt.Sprintf("%s-%s.json", stamp(j.Began), how)))
}

// stamp is an instant in names of tables and files.
func stamp(t time.Time) string { return t.UTC().Format("20060102T150405Z") }

func (r Restore) journalFile() string { return filepath.Join(r.Folder, "journal.json") }

// open returns the restore that is under way, or nil. It refuses another instant than that one's.
func (r Restore) open() (*work, error) {
	text, err := os.ReadFile(r.journalFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	j := &journal{file: r.journalFile()}
	if err := json.Unmarshal(text, j); err != nil {
		return nil, fmt.Errorf("the journal %s is damaged: %w; repair it by hand, because it names what was made", j.file,
			err)
	}
	if j.Format != journalFormat {
		return nil, fmt.Errorf("the journal %s has format %d, and this program knows %d: use the program that made it",
			j.file, j.Format, journalFormat)
	}
	w := r.work(j)
	return w, w.agree()
}

func (r Restore) work(j *journal) *work {
	return &work{Restore: r, journal: j, saying: new(sync.Mutex)}
}

// agree takes what the operator said this time into the journal. It refuses what comes too late.
func (w *work) agree() error {
	if !w.At.IsZero() && !w.At.Equal(w.Instant) {
		return fmt.Errorf("a restore to %s is under way: go on with it, or abandon it before another one begins",
			w.Instant.Format(time.RFC3339))
	}
	if given := w.Restore.Except; given != nil {
		if w.did(replayStep) && !slices.Equal(given, w.journal.Except) {
			return errors.New("what was done since the instant was applied already: abandon the restore to decide otherwise")
		}
		w.journal.Except = given
	}
	if len(w.Words) > 0 {
		w.Context = w.Words
	}
	return w.readLimits()
}

// readLimits reads the limits of the deployment.
func (w *work) readLimits() error {
	options, err := readWords(w.Context)
	if err == nil {
		w.limits, err = w.Limits(options)
	}
	return err
}

// locked calls do while no other process works on a restore of the deployment from this folder.
func (r Restore) locked(do func() error) error {
	if err := os.MkdirAll(r.Folder, 0o700); err != nil {
		return err
	}
	lock, err := folder.Take(r.Folder, folder.User{PID: os.Getpid()})
	if _, used := errors.AsType[*folder.InUseError](err); used {
		return fmt.Errorf("another process restores %s: wait until it has ended", r.Name)
	}
	if err != nil {
		return err
	}
	return errors.Join(do(), lock.Release())
}
