// Package folder finds the files of a path to publish, and reads them although they may change meanwhile.
//
// It reads only through an os.Root, so that no symbolic link can lead outside the published folder, not even one that
// is replaced during the read.
package folder

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/limits"
)

// maxFiles stops the walk of a folder that is too large to be published on purpose, such as a home directory.
const maxFiles = 10000

// File is one file to publish.
type File struct {
	Path   string // path of the file below the root; differs from Path for a followed link
	Size   int64
	SHA256 string // lower-case hex; set by Digest

	body     []byte // set by Replace: the bytes to publish instead of those on the disk
	modified time.Time
	name     string // path of its bytes below the root; differs from Path for a followed link
}

// Skipped lists what is not published, as paths below the root; folders end with a slash.
type Skipped struct {
	Secrets []Refused
	Other   []string // version control, dependencies, ignored files, links that lead outside, devices
	// GitignoreIn names what made .gitignore files not apply; "" if they applied.
	GitignoreIn string
}

// Request says what to publish.
type Request struct {
	Path        string
	Given       string   // name of Path in failures; "": Path itself
	Entrypoint  string   // "": chosen
	NoIgnore    bool     // ignore files are not applied
	AllowSecret []string // files to publish even though they look like secrets, as paths below the root
	Logins      []string // folders of stored logins, whose files are never published, even if allowed by name
	State       string   // folder that is skipped, because every publish changes it
	AllSecrets  bool     // publish all files even though they look like secrets
	// Within are folders without links, in one of which Path must be; nil: it may be anywhere. The root is opened through
	// that folder, so that no link leads out of it, even if one is made meanwhile.
	Within []string
}

// Folder is an opened set of files, sorted by path.
type Folder struct {
	Title      string // the base name of the path
	Entrypoint string
	Listing    bool // readers get the list of files first, and not the entrypoint
	Files      []File
	Skipped    Skipped

	root   *os.Root
	at     place
	single bool
	guard  guard
}

// Open finds the files below a folder, or takes a single file. Failures have the exit code failure.Invalid and name
// what cannot be published.
func Open(rq Request) (*Folder, error) {
	at := place{given: cmp.Or(rq.Given, rq.Path)}
	var err error
	if at.absolute, err = filepath.Abs(rq.Path); err != nil {
		return nil, unusable("cannot find %s: %v", at.given, err)
	}
	if at.real, err = filepath.EvalSymlinks(at.absolute); err != nil {
		return nil, unusable("cannot find %s: %v", at.given, reason(err))
	}
	info, err := os.Stat(at.real)
	if err != nil {
		return nil, unusable("cannot read %s: %v", at.given, reason(err))
	}
	f := &Folder{
		Title:  title(at.absolute),
		at:     at,
		single: !info.IsDir(),
		guard:  newGuard(rq, at.real),
	}
	if err := f.guard.root(at, info.IsDir()); err != nil {
		return nil, err
	}
	dir := at.real
	if f.single {
		dir = filepath.Dir(at.real)
	}
	if f.root, err = openRoot(dir, rq.Within); err != nil {
		return nil, unusable("cannot open %s: %v", at.given, reason(err))
	}
	if f.single {
		err = f.addFile(rq.Entrypoint)
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

// openRoot opens a folder through one of those that it must be in, if there are any.
func openRoot(dir string, within []string) (*os.Root, error) {
	if within == nil {
		return os.OpenRoot(dir)
	}
	for _, above := range within {
		rel, err := filepath.Rel(above, dir)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		outer, err := os.OpenRoot(above)
		if err != nil {
			return nil, err
		}
		defer outer.Close()
		return outer.OpenRoot(rel)
	}
	return nil, errors.New("it is outside of the folders that may be published from")
}

// Location returns the absolute path of the folder or the file, without links.
func (f *Folder) Location() string { return f.at.real }

// Close releases the folder.
func (f *Folder) Close() error { return f.root.Close() }

// Bytes returns the sum of the files' sizes.
func (f *Folder) Bytes() (sum int64) {
	for _, file := range f.Files {
		sum += file.Size
	}
	return sum
}

// State identifies the files by their paths, sizes and modification times. It does not read the files, so a different
// state means only that their bytes may differ.
func (f *Folder) State() string {
	var b []byte
	for _, file := range f.Files {
		b = append(b, file.Path...)
		b = append(b, 0)
		b = strconv.AppendInt(b, file.Size, 10)
		b = append(b, 0)
		b = strconv.AppendInt(b, file.modified.UnixNano(), 10)
		b = append(b, '\n')
	}
	return string(b)
}

// place is the path to publish in three forms.
type place struct{ given, absolute, real string }

// addFile publishes a single file.
func (f *Folder) addFile(entrypoint string) error {
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
	f.Files = []File{{
		Path:     name,
		Size:     info.Size(),
		modified: info.ModTime(),
		name:     filepath.Base(f.at.real),
	}}
	return f.finish(entrypoint)
}

// fill walks the folder. If .gitignore excludes the entrypoint or all files, the folder is a build output that is meant
// to be published. It is then walked again without .gitignore, but still with .artifactignore.
func (f *Folder) fill(rq Request) error {
	first := f.walk(!rq.NoIgnore, !rq.NoIgnore && inWorkTree(f.at.real))
	if err := first.run(); err != nil {
		return err
	}
	f.Files, f.Skipped = first.files, first.skipped
	err := f.finish(rq.Entrypoint)
	if err == nil && !f.Listing || !first.gitignore {
		return err
	}
	second := f.walk(true, false)
	if second.run() != nil || len(second.files) == len(first.files) {
		return err
	}
	all := *f
	all.Files, all.Skipped = second.files, second.skipped
	switch {
	case all.finish(rq.Entrypoint) != nil, all.Listing && len(first.files) > 0:
		return err
	case all.Listing:
		all.Skipped.GitignoreIn = "all files"
	default:
		all.Skipped.GitignoreIn = "the entrypoint " + all.Entrypoint
	}
	*f = all
	return nil
}

func (f *Folder) walk(ownignore, gitignore bool) *walk {
	return &walk{
		root:      f.root,
		real:      f.at.real,
		guard:     f.guard,
		ownignore: ownignore,
		gitignore: gitignore,
	}
}

// hasAllowed refuses an allowed name that is not published, because it is misspelt or skipped for another reason.
func (f *Folder) hasAllowed() error {
	for name := range f.guard.allowed {
		if !slices.ContainsFunc(f.Files, func(file File) bool { return file.Path == name }) {
			return failure.New(failure.Invalid, failure.Usage,
				"--allow-secret names %q, which is not among the files to publish", name).
				Advise("Name a file by its path below what is published, as a publish without the flag shows it.%s",
					f.Skipped.describe(name))
		}
	}
	return nil
}

// finish sorts the files and chooses the entrypoint.
func (f *Folder) finish(entrypoint string) (err error) {
	slices.SortFunc(f.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	f.Entrypoint, f.Listing, err = chooseEntrypoint(f.Files, entrypoint)
	if why, ok := errors.AsType[*failure.Failure](err); ok {
		_ = why.Advise("%s", why.Hint+f.Skipped.describe(entrypoint)) // why points into err
	}
	return err
}

// describe names what was skipped, for a folder without an entrypoint. The wanted file comes first, if there is one.
func (s Skipped) describe(wanted string) string {
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
	return " (skipped: " + Few(left) + ")"
}

// Few lists the first of many names.
func Few(names []string) string {
	const shown = 5
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// title makes a title from the last part of a path. It is printable and within the limit.
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

// checkPath refuses names that no server accepts. It does not normalise Unicode, because another form is another path.
func checkPath(p string) error {
	why := ""
	switch {
	case !utf8.ValidString(p):
		why = "its name is not valid UTF-8"
	case strings.ContainsFunc(p, func(r rune) bool { return r <= 0x1f || r == 0x7f || r == '\\' }):
		why = "its name contains a backslash or a control character"
	case drive.MatchString(p):
		why = "its path begins like a Windows drive, with a letter and a colon"
	case len(p) > limits.PathBytes:
		why = fmt.Sprintf("its path is longer than %d bytes", limits.PathBytes)
	case strings.Count(p, "/") >= limits.PathParts:
		why = fmt.Sprintf("its path has more than %d parts", limits.PathParts)
	default:
		return nil
	}
	return unusable("cannot publish %q: %s", p, why).Advise("Rename the file, or list it in .artifactignore.")
}

// drive matches paths that begin like a Windows drive.
var drive = regexp.MustCompile(`^[A-Za-z]:`)

func unusable(format string, args ...any) *failure.Failure {
	return failure.New(failure.Invalid, failure.UnusablePath, format, args...).
		Advise("Check the path; vitrine help publish says which files are published.")
}

// reason returns err without the path, because the message already has the path as the user wrote it.
func reason(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}
