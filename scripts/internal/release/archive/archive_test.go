package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/local/engines"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/release"
)

// platforms are those that the test builds for: this machine's, and with the tag architectures all.
var platforms = []release.Platform{{OS: runtime.GOOS, Arch: runtime.GOARCH}}

const version = "7.8.9"

// entry is what an archive says of a file.
type entry struct {
	name string
	mode fs.FileMode
	time time.Time
}

// entries are those that every archive has, whose program has a name.
func entries(program string) []entry {
	return []entry{{program, 0o755, packed}, {"LICENSE", 0o644, packed}, {"README.md", 0o644, packed}}
}

func TestAReleaseIsTheSameFromTwoFolders(t *testing.T) {
	root := expect.Value(engines.Root())(t)
	here := makeRelease(t)
	elsewhere := t.TempDir()
	copySources(t, root, elsewhere)
	t.Chdir(elsewhere)
	there := makeRelease(t)
	if len(here) != len(platforms)+1 || len(here) != len(there) {
		t.Errorf("%d files and %d files, want one a platform and the checksums", len(here), len(there))
	}
	for name, text := range here {
		if !bytes.Equal(text, there[name]) {
			t.Errorf("%s has %d and %d bytes, which differ", name, len(text), len(there[name]))
		}
	}
	for _, p := range platforms {
		text := here[p.Archive(version)]
		if sum := fmt.Sprintf("%x  %s\n", sha256.Sum256(text), p.Archive(version)); !strings.Contains(
			string(here[release.Checksums]), sum) {
			t.Errorf("the checksums are %s, without %s", here[release.Checksums], sum)
		}
		program := unpack(t, p, text)
		if bytes.Contains(program, []byte(root+"/")) {
			t.Errorf("the program for %s holds the path of the repository", p)
		}
		if p.OS == runtime.GOOS && p.Arch == runtime.GOARCH {
			wantProgram(t, program)
		}
	}
}

// makeRelease returns the files of a release of the tree at the current folder.
func makeRelease(t *testing.T) map[string][]byte {
	t.Helper()
	folder := t.TempDir()
	expect.OK(t, Make(t.Context(), folder, version, platforms, t.Output()))
	files := map[string][]byte{}
	for _, f := range expect.Value(os.ReadDir(folder))(t) {
		files[f.Name()] = expect.Value(os.ReadFile(filepath.Join(folder, f.Name())))(t)
	}
	return files
}

// copySources copies what a release is made of, with other modes and dates.
func copySources(t *testing.T, root, to string) {
	t.Helper()
	for _, source := range sources {
		err := filepath.WalkDir(filepath.Join(root, source), func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(file, "_test.go") {
				return err
			}
			text, err1 := os.ReadFile(file)
			name, err2 := filepath.Rel(root, file)
			target := filepath.Join(to, name)
			return errors.Join(err1, err2, os.MkdirAll(filepath.Dir(target), 0o755), os.WriteFile(target, text, 0o600))
		})
		expect.OK(t, err)
	}
}

// unpack returns the program of an archive, after a look at the rest.
func unpack(t *testing.T, p release.Platform, text []byte) []byte {
	t.Helper()
	var got []entry
	var program []byte
	if p.OS == "windows" {
		z := expect.Value(zip.NewReader(bytes.NewReader(text), int64(len(text))))(t)
		for _, f := range z.File {
			got = append(got, entry{f.Name, f.Mode(), f.Modified.UTC()})
		}
		program = expect.Value(fs.ReadFile(z, p.Program()))(t)
	} else {
		r := tar.NewReader(expect.Value(gzip.NewReader(bytes.NewReader(text)))(t))
		for h, err := r.Next(); err != io.EOF; h, err = r.Next() {
			expect.OK(t, err)
			got = append(got, entry{h.Name, h.FileInfo().Mode(), h.ModTime.UTC()})
			if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" {
				t.Errorf("%s belongs to somebody: %+v", h.Name, h)
			}
			if h.Name == p.Program() {
				program = expect.Value(io.ReadAll(r))(t)
			}
		}
	}
	if want := entries(p.Program()); !slices.Equal(got, want) {
		t.Errorf("the archive for %s holds %v, want %v", p, got, want)
	}
	return program
}

func wantProgram(t *testing.T, program []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "vitrine")
	expect.OK(t, os.WriteFile(file, program, 0o700))
	said, err := exec.CommandContext(t.Context(), file, "version").CombinedOutput()
	if err != nil || string(said) != "vitrine "+version+"\n" {
		t.Errorf("the program says %q, %v", said, err)
	}
}

func TestEverySystemGetsItsKindOfArchive(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"LICENSE", "README.md", "built"} {
		expect.OK(t, os.WriteFile(filepath.Join(root, name), []byte("text of "+name), 0o600))
	}
	for _, p := range release.Platforms {
		file := filepath.Join(root, p.Archive(version))
		expect.OK(t, pack(p, root, filepath.Join(root, "built"), file))
		if got := unpack(t, p, expect.Value(os.ReadFile(file))(t)); string(got) != "text of built" {
			t.Errorf("the program for %s is %q", p, got)
		}
	}
}

func TestWhatCannotBePackedIsNamed(t *testing.T) {
	for _, p := range release.Platforms {
		err := pack(p, t.TempDir(), "/nowhere/built", filepath.Join(t.TempDir(), "archive"))
		expect.Error(t, err, "/nowhere/built")
	}
}
