package save

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// resume opens the part of a file, which has to have this size and entity tag.
func resume(t *testing.T, name string, size int64, tag string) *Part {
	t.Helper()
	p, err := Resume(name, false)
	if err != nil {
		t.Fatal(err)
	}
	if gotSize, gotTag := p.Kept(); gotSize != size || gotTag != tag {
		t.Fatalf("%d bytes of %q are kept, want %d of %q", gotSize, gotTag, size, tag)
	}
	return p
}

func TestAPartIsContinuedByAnotherRun(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.zip")
	first := resume(t, name, 0, "")
	if err := first.Begin(`"1"`); err != nil {
		t.Fatal(err)
	}
	if _, err := first.WriteAt([]byte("hello"), 0); err != nil {
		t.Fatal(err)
	}
	first.Close()
	second := resume(t, name, 5, `"1"`)
	if _, err := second.WriteAt([]byte("o, world"), 4); err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	if err := second.Copy(&all); err != nil || all.String() != "hello, world" {
		t.Errorf("%q, %v", &all, err)
	}
	if err := second.Keep(); err != nil {
		t.Fatal(err)
	}
	second.Close()
	wantOnly(t, name, "hello, world")
}

// wantOnly checks that a file is the only one in its folder.
func wantOnly(t *testing.T, name, text string) {
	t.Helper()
	got, err := os.ReadFile(name)
	files, _ := os.ReadDir(filepath.Dir(name))
	if err != nil || string(got) != text || len(files) != 1 {
		t.Errorf("%q among %v, %v", got, files, err)
	}
}

func wantEmpty(t *testing.T, folder string) {
	t.Helper()
	if files, _ := os.ReadDir(folder); len(files) != 0 {
		t.Errorf("%v are left", files)
	}
}

func TestAnotherArchiveBeginsAnew(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.zip")
	first := resume(t, name, 0, "")
	for _, tag := range []string{`"1"`, `"2"`, ""} {
		if err := first.Begin(tag); err != nil {
			t.Fatal(err)
		}
		if _, err := first.WriteAt([]byte(tag+"x"), 0); err != nil {
			t.Fatal(err)
		}
		first.Close()
		first = resume(t, name, int64(len(tag)+1), tag)
	}
	first.Discard()
	first.Close()
	wantEmpty(t, filepath.Dir(name))
}

func TestAnEmptyPartIsNotLeft(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.zip")
	p := resume(t, name, 0, "")
	if err := p.Begin(`"1"`); err != nil {
		t.Fatal(err)
	}
	p.Close()
	wantEmpty(t, filepath.Dir(name))
}

func TestAFileThatAppearsMeanwhileIsNotReplaced(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.zip")
	p := resume(t, name, 0, "")
	if err := p.Begin(`"1"`); err != nil {
		t.Fatal(err)
	}
	if _, err := p.WriteAt([]byte("ours"), 0); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.Keep(); err == nil {
		t.Error("a file was replaced")
	}
	p.Close()
	if got, _ := os.ReadFile(name); string(got) != "theirs" {
		t.Errorf("it is %q now", got)
	}
	if got, _ := os.ReadFile(name + ".part"); string(got) != "ours" {
		t.Errorf("the part is %q", got)
	}
}
