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
	"vitrine/shared/platform/limits"
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
	Secrets []Refused
	Other   []string // version control, dependencies, ignored files, links that lead outside, devices
	// GitignoreIn names the entrypoint because of which .gitignore files were not applied; "" when they were.
	GitignoreIn string
}

// Request says what to publish.
type Request struct {
	Path        string
	Entrypoint  string   // the file to open first; "" chooses it
	NoIgnore    bool     // ignore files do not count
	AllowSecret []string // files to publish although they look like secrets, as paths below the root
	Logins      []string // folders where logins are kept: nothing of them is published, whatever is allowed
}

// Folder is an opened set of files, in the order of their paths.
type Folder struct {
	Title      string // the base name of the path
	Entrypoint string
	Files      []File
	Skipped    Skipped

	root   *os.Root
	at     place
	single bool
	guard  guard
}

// Open finds the files below a folder, or takes a single file. Failures are of kind failure.Invalid and name what cannot
// be published.
func Open(rq Request) (*Folder, error) {
	at := place{given: rq.Path}
	var err error
	if at.absolute, err = filepath.Abs(rq.Path); err != nil {
		return nil, unusable("cannot find %s: %v", rq.Path, err)
	}
	if at.real, err = filepath.EvalSymlinks(at.absolute); err != nil {
		return nil, unusable("cannot find %s: %v", rq.Path, reason(err))
	}
	info, err := os.Stat(at.real)
	if err != nil {
		return nil, unusable("cannot read %s: %v", rq.Path, reason(err))
	}
	f := &Folder{Title: title(at.absolute), at: at, single: !info.IsDir(), guard: newGuard(rq, at.real)}
	if err := f.guard.root(at, info.IsDir()); err != nil {
		return nil, err
	}
	dir := at.real
	if f.single {
		dir = filepath.Dir(at.real)
	}
	if f.root, err = os.OpenRoot(dir); err != nil {
		return nil, unusable("cannot open %s: %v", rq.Path, reason(err))
	}
	if f.single {
		err = f.take(rq.Entrypoint)
	} else {
		err = f.fill(rq)
	}
	if err == nil {
		err = f.hasAllowed()
	}
	if err != nil {
		f.root.Close()
		return nil, err
	}
	return f, nil
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

// take publishes a single file.
func (f *Folder) take(entrypoint string) error {
	name := filepath.Base(f.at.absolute)
	if err := checkPath(name); err != nil {
		return err
	}
	info, err := f.root.Stat(filepath.Base(f.at.real))
	switch {
	case err != nil:
		return unusable("cannot read %s: %v", f.at.given, reason(err))
	case !info.Mode().IsRegular():
		return unusable("%s is neither a file nor a folder", f.at.given)
	}
	f.Files = []File{{Path: name, Size: info.Size(), name: filepath.Base(f.at.real)}}
	return f.settle(entrypoint)
}

// fill walks the folder. When .gitignore leaves the entrypoint out, people mean to publish what they built: the folder
// is then walked again without .gitignore. An .artifactignore is obeyed all the same.
func (f *Folder) fill(rq Request) error {
	first := f.walk(!rq.NoIgnore, !rq.NoIgnore && inWorkTree(f.at.real))
	if err := first.run(); err != nil {
		return err
	}
	f.Files, f.Skipped = first.files, first.skipped
	err := f.settle(rq.Entrypoint)
	if err == nil || !first.gitignore {
		return err
	}
	second := f.walk(true, false)
	if second.run() != nil || len(second.files) == len(first.files) {
		return err
	}
	f.Files, f.Skipped = second.files, second.skipped
	if f.settle(rq.Entrypoint) != nil {
		return err
	}
	f.Skipped.GitignoreIn = f.Entrypoint
	return nil
}

func (f *Folder) walk(ownignore, gitignore bool) *walk {
	return &walk{root: f.root, real: f.at.real, guard: f.guard, ownignore: ownignore, gitignore: gitignore}
}

// hasAllowed refuses a name that was allowed and is not published: it is misspelt, or stays behind for another reason.
func (f *Folder) hasAllowed() error {
	for name := range f.guard.allowed {
		if !slices.ContainsFunc(f.Files, func(file File) bool { return file.Path == name }) {
			return failure.New(failure.Invalid, failure.Usage,
				"--allow-secret names %q, which is not among the files to publish", name).
				Advise("Name a file by its path below what is published, as a publish without the flag shows it.%s",
					f.Skipped.told(name))
		}
	}
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
	left := slices.Clone(s.Other)
	for _, r := range s.Secrets {
		left = append(left, r.Path)
	}
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
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}
