package machine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/restore/journal"
	"vitrine/scripts/internal/restore/replay"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/local/folder"
	"vitrine/scripts/testkit/disk"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/keyring"
)

func TestARestoreIsRefusedWhereItWouldDoHarm(t *testing.T) {
	e := newEnv(t)
	harness.PublishPage(t, e.NewAgent(t), "words")
	c := e.copy(t)
	e.stop(t)
	for says, change := range map[string]func(*Restore){
		"is no restore":       func(r *Restore) { disk.Write(t, r.Data, map[string]string{"notes.txt": "mine"}) },
		"lies in the living":  func(r *Restore) { r.Data = filepath.Join(r.Living, "new") },
		"of the copy /other":  func(r *Restore) { e.journal(t, r.Data, "/other", r.Living) },
		"replaces the data":   func(r *Restore) { e.journal(t, r.Data, c.Dir, "/other") },
		"MB are needed":       func(r *Restore) { r.From.Objects = []copies.Object{{Size: 1 << 60}} },
		"tables in":           func(r *Restore) { r.From.DatabaseFile.SHA256 = "0" },
		"another deployment":  func(r *Restore) { r.Living = e.other(t) },
		"would leave out eve": func(r *Restore) { r.Except = []replay.Exception{{}} },
	} {
		for name, step := range map[string]func(Restore) error{
			"plan": func(r Restore) error { return r.Plan(t.Context()) },
			"run":  func(r Restore) error { return r.Run(t.Context()) },
		} {
			t.Run(name+" "+says, func(t *testing.T) {
				r := e.restore(t, c)
				change(&r)
				expect.Error(t, step(r), says)
			})
		}
	}
}

// journal writes the journal of another restore into a folder.
func (e *env) journal(t *testing.T, data, from, living string) {
	t.Helper()
	expect.OK(t, os.MkdirAll(data, 0o700))
	expect.OK(t, (&journal.Journal{State: journal.Begun, Copy: from, Living: living}).Write(data))
}

// other returns the data folder of a deployment that has nothing in common with that of the copy.
func (e *env) other(t *testing.T) string {
	t.Helper()
	o := newEnv(t)
	o.NewAgent(t)
	o.stop(t)
	return o.living
}

func TestAPlanChangesNothing(t *testing.T) {
	e := newEnv(t)
	harness.PublishPage(t, e.NewAgent(t), "words")
	r := e.restore(t, e.copy(t))
	before := contents(t, e.living)
	expect.OK(t, r.Plan(t.Context()))
	if after := contents(t, e.living); after != before {
		t.Errorf("the living folder has %s, and had %s", after, before)
	}
	if _, err := os.Stat(r.Data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is there: %v", r.Data, err)
	}
	expect.Has(t, "the plan", e.said.String(), "1 live artifacts in 1 workspaces, 1 objects", "rings    of "+e.living)
}

// contents lists the files of a folder.
func contents(t *testing.T, folder string) (names string) {
	t.Helper()
	expect.OK(t, filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		names += path + "\n"
		return err
	}))
	return names
}

func TestOneRestoreOfAFolderIsUnderWayAtATime(t *testing.T) {
	e := newEnv(t)
	harness.PublishPage(t, e.NewAgent(t), "words")
	c := e.copy(t)
	e.stop(t)
	first, second := e.restore(t, c), e.restore(t, c)
	expect.OK(t, first.Run(t.Context()))
	for _, err := range []error{second.Plan(t.Context()), second.Run(t.Context())} {
		expect.Error(t, err, first.Data, "abandon")
	}
	expect.OK(t, first.Abandon(t.Context()))
	if _, err := os.Stat(first.Data); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was abandoned is there: %v", err)
	}
	expect.OK(t, second.Run(t.Context()))
	lock, err := folder.Take(second.Data, folder.User{})
	expect.OK(t, err)
	expect.Error(t, second.Run(t.Context()), "uses "+second.Data)
	expect.OK(t, lock.Release())
}

func TestCommandsOutOfOrderAreRefused(t *testing.T) {
	e := newEnv(t)
	g := e.NewAgent(t)
	harness.PublishPage(t, g, "words")
	r := e.restore(t, e.copy(t))
	refused := func(says string, steps ...func() error) {
		t.Helper()
		for _, step := range steps {
			expect.Error(t, step(), says)
		}
	}
	check := func() error { return r.Check(t.Context()) }
	change := func() error { return r.Switch(t.Context()) }
	open := func() error { return r.Open(t.Context(), true) }
	abandon := func() error { return r.Abandon(t.Context()) }
	refused("no restore", check, change, open, abandon)
	e.journal(t, r.Data, r.From.Dir, r.Living)
	refused("has not ended", check, change)
	refused("switch first", open)
	expect.OK(t, os.RemoveAll(r.Data), r.Run(t.Context()), check())
	refused("switch first", open)
	lock, err := folder.Take(e.living, folder.User{PID: 7, Base: e.base})
	expect.OK(t, err)
	refused("process 7", change)
	expect.OK(t, lock.Release())
	e.stop(t)
	e.serve(t, r)
	refused("in use already", check, func() error { return r.Run(t.Context()) })
	e.Clock.Advance(time.Minute)
	harness.PublishPage(t, e.WithBearer(g.Key), "new")
	refused("have worked in", abandon)
	expect.OK(t, open(), open(), change())
	refused("is open", abandon)
}

func TestRingsThatWereMadeAnewAreNotTaken(t *testing.T) {
	e := newEnv(t)
	g := e.NewAgent(t)
	c := e.copy(t)
	e.stop(t)
	text, err := keyring.New().Over(nil)
	expect.OK(t, err)
	expect.OK(t, os.WriteFile(filepath.Join(e.living, ringsName), text, 0o600))
	r := e.restore(t, c)
	expect.OK(t, r.Run(t.Context()))
	e.serve(t, r)
	if status := e.StatusFor(t, g.Key, "/v1/whoami"); status != 200 {
		t.Errorf("a key of the copy answers %d", status)
	}
}
