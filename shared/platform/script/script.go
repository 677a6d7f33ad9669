// Package script defines what pages of files load into a reader's browser: third-party programs and a font, by their
// npm packages and their paths at the app host, and scripts of our own, by their hashes.
package script

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

// Program is a third-party program or font at one version.
type Program struct {
	Name, Version string // of the npm package
	entry         string // the file that a page loads first
	files, not    []string
}

// The programs. Their versions are those of package.json.
var (
	// Mermaid draws diagrams. A page imports only the modules of its kinds of diagrams. The layout engine ELK is left out,
	// because it is as large as everything else together. Diagrams that ask for it are laid out by another engine.
	Mermaid = Program{
		Name:    "mermaid",
		Version: "12.3.0",
		entry:   "dist/mermaid.esm.min.mjs",
		files:   []string{"dist/mermaid.esm.min.mjs", "dist/chunks/mermaid.esm.min/*.mjs"},
		not:     []string{"dist/chunks/mermaid.esm.min/elk-*.mjs"},
	}
	// PDF draws the pages of PDF documents. Its legacy build supports browsers of the last few years.
	PDF = Program{
		Name:    "pdfjs-dist",
		Version: "5.4.530",
		entry:   "legacy/build/pdf.min.mjs",
		files: []string{
			"legacy/build/pdf.min.mjs",
			"legacy/build/pdf.worker.min.mjs",
			"wasm/openjpeg_nowasm_fallback.js",
		},
	}
	// MathFont is the font of formulas, under the SIL Open Font License 1.1. Brackets and roots grow only in a font with
	// mathematical tables, which most devices lack.
	MathFont = Program{
		Name:    "@fontsource/noto-sans-math",
		Version: "5.3.0",
		entry:   "files/noto-sans-math-latin-400-normal.woff2",
		files:   []string{"files/noto-sans-math-latin-400-normal.woff2"},
	}
	programs = []Program{Mermaid, PDF, MathFont}
)

// Path is the path at the app host below which the files of all programs are. The app's list of routes repeats it.
const Path = "/scripts/"

// Base returns the URL of the folder of the program at an app origin, with a trailing slash.
func (p Program) Base(app string) string {
	return strings.TrimSuffix(app, "/") + Path + p.folder() + "/"
}

// URL returns the URL of the file that a page loads first.
func (p Program) URL(app string) string { return p.Base(app) + p.entry }

func (p Program) folder() string { return path.Base(p.Name) + "-" + p.Version }

func (p Program) has(file string) bool { return matches(p.files, file) && !matches(p.not, file) }

func matches(patterns []string, file string) bool {
	for _, pattern := range patterns {
		if ok, _ := path.Match(pattern, file); ok {
			return true
		}
	}
	return false
}

// Find returns the name in the tree of npm packages of a file below Path, given the folder of its program and the file
// in that folder. ok is false for any file that is not part of a program.
func Find(folder, file string) (name string, ok bool) {
	for _, p := range programs {
		if p.folder() == folder && p.has(file) {
			return p.in(file), true
		}
	}
	return "", false
}

func (p Program) in(file string) string { return path.Join("node_modules", p.Name, file) }

// Files returns the names of all files of the programs in a tree that contains node_modules. The error names a program
// that is missing or has another version.
func Files(tree fs.FS) (names []string, err error) {
	for _, p := range programs {
		if err := p.check(tree); err != nil {
			return nil, err
		}
		for _, pattern := range p.files {
			found, err := fs.Glob(tree, p.in(pattern))
			if err != nil || len(found) == 0 {
				return nil, fmt.Errorf("%s %s has no file %s (%v)", p.Name, p.Version, pattern, err)
			}
			for _, name := range found {
				if p.has(strings.TrimPrefix(name, p.in("")+"/")) {
					names = append(names, name)
				}
			}
		}
	}
	return names, nil
}

// check refuses a tree in which the package is missing or has another version.
func (p Program) check(tree fs.FS) error {
	var manifest struct{ Version string }
	text, err := fs.ReadFile(tree, p.in("package.json"))
	if err == nil {
		err = json.Unmarshal(text, &manifest)
	}
	if err != nil {
		return fmt.Errorf("%s is not installed: run npm ci (%w)", p.Name, err)
	}
	if manifest.Version != p.Version {
		return fmt.Errorf("%s %s is installed, not %s: run npm ci", p.Name, manifest.Version, p.Version)
	}
	return nil
}

// Hash returns the source expression by which a content security policy allows an inline script or style sheet.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
