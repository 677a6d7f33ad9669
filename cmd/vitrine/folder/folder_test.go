package folder

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"vitrine/cmd/vitrine/failure"
	"vitrine/scripts/testkit/disk"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/leftout"
)

// writeFiles makes a folder with the given files.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	disk.Write(t, dir, files)
	return dir
}

func open(t *testing.T, dir string) *Folder {
	t.Helper()
	f, err := Open(Request{Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func TestFilesAreInOrderOfTheirPaths(t *testing.T) {
	f := open(t,
		writeFiles(t, map[string]string{"index.html": "1", "a/z": "22", "a.txt": "333", "a/b/c": "4444", "Z": ""}))
	var got []string
	for _, file := range f.Files {
		got = append(got, file.Path)
	}
	if want := "Z a.txt a/b/c a/z index.html"; strings.Join(got, " ") != want {
		t.Errorf("files %v, want %s", got, want)
	}
	if f.Bytes() != 10 {
		t.Errorf("%d bytes, want 10", f.Bytes())
	}
}

// tally is a Progress that counts.
type tally struct{ bytes, files int64 }

func (t *tally) Sent(n int64) { t.bytes += n }
func (t *tally) Stored()      { t.files++ }

func TestDigest(t *testing.T) {
	large := strings.Repeat("vitrine ", 100000)
	f := open(t, writeFiles(t, map[string]string{"index.html": large, "empty": ""}))
	if err := f.Digest(t.Context(), &tally{}); err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"", large} {
		sum := sha256.Sum256([]byte(text))
		if got, want := f.Files[i].SHA256, hex.EncodeToString(sum[:]); got != want {
			t.Errorf("digest of %s is %s, want %s", f.Files[i].Path, got, want)
		}
	}
}

func TestDigestNoticesAnotherSize(t *testing.T) {
	for name, now := range map[string]string{"shorter": "he", "longer": "hello!"} {
		t.Run(name, func(t *testing.T) {
			dir := writeFiles(t, map[string]string{"index.html": "hello"})
			f := open(t, dir)
			if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte(now), 0o666); err != nil {
				t.Fatal(err)
			}
			if err := f.Digest(t.Context(), &tally{}); !failure.IsCode(err, failure.FileChanged) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestBody reads in pieces of all sizes; a changed file must never be read whole.
func TestBody(t *testing.T) {
	const announced = "the announced bytes"
	for _, tt := range []struct {
		name, now string
		changed   bool
	}{
		{"the same", announced, false},
		{"other bytes at the end", "the announced bytez", true},
		{"other bytes at the start", "The announced bytes", true},
		{"shorter", "the announced byte", true},
		{"longer", announced + "!", true},
		{"empty", "", true},
	} {
		for pieces, reader := range map[string]func(io.Reader) io.Reader{
			"at once":      func(r io.Reader) io.Reader { return r },
			"byte by byte": iotest.OneByteReader,
			"by halves":    iotest.HalfReader,
		} {
			t.Run(tt.name+", "+pieces, func(t *testing.T) {
				dir := writeFiles(t, map[string]string{"index.html": announced})
				f := open(t, dir)
				if err := f.Digest(t.Context(), &tally{}); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte(tt.now), 0o666); err != nil {
					t.Fatal(err)
				}
				body, err := f.Body(f.Files[0])
				if err != nil {
					t.Fatal(err)
				}
				defer body.Close()
				got, err := io.ReadAll(reader(body))
				if !tt.changed && (err != nil || string(got) != announced) {
					t.Errorf("read %q, error %v", got, err)
				}
				if tt.changed && (!failure.IsCode(err, failure.FileChanged) || len(got) >= len(announced)) {
					t.Errorf("read %q, error %v", got, err)
				}
			})
		}
	}
}

func TestReplace(t *testing.T) {
	dir := writeFiles(t, map[string]string{"index.html": "<p>one", "other.html": "<p>two"})
	f := open(t, dir)
	if err := f.Digest(t.Context(), &tally{}); err != nil {
		t.Fatal(err)
	}
	f.Replace("index.html", []byte("<p>longer"))
	want := sha256.Sum256([]byte("<p>longer"))
	if got := f.Files[0]; got.Size != 9 || got.SHA256 != hex.EncodeToString(want[:]) || f.Files[1].Size != 6 {
		t.Errorf("files %+v", f.Files)
	}
	for n, want := range []string{"<p>longer", "<p>two"} {
		body, err := f.Body(f.Files[n])
		if err != nil {
			t.Fatal(err)
		}
		defer body.Close()
		if got, err := io.ReadAll(body); string(got) != want || err != nil {
			t.Errorf("Body(%s) = %s, %v, want %s", f.Files[n].Path, got, err, want)
		}
	}
	if kept, _ := os.ReadFile(filepath.Join(dir, "index.html")); string(kept) != "<p>one" {
		t.Errorf("the file on the disk is %s", kept)
	}
}

func TestASwappedLinkDoesNotLeadOutside(t *testing.T) {
	outside := filepath.Join(writeFiles(t, map[string]string{"private.txt": "hello"}), "private.txt")
	dir := writeFiles(t, map[string]string{"index.html": "hello"})
	f := open(t, dir)
	if err := f.Digest(t.Context(), &tally{}); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "index.html")
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, name); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Body(f.Files[0]); !failure.IsCode(err, failure.UnusablePath) {
		t.Errorf("Body of a link that leads outside = %v, want %s", err, failure.UnusablePath)
	}
}

func TestTheWalkEnds(t *testing.T) {
	w := walk{files: make([]File, maxFiles)}
	if err := w.add("one.more", nil, "one.more"); !failure.IsCode(err, fault.FileCountCapExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestTitle(t *testing.T) {
	expect.Results(t, title, map[string]string{
		"/home/me/Weekly report":            "Weekly report",
		"/home/me/page.html":                "page.html",
		"/":                                 "Untitled",
		"/home/ ":                           "Untitled",
		"/home/a\tb\x1b[2J":                 "a b [2J",
		"/home/caf\xe9":                     "caf\uFFFD",
		"/home/" + strings.Repeat("é", 161): strings.Repeat("é", 160),
	})
}

func TestCheckPath(t *testing.T) {
	nested := strings.Repeat("d/", 63) + "f"
	for path, ok := range map[string]bool{
		"index.html":              true,
		"a b/ü/日本.txt":            true,
		".well-known/x":           true,
		"%2e%2e/x":                true,
		"a\u0301\u202e":           true,
		"a\u0085":                 true,
		nested:                    true,
		"d/" + nested:             false,
		strings.Repeat("x", 1024): true,
		strings.Repeat("x", 1025): false,
		strings.Repeat("é", 512):  true,
		strings.Repeat("é", 513):  false,
		"c:x":                     false,
		"C:":                      false,
		"z:/x":                    false,
		"a/c:x":                   true,
		"ab:c":                    true,
		"1:x":                     true,
		"con":                     true,
		"trail.":                  true,
		"a\\b":                    false,
		"a\x00b":                  false,
		"a\nb":                    false,
		"a\x7fb":                  false,
		"caf\xe9":                 false,
	} {
		if err := checkPath(path); (err == nil) != ok {
			t.Errorf("checkPath(%.40q): error %v", path, err)
		}
	}
}

func TestChooseEntrypoint(t *testing.T) {
	for _, tt := range []struct{ files, wanted, want string }{
		{"README.md index.htm index.html index.md", "", "index.html"},
		{"README.md index.htm index.md", "", "index.md"},
		{"README.md index.htm z", "", "README.md"},
		{"a index.htm", "", "index.htm"},
		{"only.bin", "", "only.bin"},
		{"a b", "", "the list and a"},
		{"a docs/index.html", "", "the list and a"},
		{"a Index.html", "", "the list and a"},
		{"a b/c.html", "b/c.html", "b/c.html"},
		{"a b/c.html", "./b//c.html", "b/c.html"},
		{"a b/c.html", "../b/c.html", ""},
		{"index.html a", "b", ""},
		{"", "", ""},
	} {
		var files []File
		for p := range strings.FieldsSeq(tt.files) {
			files = append(files, File{Path: p})
		}
		got, listing, err := chooseEntrypoint(files, tt.wanted)
		if listing {
			got = "the list and " + got
		}
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("of %q, wanting %q: %q, error %v", tt.files, tt.wanted, got, err)
		}
	}
}

func TestAHugeIgnoreFileIsCut(t *testing.T) {
	huge := append(bytes.Repeat([]byte("# filler\n"), maxIgnore/9+1), "index.html\n"...)
	if f := open(t, writeFiles(t, map[string]string{"index.html": "x", leftout.Ignore: string(huge)})); len(f.Files) != 1 {
		t.Errorf("files %v", f.Files)
	}
}

func TestTheStateTellsWithoutReadingWhetherFilesChanged(t *testing.T) {
	dir := writeFiles(t, map[string]string{"index.html": "1", "a/z": "22", ".artifactignore": "*.log\n"})
	state := func() string {
		f, err := Open(Request{Path: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		return f.State()
	}
	at := time.Now().Add(-time.Hour)
	last := state()
	for _, tt := range []struct {
		name   string
		change func() error
		same   bool
	}{
		{"nothing", func() error { return nil }, true},
		{"an ignored file", func() error { return os.WriteFile(filepath.Join(dir, "a.log"), nil, 0o600) }, true},
		{"a new file", func() error { return os.WriteFile(filepath.Join(dir, "b"), nil, 0o600) }, false},
		{"another size", func() error { return os.WriteFile(filepath.Join(dir, "b"), []byte("x"), 0o600) }, false},
		{"another time", func() error { return os.Chtimes(filepath.Join(dir, "b"), at, at) }, false},
		{"another name", func() error { return os.Rename(filepath.Join(dir, "b"), filepath.Join(dir, "c")) }, false},
		{"a file less", func() error { return os.Remove(filepath.Join(dir, "c")) }, false},
	} {
		if err := tt.change(); err != nil {
			t.Fatal(err)
		}
		now := state()
		if (now == last) != tt.same {
			t.Errorf("%s: the state is the same: %v", tt.name, now == last)
		}
		last = now
	}
}
