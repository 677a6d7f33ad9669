package folder

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"vitrine/cmd/vitrine/failure"
)

// entrypoints are the default entrypoints, by preference.
var entrypoints = []string{"index.html", "index.md", "README.md", "index.htm"}

// chooseEntrypoint returns the entrypoint: wanted if it is published, or else a default name, or else the only file.
func chooseEntrypoint(files []File, wanted string) (string, error) {
	has := func(p string) bool {
		return slices.ContainsFunc(files, func(f File) bool { return f.Path == p })
	}
	if len(files) == 0 {
		return "", unusable("there is nothing to publish: the folder has no files, or all of them are skipped")
	}
	if wanted != "" {
		wanted = path.Clean(filepath.ToSlash(wanted))
		if has(wanted) {
			return wanted, nil
		}
		return "", noEntrypoint(files, "the entrypoint %q is not among the published files", wanted)
	}
	if i := slices.IndexFunc(entrypoints, has); i >= 0 {
		return entrypoints[i], nil
	}
	if len(files) == 1 {
		return files[0].Path, nil
	}
	return "", noEntrypoint(files, "none of %s exists, so the file to open first is unclear",
		strings.Join(entrypoints, ", "))
}

func noEntrypoint(files []File, format string, args ...any) error {
	return failure.New(failure.Invalid, failure.NoEntrypoint, format, args...).
		Advise("Name the file to open first: --entrypoint FILE, for example %s", strings.Join(candidates(files), ", "))
}

// candidates returns a few files that could be the entrypoint, pages first.
func candidates(files []File) (names []string) {
	const enough = 5
	rank := func(f File) int {
		switch strings.ToLower(path.Ext(f.Path)) {
		case ".html", ".htm":
			return 0
		case ".md", ".markdown":
			return 1
		}
		return 2
	}
	best := slices.Clone(files)
	slices.SortStableFunc(best, func(a, b File) int { return rank(a) - rank(b) })
	for _, f := range best[:min(len(best), enough)] {
		names = append(names, f.Path)
	}
	return names
}
