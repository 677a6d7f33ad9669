package leftout

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// kind judges a path as a publish does: secret, noise or published.
func kind(path string) string {
	parts := strings.Split(strings.ToLower(path), "/")
	switch {
	case slices.ContainsFunc(parts, IsNoise):
		return "noise"
	case SecretFolder(parts[:len(parts)-1]) != "", IsSecretFile(parts):
		return "secret"
	}
	return "published"
}

// TestNames judges the names by which the page that publishes is judged, too.
func TestNames(t *testing.T) {
	text, err := os.ReadFile("testdata/names.json")
	var names map[string][]string
	if err == nil {
		err = json.Unmarshal(text, &names)
	}
	if err != nil || len(names) != 3 {
		t.Fatal(names, err)
	}
	for want, paths := range names {
		for _, path := range paths {
			if got := kind(path); got != want {
				t.Errorf("%s is %s, want %s", path, got, want)
			}
		}
	}
}
