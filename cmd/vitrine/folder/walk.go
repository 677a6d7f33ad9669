package folder

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/leftout"
)

// walk collects the files of a folder to publish.
type walk struct {
	root      *os.Root
	real      string // the root without symbolic links
	guard     guard
	ownignore bool // .artifactignore applies
	gitignore bool // .gitignore applies

	files   []File
	skipped Skipped
}

func (w *walk) run() error { return w.dir(".", ignores{}) }

func (w *walk) dir(dir string, above ignores) error {
	if err := checkPath(dir); err != nil {
		return err
	}
	rules, err := w.rules(dir, above)
	if err != nil {
		return err
	}
	entries, err := fs.ReadDir(w.root.FS(), dir)
	if err != nil {
		return unusable("cannot read the folder %q: %v", dir, reason(err))
	}
	for _, e := range entries {
		if err := w.entry(path.Join(dir, e.Name()), e, rules); err != nil {
			return err
		}
	}
	return nil
}

// rules returns the patterns in effect in dir.
func (w *walk) rules(dir string, above ignores) (ignores, error) {
	if !w.ownignore {
		return above, nil
	}
	return above.in(dir, w.root, w.gitignore)
}

func (w *walk) entry(p string, e fs.DirEntry, rules ignores) error {
	switch {
	case leftout.IsNoise(e.Name()):
		w.skip(p, e.IsDir())
	case !w.guard.allowed[p] && rules.match(p, e.IsDir()):
		w.skip(p, e.IsDir())
	case e.IsDir():
		return w.folder(p, e, rules)
	case w.refuses(p, p):
	case e.Type()&fs.ModeSymlink != 0:
		return w.link(p)
	case e.Type().IsRegular():
		info, err := e.Info()
		if err != nil {
			return unusable("cannot read %q: %v", p, reason(err))
		}
		return w.add(p, info, p)
	default: // a device, socket or pipe
		w.skip(p, false)
	}
	return nil
}

// skip records a path that is skipped for a reason other than a secret.
func (w *walk) skip(p string, isDir bool) {
	if isDir {
		p += "/"
	}
	w.skipped.Other = append(w.skipped.Other, p)
}

func (w *walk) folder(p string, e fs.DirEntry, rules ignores) error {
	info, err := e.Info()
	if err != nil {
		return unusable("cannot read the folder %q: %v", p, reason(err))
	}
	if w.guard.state != nil && os.SameFile(w.guard.state, info) {
		w.skip(p, true)
		return nil
	}
	if why := w.guard.folder(p, info); why != "" {
		w.skipped.Secrets = append(w.skipped.Secrets, Refused{p + "/", why})
		return nil
	}
	before := len(w.files)
	err = w.dir(p, rules)
	// Folders for credentials are often readable by their owner only.
	if dir := leftout.SecretFolder(w.guard.parts(p)); err != nil && dir != "" && len(w.files) == before {
		w.skipped.Secrets = append(w.skipped.Secrets, Refused{p + "/", "credentials are stored in " + dir})
		return nil
	}
	return err
}

// refuses reports whether the file at p is skipped because it, or the target of the link, looks like a secret.
func (w *walk) refuses(p, named string) bool {
	why := w.guard.file(named)
	if why == "" || w.guard.allows(p) {
		return false
	}
	w.skipped.Secrets = append(w.skipped.Secrets, Refused{p, why})
	return true
}

// link follows a symbolic link to a file that is itself published and below the root. It skips all other links. It also
// skips links to folders, because they can form cycles.
func (w *walk) link(p string) error {
	target, inside := w.target(p)
	if inside && w.guard.inLogins(filepath.Join(w.real, filepath.FromSlash(target))) {
		w.skipped.Secrets = append(w.skipped.Secrets, Refused{p, isLogin})
		return nil
	}
	if inside && w.refuses(p, target) {
		return nil
	}
	publishable := inside && !slices.ContainsFunc(strings.Split(target, "/"), leftout.IsNoise)
	if publishable {
		ignored, err := w.ignores(target)
		if err != nil {
			return err
		}
		publishable = !ignored
	}
	if publishable {
		if info, err := w.root.Stat(filepath.FromSlash(target)); err == nil && info.Mode().IsRegular() {
			return w.add(p, info, target)
		}
	}
	w.skip(p, false)
	return nil
}

// ignores reports whether the ignore files on the way to a file exclude it, or a folder that it is in.
func (w *walk) ignores(file string) (_ bool, err error) {
	rules, dir := ignores{}, "."
	for part := range strings.SplitSeq(file, "/") {
		if rules, err = w.rules(dir, rules); err != nil {
			return false, err
		}
		if dir = path.Join(dir, part); rules.match(dir, dir != file) {
			return true, nil
		}
	}
	return false, nil
}

// target returns the path below the root that a link leads to. It returns false if the target is elsewhere or missing.
func (w *walk) target(p string) (string, bool) {
	real, err := filepath.EvalSymlinks(filepath.Join(w.real, filepath.FromSlash(p)))
	if err != nil {
		return "", false
	}
	below, err := filepath.Rel(w.real, real)
	return filepath.ToSlash(below), err == nil && filepath.IsLocal(below)
}

// add adds a file whose bytes are at name.
func (w *walk) add(p string, info fs.FileInfo, name string) error {
	if err := checkPath(p); err != nil {
		return err
	}
	if len(w.files) == maxFiles {
		return failure.New(failure.Invalid, fault.FileCountCapExceeded, "the folder contains more than %d files", maxFiles).
			Advise("Publish a smaller folder, or exclude files with .artifactignore.")
	}
	w.files = append(w.files, File{
		Path:     p,
		Size:     info.Size(),
		modified: info.ModTime(),
		name:     name,
	})
	return nil
}
