package folder

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/fault"
)

// walk collects what of a folder is published.
type walk struct {
	root      *os.Root
	real      string // the root without symbolic links
	gitignore bool

	files   []File
	skipped Skipped
}

func (w *walk) run() error { return w.dir(".", ignores{}) }

func (w *walk) dir(dir string, above ignores) error {
	if err := checkPath(dir); err != nil {
		return err
	}
	rules, err := above.in(dir, w.root, w.gitignore)
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

func (w *walk) entry(p string, e fs.DirEntry, rules ignores) error {
	shown := p
	if e.IsDir() {
		shown += "/"
	}
	switch {
	case isSecret(e.Name()):
		w.skipped.Secrets = append(w.skipped.Secrets, shown)
	case isNoise(e.Name()), rules.match(p, e.IsDir()):
		w.skipped.Other = append(w.skipped.Other, shown)
	case e.IsDir():
		return w.dir(p, rules)
	case e.Type()&fs.ModeSymlink != 0:
		return w.link(p)
	case e.Type().IsRegular():
		info, err := e.Info()
		if err != nil {
			return unusable("cannot read %q: %v", p, reason(err))
		}
		return w.add(File{Path: p, Size: info.Size(), name: p})
	default: // a device, socket or pipe
		w.skipped.Other = append(w.skipped.Other, shown)
	}
	return nil
}

// link follows a symbolic link to a file that is itself published and below the root; other links stay behind, links to
// folders among them, because they can go round in circles.
func (w *walk) link(p string) error {
	target, inside := w.target(p)
	parts := strings.Split(target, "/")
	if inside && slices.ContainsFunc(parts, isSecret) {
		w.skipped.Secrets = append(w.skipped.Secrets, p)
		return nil
	}
	publishable := inside && !slices.ContainsFunc(parts, isNoise)
	if publishable {
		ignored, err := w.ignores(target)
		if err != nil {
			return err
		}
		publishable = !ignored
	}
	if publishable {
		if info, err := w.root.Stat(filepath.FromSlash(target)); err == nil && info.Mode().IsRegular() {
			return w.add(File{Path: p, Size: info.Size(), name: target})
		}
	}
	w.skipped.Other = append(w.skipped.Other, p)
	return nil
}

// ignores tells whether the ignore files on the way to a file leave it out, or a folder that it is in.
func (w *walk) ignores(file string) (_ bool, err error) {
	rules, dir := ignores{}, "."
	for part := range strings.SplitSeq(file, "/") {
		if rules, err = rules.in(dir, w.root, w.gitignore); err != nil {
			return false, err
		}
		if dir = path.Join(dir, part); rules.match(dir, dir != file) {
			return true, nil
		}
	}
	return false, nil
}

// target is where a link leads, as a path below the root; false when it leads elsewhere or nowhere.
func (w *walk) target(p string) (string, bool) {
	real, err := filepath.EvalSymlinks(filepath.Join(w.real, filepath.FromSlash(p)))
	if err != nil {
		return "", false
	}
	below, err := filepath.Rel(w.real, real)
	return filepath.ToSlash(below), err == nil && filepath.IsLocal(below)
}

func (w *walk) add(f File) error {
	if err := checkPath(f.Path); err != nil {
		return err
	}
	if len(w.files) == maxFiles {
		return failure.New(failure.Invalid, fault.FileCountCapExceeded, "the folder holds more than %d files", maxFiles).
			Advise("Publish a smaller folder, or leave files out with .artifactignore.")
	}
	w.files = append(w.files, f)
	return nil
}
