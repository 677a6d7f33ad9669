package output

import (
	"os"
	"path/filepath"
	"testing"
)

// BuildVariable names the folder, by an absolute path, in which pictures are saved.
const BuildVariable = "VITRINE_BUILD_DIR"

// Picture saves a picture as screenshots/NAME.png in the folder that VITRINE_BUILD_DIR names, and returns its path. It
// takes none where that is not set, because no test reads a picture and a picture takes longer than what is measured.
// An empty picture is not saved.
func Picture(t testing.TB, name string, take func() []byte) string {
	t.Helper()
	build := os.Getenv(BuildVariable)
	if build == "" {
		return ""
	}
	data := take()
	if len(data) == 0 {
		return ""
	}
	path := filepath.Join(build, "screenshots", name+".png")
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, data, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}
