package lint

import (
	"encoding/json"
	"os"
	"testing"
)

// TestTitleIsWhatThePageCallsItself reads the pages that the page that publishes is tested with, too.
func TestTitleIsWhatThePageCallsItself(t *testing.T) {
	text, err := os.ReadFile("testdata/titles.json")
	var files []struct{ Path, Body, Title string }
	if err == nil {
		err = json.Unmarshal(text, &files)
	}
	if err != nil || len(files) < 10 {
		t.Fatal(len(files), err)
	}
	for _, f := range files {
		if got := Title(f.Path, []byte(f.Body)); got != f.Title {
			t.Errorf("%s %q: %q, want %q", f.Path, f.Body, got, f.Title)
		}
	}
}
