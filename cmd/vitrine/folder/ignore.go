package folder

import (
	"bytes"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"vitrine/shared/publishing/leftout"
)

// gitIgnore is the other ignore file, of the same syntax.
const gitIgnore = ".gitignore"

// maxIgnore bounds an ignore file in bytes.
const maxIgnore = 1 << 20

// ignores holds the patterns in effect in one folder. Later patterns take precedence over earlier ones, and
// .artifactignore over .gitignore.
type ignores struct{ own, git []gitignore.Pattern }

// in returns the patterns in effect in dir: those of the folders above it and its own.
func (ig ignores) in(dir string, root *os.Root, useGit bool) (ignores, error) {
	own, err := readPatterns(root, dir, leftout.Ignore)
	if err != nil {
		return ig, err
	}
	next := ignores{own: slices.Concat(ig.own, own), git: ig.git}
	if !useGit {
		return next, nil
	}
	git, err := readPatterns(root, dir, gitIgnore)
	next.git = slices.Concat(ig.git, git)
	return next, err
}

// match reports whether the patterns exclude a path.
func (ig ignores) match(p string, isDir bool) bool {
	parts := strings.Split(p, "/")
	if m := last(ig.own, parts, isDir); m != gitignore.NoMatch {
		return m == gitignore.Exclude
	}
	return last(ig.git, parts, isDir) == gitignore.Exclude
}

// last returns the result of the last pattern that matches.
func last(patterns []gitignore.Pattern, parts []string, isDir bool) gitignore.MatchResult {
	for _, p := range slices.Backward(patterns) {
		if m := p.Match(parts, isDir); m != gitignore.NoMatch {
			return m
		}
	}
	return gitignore.NoMatch
}

// readPatterns reads an ignore file of dir. It returns no patterns if there is no such regular file.
func readPatterns(root *os.Root, dir, name string) ([]gitignore.Pattern, error) {
	file := path.Join(dir, name)
	info, err := root.Lstat(file)
	if err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	f, err := root.Open(file)
	if err != nil {
		return nil, unusable("cannot read %s: %v", file, reason(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxIgnore))
	if err != nil {
		return nil, unusable("cannot read %s: %v", file, reason(err))
	}
	return parsePatterns(text, dir), nil
}

func parsePatterns(text []byte, dir string) (patterns []gitignore.Pattern) {
	var domain []string
	if dir != "." {
		domain = strings.Split(dir, "/")
	}
	for line := range strings.Lines(string(bytes.TrimPrefix(text, []byte("\uFEFF")))) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			patterns = append(patterns, gitignore.ParsePattern(line, domain))
		}
	}
	return patterns
}

// inWorkTree reports whether a folder belongs to a git work tree, because .gitignore files apply only there. Patterns
// from above the folder do not apply, because a git-ignored dist/ is a common folder to publish.
func inWorkTree(dir string) bool {
	for {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return false
		}
		dir = parent
	}
}
