package folder

import (
	"encoding/json"
	"os"
	"path"
	"slices"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/publishing/leftout"
)

// TestIgnoreFiles leaves out what the page that publishes leaves out of the same folders, too.
func TestIgnoreFiles(t *testing.T) {
	text, err := os.ReadFile("testdata/ignore.json")
	expect.OK(t, err)
	var corpus []struct {
		Name            string
		Ignore          map[string]string
		Published, Left []string
		Unapplied       bool
	}
	expect.OK(t, json.Unmarshal(text, &corpus))
	for _, tt := range corpus {
		t.Run(tt.Name, func(t *testing.T) {
			files := map[string]string{".git/config": ""}
			for name, text := range tt.Ignore {
				files[name] = text
			}
			for _, name := range slices.Concat(tt.Published, tt.Left) {
				files[name] = "x"
			}
			f := open(t, writeFiles(t, files))
			var got []string
			for _, file := range f.Files {
				if name := path.Base(file.Path); name != gitIgnore && name != leftout.Ignore {
					got = append(got, file.Path)
				}
			}
			if slices.Sort(tt.Published); !slices.Equal(got, tt.Published) || tt.Unapplied != (f.Skipped.GitignoreIn != "") {
				t.Errorf("published %q, .gitignore not applied: %q", got, f.Skipped.GitignoreIn)
			}
		})
	}
}
