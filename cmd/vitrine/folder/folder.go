// Package folder finds the files of a path that are to be published, and reads them without trusting that they stand still.
//
// All reading goes through an os.Root, so no symbolic link can lead outside the published folder, not even one that is
// swapped in while the folder is read.
package folder

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/limits"
)

// maxFiles ends the walk of a folder that was surely not meant to be published, such as a home directory.
const maxFiles = 10000

// File is one file to publish.
type File struct {
	Path   string // as it is published: relative, forward slashes
	Size   int64
	SHA256 string // lower-case hex, once Digest has run

	name string // where its bytes are below the root; another path than Path for a followed link
}

// Skipped tells what stays behind, in paths below the root; folders end with a slash.
type Skipped struct {
	Secrets []string // look like credentials; nothing overrides that
	Other   []string // version control, dependencies, ignored files, links that lead outside, devices
	// GitignoreIn names the entrypoint because of which .gitignore files were not applied; "" when they were.
	GitignoreIn string
}

// Folder is an opened set of files, in the order of their paths.
type Folder struct {
	Title      string // the base name of the path
	Entrypoint string
	Files      []File
	Skipped    Skipped

	root *os.Root
}

// Open finds the files below a folder, or takes a single file. entrypoint names the file to open first; "" chooses it.
// Failures are of kind failure.Invalid and name what cannot be published.
func Open(name, entrypoint string) (*Folder, error) {
	absolute, err := filepath.Abs(name)
	if err != nil {
		return nil, unusable("cannot find %s: %v", name, err)
	}
	real, err := filepath.EvalSymlinks(absolute)
	if err != nil {
		return nil, unusable("cannot find %s: %v", name, reason(err))
	}
	if dir := secretFolder(real); dir != "" {
		return nil, unusable("%s is in %s, where credentials are kept", name, dir)
	}
	info, err := os.Stat(real)
	if err != nil {
		return nil, unusable("cannot read %s: %v", name, reason(err))
	}
	place := place{given: name, absolute: absolute, real: real}
	if info.IsDir() {
		return openTree(place, entrypoint)
	}
	return openSingle(place, entrypoint)
}

// Close releases the folder.
func (f *Folder) Close() error { return f.root.Close() }

// Bytes is the sum of the files' sizes.
func (f *Folder) Bytes() (sum int64) {
	for _, file := range f.Files {
		sum += file.Size
	}
	return sum
}

// place is the path to publish in its three forms.
type place struct{ given, absolute, real string }

func openSingle(at place, entrypoint string) (*Folder, error) {
	name := filepath.Base(at.absolute)
	if err := checkPath(name); err != nil {
		return nil, err
	}
	if isSecret(name) || isSecret(filepath.Base(at.real)) {
		return nil, unusable("%s looks like a credential; such files are never published", at.given).
			Advise("Rename it if it holds no secret, and be sure: whoever has the link can read it.")
	}
	root, err := os.OpenRoot(filepath.Dir(at.real))
	if err != nil {
		return nil, unusable("cannot open %s: %v", at.given, reason(err))
	}
	f := &Folder{Title: title(at.absolute), root: root}
	info, err := root.Stat(filepath.Base(at.real))
	switch {
	case err != nil:
		err = unusable("cannot read %s: %v", at.given, reason(err))
	case !info.Mode().IsRegular():
		err = unusable("%s is neither a file nor a folder", at.given)
	default:
		f.Files = []File{{Path: name, Size: info.Size(), name: filepath.Base(at.real)}}
		err = f.settle(entrypoint)
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return f, nil
}

func openTree(at place, entrypoint string) (*Folder, error) {
	root, err := os.OpenRoot(at.real)
	if err != nil {
		return nil, unusable("cannot open %s: %v", at.given, reason(err))
	}
	f := &Folder{Title: title(at.absolute), root: root}
	if err := f.fill(at, entrypoint); err != nil {
		root.Close()
		return nil, err
	}
	return f, nil
}

// fill walks the folder. When .gitignore leaves the entrypoint out, people mean to publish what they built: the folder
// is then walked again without .gitignore. An .artifactignore is always obeyed.
func (f *Folder) fill(at place, entrypoint string) error {
	gitignore := inWorkTree(at.real)
	first := walk{root: f.root, real: at.real, gitignore: gitignore}
	if err := first.run(); err != nil {
		return err
	}
	f.Files, f.Skipped = first.files, first.skipped
	err := f.settle(entrypoint)
	if err == nil || !gitignore {
		return err
	}
	second := walk{root: f.root, real: at.real}
	if second.run() != nil || len(second.files) == len(first.files) {
		return err
	}
	f.Files, f.Skipped = second.files, second.skipped
	if f.settle(entrypoint) != nil {
		return err
	}
	f.Skipped.GitignoreIn = f.Entrypoint
	return nil
}

// settle orders the files and chooses the entrypoint.
func (f *Folder) settle(entrypoint string) (err error) {
	slices.SortFunc(f.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	f.Entrypoint, err = chooseEntrypoint(f.Files, entrypoint)
	if why, ok := errors.AsType[*failure.Failure](err); ok {
		_ = why.Advise("%s", why.Hint+f.Skipped.told(entrypoint)) // err holds why
	}
	return err
}

// told names what stays behind, for a folder that lacks something: first that itself, if it is named.
func (s Skipped) told(wanted string) string {
	left := slices.Concat(s.Other, s.Secrets)
	if i := slices.Index(left, path.Clean(filepath.ToSlash(wanted))); i >= 0 {
		left[0], left[i] = left[i], left[0]
	}
	if len(left) == 0 {
		return ""
	}
	return " (left out: " + Few(left) + ")"
}

// Few lists the first names of many.
func Few(names []string) string {
	const shown = 5
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// title makes a title of the last part of a path: printable and no longer than allowed.
func title(absolute string) string {
	name := strings.ToValidUTF8(filepath.Base(absolute), "\uFFFD")
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, name)
	if r := []rune(name); len(r) > limits.TitleRunes {
		name = string(r[:limits.TitleRunes])
	}
	if name = strings.TrimSpace(name); name == "" || name == string(filepath.Separator) {
		return "Untitled"
	}
	return name
}

// checkPath refuses names that no server accepts; another Unicode form is another path, so nothing is normalised.
func checkPath(p string) error {
	why := ""
	switch {
	case !utf8.ValidString(p):
		why = "its name is not valid UTF-8"
	case strings.ContainsFunc(p, func(r rune) bool { return r <= 0x1f || r == 0x7f || r == '\\' }):
		why = "its name holds a backslash or a control character"
	case drive.MatchString(p):
		why = "its path begins with a letter and a colon, as that of a disk"
	case len(p) > limits.PathBytes:
		why = fmt.Sprintf("its path is longer than %d bytes", limits.PathBytes)
	case strings.Count(p, "/") >= limits.PathParts:
		why = fmt.Sprintf("its path has more than %d parts", limits.PathParts)
	default:
		return nil
	}
	return unusable("cannot publish %q: %s", p, why).Advise("Rename the file, or name it in .artifactignore.")
}

// drive is how paths begin that some systems take for a disk.
var drive = regexp.MustCompile(`^[A-Za-z]:`)

func unusable(format string, args ...any) *failure.Failure {
	return failure.New(failure.Invalid, failure.UnusablePath, format, args...).
		Advise("Check the path; vitrine help publish tells which files are published.")
}

// reason is err without the path, which the message names as the user wrote it.
func reason(err error) error {
	if e, ok := err.(*os.PathError); ok {
		return e.Err
	}
	return err
}
