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

	"vitrine/scripts/testkit/disk"
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

func TestWhatHasAKeyIsMadeAnewWithAnotherKeyOnly(t *testing.T) {
	f := folder(t.TempDir()).file()
	f.Sources = nil
	made := 0
	for n, key := range []string{"one", "one", "two", "one"} {
		f.Key = key
		err := Make(t.Context(), f, func() error { made++; return os.WriteFile(f.Path, nil, 0o644) })
		if want := []int{1, 1, 2, 3}[n]; err != nil || made != want {
			t.Errorf("made %d times, want %d; %v", made, want, err)
		}
	}
	f.Key = "three"
	broken := errors.New("broken")
	if err := Make(t.Context(), f, func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	f.Key = "one"
	if err := Make(t.Context(), f, func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("after a step that failed the file counts as made: %v", err)
	}
}

func TestAKeyIsThatOfTheContentOfItsSources(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		disk.Write(t, folder, map[string]string{name: text})
	}
	key := func(rest ...string) string {
		t.Helper()
		key, err := Key(folder, []string{"source", "one_test.go"}, rest...)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	write("source/below/a.go", "a")
	write("one_test.go", "1")
	before := key()
	write("source/a_test.go", "tests do not count")
	write("source/node_modules/x.js", "nor what npm installs")
	write("beside.go", "nor what is elsewhere")
	if key() != before {
		t.Error("it changed without its sources")
	}
	seen := map[string]string{before: "at first"}
	differs := func(now, when string) {
		t.Helper()
		if was, ok := seen[now]; ok {
			t.Errorf("%s it is as %s", when, was)
		}
		seen[now] = when
	}
	differs(key("go1.27"), "with another version")
	write("one_test.go", "2")
	differs(key(), "with another named file")
	write("source/below/a.go", "b")
	differs(key(), "with another text")
	below := filepath.Join(folder, "source", "below")
	if err := os.Rename(filepath.Join(below, "a.go"), filepath.Join(below, "b.go")); err != nil {
		t.Fatal(err)
	}
	differs(key(), "with another name")
	if _, err := Key(folder, []string{"gone"}); err == nil {
		t.Error("a source that is not there has a key")
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
