// Package docs_test holds the documents of the tree against the tree.
package docs_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
)

// root is the tree as a test of this package sees it.
var root = os.DirFS("../../..")

// documents are the files whose links are followed: those at the top and those below docs.
func documents(t *testing.T) []string {
	t.Helper()
	found, err := fs.Glob(root, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(root, "docs", func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(file) == ".md" {
			found = append(found, file)
		}
		return err
	})
	if err != nil || len(found) < 4 {
		t.Fatal(found, err)
	}
	return found
}

func TestLinksOfDocumentsLeadSomewhere(t *testing.T) {
	for _, file := range documents(t) {
		for _, problem := range broken(root, file) {
			t.Error(problem)
		}
	}
}

func TestABrokenLinkIsFound(t *testing.T) {
	tree := fstest.MapFS{
		"docs/a.md":     {Data: []byte("# One\n\n## Key rings\n")},
		"shared/x/x.go": {},
	}
	for text, want := range map[string]bool{
		"[a](a.md)":                            false,
		"[a](a.md#key-rings), [up](../shared)": false,
		"[a](https://example.com/b.md)":        false,
		"[here](#start)":                       false,
		"`shared/x/x.go`, `x/y`, `a.md`":       false,
		"```\n[b](b.md) `shared/y`\n```":       false,
		"[b](b.md)":                            true,
		"[a](a.md#rings)":                      true,
		"[here](#end)":                         true,
		"[out](../../docs/a.md)":               true,
		"`shared/y -flag`":                     true,
	} {
		tree["docs/test.md"] = &fstest.MapFile{Data: []byte("# Start\n\n" + text + "\n")}
		if got := broken(tree, "docs/test.md"); (len(got) > 0) != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

var (
	links = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	spans = regexp.MustCompile("`([^`]+)`")
	paths = regexp.MustCompile(`^(?:cmd|docs|events|functions|infra|openapi|scripts|shared)/[A-Za-z0-9_./-]*$`)
)

// broken are the links of a document that lead nowhere, and the paths in its code spans that are not there. What begins
// with a scheme is not followed. A path ends at the first blank, because a command has arguments.
func broken(tree fs.FS, file string) (problems []string) {
	text, err := fs.ReadFile(tree, file)
	if err != nil {
		return []string{err.Error()}
	}
	fenced := false
	for n, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		report := func(target string, err error) {
			if err != nil {
				problems = append(problems, fmt.Sprintf("%s:%d: %s: %v", file, n+1, target, err))
			}
		}
		for _, m := range links.FindAllStringSubmatch(line, -1) {
			report(m[1], follow(tree, file, m[1]))
		}
		for _, m := range spans.FindAllStringSubmatch(line, -1) {
			if name, _, _ := strings.Cut(m[1], " "); paths.MatchString(name) {
				_, err := fs.Stat(tree, path.Clean(name))
				report(name, err)
			}
		}
	}
	return problems
}

// follow looks for the target of a link, and for the heading that its fragment names.
func follow(tree fs.FS, from, target string) error {
	if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return nil
	}
	name, fragment, _ := strings.Cut(target, "#")
	to := from
	if name != "" {
		to = path.Join(path.Dir(from), name)
	}
	if _, err := fs.Stat(tree, to); err != nil || fragment == "" {
		return err
	}
	text, err := fs.ReadFile(tree, to)
	if err == nil && !slices.Contains(anchors(string(text)), fragment) {
		err = fmt.Errorf("%s has no heading %q", to, fragment)
	}
	return err
}

// anchors are the fragments of the headings of a document.
func anchors(text string) (found []string) {
	for line := range strings.Lines(text) {
		heading := strings.TrimLeft(line, "#")
		if heading == line {
			continue
		}
		found = append(found, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, strings.TrimSpace(heading)))
	}
	return found
}
