package fresh

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// folder is a repository of a test.
type folder string

func (f folder) file() File {
	return File{Path: f.at("out", "file"), Sources: []string{f.at("source")}, Lock: f.at("lock")}
}

func (f folder) at(parts ...string) string {
	return filepath.Join(append([]string{string(f)}, parts...)...)
}

// write makes a file that was changed at a time, and its folder with it.
func (f folder) write(t *testing.T, name string, at time.Time) {
	t.Helper()
	file := f.at(name)
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, nil, 0o644)
	}
	for _, path := range []string{file, filepath.Dir(file)} {
		if err == nil {
			err = os.Chtimes(path, at, at)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestOnlyWhatIsOlderThanItsSourcesIsMadeAnew(t *testing.T) {
	f := folder(t.TempDir())
	now := time.Now().Truncate(time.Second)
	f.write(t, "source/a.go", now.Add(-time.Hour))
	made := 0
	wantMade := func(when string, want int) {
		t.Helper()
		err := Make(t.Context(), f.file(), func() error {
			made++
			f.write(t, "out/file", now.Add(time.Hour)) // the end of a step that takes long
			return nil
		})
		if err != nil || made != want {
			t.Errorf("%s: made %d times, %v", when, made, err)
		}
	}
	wantMade("at first", 1)
	wantMade("again", 1)
	f.write(t, "source/b_test.go", now.Add(-time.Hour))
	wantMade("with another test", 1)
	f.write(t, "source/below/c.go", now.Add(time.Minute)) // while the step ran
	wantMade("with a source that changed meanwhile", 2)

	gone := f.file()
	gone.Sources = []string{f.at("gone")}
	if err := Make(t.Context(), gone, nil); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("a source that is not there: %v", err)
	}
}

func TestAStepThatFailsIsTriedAgain(t *testing.T) {
	f := folder(t.TempDir())
	f.write(t, "source/a.go", time.Now().Add(-time.Hour))
	broken := errors.New("broken")
	for range 2 {
		if err := Make(t.Context(), f.file(), func() error { return broken }); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	}
}

func TestThoseWhoNeedTheSameAtOnceMakeOne(t *testing.T) {
	f := folder(t.TempDir())
	f.write(t, "source/a.go", time.Now().Add(-time.Hour))
	made := 0 // the lock guards it
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if err := Make(t.Context(), f.file(),
				func() error { made++; return os.WriteFile(f.at("out", "file"), nil, 0o644) }); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if made != 1 {
		t.Errorf("made %d times", made)
	}
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	f := folder(t.TempDir())
	f.write(t, "source/a.go", time.Now().Add(-time.Hour))
	ctx, cancel := context.WithCancel(t.Context())
	err := Make(t.Context(), f.file(), func() error {
		cancel()
		if err := Make(ctx, f.file(), nil); !errors.Is(err, context.Canceled) {
			t.Errorf("somebody who gave up: %v", err)
		}
		return os.WriteFile(f.at("out", "file"), nil, 0o644)
	})
	if err != nil {
		t.Error(err)
	}
}
