package save

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"vitrine/cmd/vitrine/failure"
)

// newFile returns a file that is about to be made, and its name.
func newFile(t *testing.T) (*File, string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a")
	f, err := To(name, false)
	if err != nil {
		t.Fatal(err)
	}
	return f, name
}

func write(t *testing.T, f *File, text string) {
	t.Helper()
	w, err := f.Start()
	if err == nil {
		_, err = w.Write([]byte(text))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func wantFile(t *testing.T, name, text string, files int) {
	t.Helper()
	got, err := os.ReadFile(name)
	if err != nil || string(got) != text {
		t.Errorf("%s holds %q (%v), want %q", name, got, err, text)
	}
	if all, err := os.ReadDir(filepath.Dir(name)); err != nil || len(all) != files {
		t.Errorf("the folder has %d files (%v), want %d", len(all), err, files)
	}
}

func TestKeepPutsTheLastAttemptInPlace(t *testing.T) {
	f, name := newFile(t)
	write(t, f, "half of")
	write(t, f, "whole")
	if err := f.Keep(); err != nil {
		t.Fatal(err)
	}
	f.Discard()
	wantFile(t, name, "whole", 1)
}

func TestAFileIsReplacedWithForceAlone(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(name, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := To(name, false); !failure.IsCode(err, failure.Unsavable) {
		t.Errorf("without force: %v", err)
	}
	f, err := To(name, true)
	if err != nil {
		t.Fatal(err)
	}
	write(t, f, "new")
	wantFile(t, name, "old", 2)
	if err := f.Keep(); err != nil {
		t.Fatal(err)
	}
	wantFile(t, name, "new", 1)
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v (%v)", info.Mode(), err)
	}
}

func TestAFileThatComesMeanwhileStays(t *testing.T) {
	f, name := newFile(t)
	write(t, f, "mine")
	if err := os.WriteFile(name, []byte("theirs"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := f.Keep(); !failure.IsCode(err, failure.Unsavable) {
		t.Errorf("Keep: %v", err)
	}
	f.Discard()
	wantFile(t, name, "theirs", 1)
}

// listen makes a file that is not regular, on every system.
func listen(t *testing.T, name string) error {
	l, err := net.Listen("unix", name)
	if err == nil {
		t.Cleanup(func() { l.Close() })
	}
	return err
}

func TestOnlyRegularFilesAreReplaced(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "s")
	toSocket := filepath.Join(dir, "to-s")
	nowhere := filepath.Join(dir, "nowhere")
	toFile := filepath.Join(dir, "to-file")
	file := filepath.Join(dir, "file")
	for _, err := range []error{
		listen(t, socket), os.Symlink(socket, toSocket), os.Symlink(filepath.Join(dir, "gone"), nowhere),
		os.Symlink(file, toFile), os.WriteFile(file, []byte("old"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{socket, toSocket, nowhere, os.DevNull} {
		for _, force := range []bool{false, true} {
			if _, err := To(name, force); !failure.IsCode(err, failure.Unsavable) {
				t.Errorf("To(%s, %v): %v", name, force, err)
			}
		}
	}
	f, err := To(toFile, true)
	if err != nil {
		t.Fatal(err)
	}
	write(t, f, "new")
	if err := f.Keep(); err != nil {
		t.Fatal(err)
	}
	wantFile(t, toFile, "new", 5)
	wantFile(t, file, "old", 5) // the link was replaced, not its target
	later := filepath.Join(dir, "later")
	if f, err = To(later, true); err != nil {
		t.Fatal(err)
	}
	write(t, f, "new")
	if err := listen(t, later); err != nil {
		t.Fatal(err)
	}
	if err := f.Keep(); !failure.IsCode(err, failure.Unsavable) {
		t.Errorf("over a socket that came meanwhile: %v", err)
	}
	f.Discard()
}

func TestPlacesThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{dir, filepath.Join(dir, "no", "a")} {
		for _, force := range []bool{false, true} {
			if _, err := To(name, force); !failure.IsCode(err, failure.Unsavable) {
				t.Errorf("To(%s, %v): %v", name, force, err)
			}
		}
	}
}
