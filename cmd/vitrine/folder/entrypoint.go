package folder

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/publishing/leftout"
)

// chooseEntrypoint returns the entrypoint: wanted if it is published, or else a default name, or else the first file.
// listing reports that readers get the list of files instead, because none of several files was named or has such a
// name.
func chooseEntrypoint(files []File, wanted string) (entrypoint string, listing bool, err error) {
	has := func(p string) bool {
		return slices.ContainsFunc(files, func(f File) bool { return f.Path == p })
	}
	if len(files) == 0 {
		return "", false, unusable("there is nothing to publish: the folder has no files, or all of them are skipped")
	}
	if wanted != "" {
		wanted = path.Clean(filepath.ToSlash(wanted))
		if has(wanted) {
			return wanted, false, nil
		}
		return "", false, failure.New(failure.Invalid, failure.NoEntrypoint,
			"the entrypoint %q is not among the published files", wanted).
			Advise("Name the file to open first: --entrypoint FILE, for example %s", strings.Join(candidates(files), ", "))
	}
	if i := slices.IndexFunc(leftout.Entrypoints, has); i >= 0 {
		return leftout.Entrypoints[i], false, nil
	}
	return files[0].Path, len(files) > 1, nil
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
