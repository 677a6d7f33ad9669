package journal

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

var begun = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

func entry() Entry {
	return Entry{
		SchemaVersion: "1",
		Subject:       Subject{Server: "https://v.test", Path: "/site", Publisher: Ephemeral},
		Digest:        "d",
		Key:           "cli_publish_1",
		Session:       id.NewSession(),
		Step:          Uploading,
		BegunAt:       begun,
		UpdatedAt:     begun,
	}
}

// newJournal returns a journal whose folder does not exist before its lock is taken.
func newJournal(t *testing.T) Journal {
	t.Helper()
	j := Journal{Dir: filepath.Join(t.TempDir(), "vitrine", "publish")}
	t.Cleanup(func() {
		for os.RemoveAll(j.Dir) != nil { // a wait that was given up may still make a file there, until the folder is gone
		}
	})
	unlock, err := j.Lock(t.Context(), "https://v.test", "/other", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	unlock()
	return j
}

func TestAnEntryIsReadAsItWasWritten(t *testing.T) {
	j, e := newJournal(t), entry()
	if err := j.Save(e); err != nil {
		t.Fatal(err)
	}
	e.Step, e.LinkEnds = Published, begun.Add(time.Hour)
	if err := j.Save(e); err != nil {
		t.Fatal(err)
	}
	if got := j.Load(e.Subject, begun); got == nil || !cmp.Equal(*got, e) {
		t.Errorf("entry %+v, want %+v", got, e)
	}
	for name, mode := range map[string]fs.FileMode{j.Dir: dirMode, j.path(e.Subject): fileMode} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v (%v), want %v", name, info.Mode(), err, mode)
		}
	}
	for range 2 { // an entry that is gone is removed
		if err := j.Remove(e.Subject); err != nil || j.Load(e.Subject, begun) != nil {
			t.Errorf("it is still there: %v", err)
		}
	}
	if left, err := os.ReadDir(j.Dir); err != nil || len(left) > 0 {
		t.Errorf("the folder has %v (%v)", left, err)
	}
}

func TestAnEntryThatCannotBeUsedIsNone(t *testing.T) {
	e := entry()
	for name, spoil := range map[string]func(Journal){
		"of a session that ended": func(Journal) { e.BegunAt = begun.Add(-limits.SessionLife) },
		"without a key":           func(Journal) { e.Key = "" },
		"of another subject": func(j Journal) {
			other := e.Subject
			other.Path = "/another"
			if err := os.Rename(j.path(e.Subject), j.path(other)); err != nil {
				t.Error(err)
			}
			e.Subject = other
		},
		"that is cut": func(j Journal) {
			if err := os.Truncate(j.path(e.Subject), 20); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJournal(t)
			e = entry()
			if err := j.Save(e); err != nil {
				t.Fatal(err)
			}
			saved := e
			if spoil(j); e.Subject == saved.Subject && !cmp.Equal(e, saved) {
				if err := j.Save(e); err != nil {
					t.Fatal(err)
				}
			}
			if got := j.Load(e.Subject, begun); got != nil {
				t.Errorf("it is %+v", got)
			}
		})
	}
}

func TestOldFilesAreDeleted(t *testing.T) {
	j, old, recent := newJournal(t), entry(), entry()
	recent.Path = "/recent"
	for _, e := range []Entry{old, recent} {
		if err := j.Save(e); err != nil {
			t.Fatal(err)
		}
	}
	torn := j.path(old.Subject) + ".123"
	if err := os.WriteFile(torn, nil, fileMode); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]time.Time{
		j.path(old.Subject): begun.Add(-limits.SessionLife), torn: begun.Add(-limits.SessionLife),
		j.path(recent.Subject): begun.Add(time.Second - limits.SessionLife),
	} {
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if names := j.Expire(begun); !slices.Equal(names, []string{old.Name()}) {
		t.Errorf("expired %q, want %q", names, old.Name())
	}
	left, err := os.ReadDir(j.Dir)
	if err != nil || len(left) != 1 || left[0].Name() != recent.Name()+ending {
		t.Errorf("the folder has %v (%v)", left, err)
	}
}

func TestALockIsHeldByOneProcess(t *testing.T) {
	j := newJournal(t)
	unlock, err := j.Lock(t.Context(), "https://v.test", "/site", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	_, err = j.Lock(t.Context(), "https://v.test", "/site", time.Millisecond)
	if busy, ok := errors.AsType[Busy](err); !ok || busy.PID != strconv.Itoa(os.Getpid()) {
		t.Errorf("error %v", err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if _, err := j.Lock(ctx, "https://v.test", "/site", time.Minute); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	for _, other := range [][2]string{{"https://v.test", "/site2"}, {"https://w.test", "/site"}} {
		free, err := j.Lock(t.Context(), other[0], other[1], time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		free()
	}
	got := make(chan error)
	go func() {
		next, err := j.Lock(t.Context(), "https://v.test", "/site", time.Minute)
		if err == nil {
			next()
		}
		got <- err
	}()
	unlock()
	if err := <-got; err != nil {
		t.Error(err)
	}
}

func TestTheFolderFollowsTheEnvironment(t *testing.T) {
	for name, test := range map[string]struct {
		env  map[string]string
		want string
	}{
		"state":          {map[string]string{"XDG_STATE_HOME": "/s", "HOME": "/h"}, "/s/vitrine/publish"},
		"relative state": {map[string]string{"XDG_STATE_HOME": "s", "HOME": "/h"}, "/h/.local/state/vitrine/publish"},
		"profile":        {map[string]string{"USERPROFILE": "/u"}, "/u/.local/state/vitrine/publish"},
		"nothing":        {nil, ""},
	} {
		if got := Folder(func(n string) string { return test.env[n] }); got != filepath.FromSlash(test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	if _, err := (Journal{}).Lock(t.Context(), "s", "p", time.Minute); err == nil {
		t.Error("a lock without a folder was taken")
	}
}
