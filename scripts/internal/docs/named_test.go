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

func TestArchitectureNamesEveryPackageOfTheRooms(t *testing.T) {
	text, seen := read(t, "docs/architecture.md"), 0
	err := fs.WalkDir(root, "shared", func(folder string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || d.Name() == "testdata" {
			return err
		}
		sources, err := fs.Glob(root, path.Join(folder, "*.go"))
		if err != nil || len(sources) == 0 || folder == "shared" {
			return err
		}
		seen++
		if !strings.Contains(text, "](../"+folder+")") {
			t.Errorf("docs/architecture.md says nothing of %s: give it a line in the table of its room", folder)
		}
		return nil
	})
	if err != nil || seen == 0 {
		t.Fatal(seen, err)
	}
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
