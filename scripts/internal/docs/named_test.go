package docs_test

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

// read is a document as text.
func read(t *testing.T, file string) string {
	t.Helper()
	text, err := fs.ReadFile(root, file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

var (
	rows     = regexp.MustCompile(`(?m)^\| (\[[^|]+) \|`) // first cells that begin with a link
	packages = regexp.MustCompile(`\]\(\.\./((?:shared|functions)/[^()]+)\)`)
)

// TestArchitectureNamesEveryPackageOnce leaves out the mains of functions, which are alike.
func TestArchitectureNamesEveryPackageOnce(t *testing.T) {
	lines := map[string]int{}
	for _, row := range rows.FindAllStringSubmatch(read(t, "docs/architecture.md"), -1) {
		for _, m := range packages.FindAllStringSubmatch(row[1], -1) {
			lines[m[1]]++
		}
	}
	there := packagesOf(t, "shared", "functions")
	for folder := range there {
		if lines[folder] != 1 {
			t.Errorf("docs/architecture.md has %d lines about %s: give it one in a table", lines[folder], folder)
		}
	}
	for folder := range lines {
		if !there[folder] {
			t.Errorf("docs/architecture.md names %s, which is no package", folder)
		}
	}
}

// packagesOf returns the folders below others that hold code, but for those that are named lambda.
func packagesOf(t *testing.T, folders ...string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	for _, top := range folders {
		err := fs.WalkDir(root, top, func(file string, _ fs.DirEntry, err error) error {
			folder := path.Dir(file)
			if path.Ext(file) == ".go" && !strings.HasSuffix(file, "_test.go") && path.Base(folder) != "lambda" {
				found[folder] = true
			}
			return err
		})
		if err != nil || len(found) == 0 {
			t.Fatal(found, err)
		}
	}
	return found
}

// option is an option of a deployment where infra reads it. The name of a host follows a hyphen at its end.
var option = regexp.MustCompile(`\bc\.(?:text|count|yes)\("([a-z-]+)"`)

func TestDeployNamesEveryOption(t *testing.T) {
	text, seen := read(t, "docs/deploy.md"), 0
	sources, err := fs.Glob(root, "infra/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, source := range sources {
		for _, m := range option.FindAllStringSubmatch(read(t, source), -1) {
			seen++
			name := m[1]
			if strings.HasSuffix(name, "-") {
				name += "HOST"
			}
			if !strings.Contains(text, "`"+name+"`") {
				t.Errorf("docs/deploy.md does not name the option %s, which %s reads", name, source)
			}
		}
	}
	if seen == 0 {
		t.Error("infra reads no options, as far as this test can see")
	}
}
