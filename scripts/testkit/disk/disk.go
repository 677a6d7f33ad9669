// Package disk writes the files that a test needs.
package disk

import (
	"os"
	"path/filepath"
	"testing"
)

// Write writes files below a folder, with the folders between.
func Write(t testing.TB, folder string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
